import { describe, expect, test } from 'vitest'
import { ownCommand } from '../../../../src/roles/greeting/own-command.ts'
import { verbCommand } from '../../../../src/roles/greeting/greeting.ts'

function commandOf(startedFile: string, files: readonly string[] = [], cwd = '/home/ada/punctual'): string {
  const command = ownCommand({ startedFile, cwd, hostName: '0a1b2c', exists: (path) => files.includes(path) })
  expect(command.isInContainer).toBe(command.text.startsWith('docker '))
  return command.text
}

describe('the words that start the program again', () => {
  const CHECKOUT = ['/home/ada/punctual/package-lock.json', '/home/ada/punctual/bin/punctual']

  test('are the starter of a checkout, from where one stands', () => {
    expect(commandOf('dist/main.js', CHECKOUT)).toBe('bin/punctual')
    expect(commandOf('/home/ada/punctual/dist/main.js', CHECKOUT, '/tmp')).toBe(
      '/home/ada/punctual/bin/punctual',
    )
  })

  test('name the source where it was started from the source', () => {
    expect(commandOf('src/main.ts', CHECKOUT)).toBe('node src/main.ts')
  })

  test('are npx for a program of the folder, and of npx', () => {
    expect(commandOf('/home/ada/shop/node_modules/.bin/punctual')).toBe('npx punctual')
    expect(commandOf('/root/.npm/_npx/0a1b/node_modules/.bin/punctual')).toBe('npx punctual')
  })

  test('are the name alone where it is installed globally', () => {
    expect(commandOf('/usr/local/bin/punctual')).toBe('punctual')
  })

  test('lead into the container from outside it', () => {
    expect(commandOf('/app/dist/main.js', ['/app/bin/punctual'])).toBe('docker exec 0a1b2c punctual')
  })
})

describe('a verb', () => {
  const HERE = { text: 'punctual', isInContainer: false }

  test('finds the usual folder by itself', () => {
    expect(verbCommand(HERE, `${process.cwd()}/.punctual`)).toBe('punctual')
  })

  test('is told any other, as a word of the shell', () => {
    expect(verbCommand(HERE, '/var/lib/punctual')).toBe('PUNCTUAL_DATA_DIR=/var/lib/punctual punctual')
    expect(verbCommand(HERE, "/tmp/ada's data")).toBe(
      String.raw`PUNCTUAL_DATA_DIR='/tmp/ada'\''s data' punctual`,
    )
  })

  test('of a container has its variables already', () => {
    const inside = { text: 'docker exec 0a1b2c punctual', isInContainer: true }
    expect(verbCommand(inside, '/data')).toBe('docker exec 0a1b2c punctual')
  })
})
