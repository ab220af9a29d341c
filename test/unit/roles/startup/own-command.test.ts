import { describe, expect, test } from 'vitest'
import { ownCommand } from '../../../../src/roles/startup/own-command.ts'
import { verbCommand } from '../../../../src/roles/startup/greeting.ts'

function commandOf(startedFile: string, files: readonly string[] = [], cwd = '/home/ada/punctual'): string {
  return ownCommand({ startedFile, cwd, exists: (path) => files.includes(path) })
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

  test('are the name alone where it is installed: globally, or in the image', () => {
    expect(commandOf('/usr/local/bin/punctual')).toBe('punctual')
    expect(commandOf('/app/dist/main.js', ['/app/bin/punctual'])).toBe('punctual')
  })
})

describe('a verb', () => {
  test('finds the usual folder by itself', () => {
    expect(verbCommand('punctual', `${process.cwd()}/.punctual`)).toBe('punctual')
  })

  test('is told any other, as a word of the shell', () => {
    expect(verbCommand('punctual', '/var/lib/punctual')).toBe('PUNCTUAL_DATA_DIR=/var/lib/punctual punctual')
    expect(verbCommand('punctual', "/tmp/ada's data")).toBe(
      String.raw`PUNCTUAL_DATA_DIR='/tmp/ada'\''s data' punctual`,
    )
  })
})
