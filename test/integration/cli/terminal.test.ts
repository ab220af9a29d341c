/** The command line in a pseudo-terminal, as a person has it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isInstalled } from '../../support/tools.ts'
import { programCommand } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

let server: Server
let address = ''
let unread = 1
const bodies: string[] = []
const deleted: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.method === 'POST') {
        bodies.push(body)
        const job = { success: true, queue_id: 7, job_id: 16, scheduled_at: 'now', message: '' }
        response.writeHead(201).end(JSON.stringify(job))
      } else if (request.method === 'DELETE') {
        deleted.push(String(request.url))
        response.writeHead(204).end()
      } else {
        const by_type = { warning: unread, failure: 0, recovery: 0, limit_warning: 0 }
        response.end(JSON.stringify({ unread, by_type }))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(({ skip }) => skip(!isInstalled('script'), 'no script on this machine'))

interface Terminal {
  /** All that the terminal got. */
  screen(): string
  type(keys: string): void
  /** The exit code of what ran in it. */
  readonly ended: Promise<number>
}

function open(args: readonly string[]): Terminal {
  // Without `exec` a signal would end the shell around it, and its code would be told.
  const line = ['exec', ...[...programCommand(), ...args].map((word) => `'${word}'`)].join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    env: { ...process.env, PUNCTUAL_SERVER: address, PUNCTUAL_TOKEN: 'secret', SHELL: '/bin/sh' },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return {
    screen: () => text,
    type: (keys) => void child.stdin.write(keys),
    ended: once(child, 'exit').then(([code]) => Number(code)),
  }
}

test('a watch replaces what it shows, until Ctrl-C', async () => {
  const terminal = open(['alerts', 'counts', '--watch=1'])
  await until('the first screen', async () => terminal.screen().includes('1 unread: warning 1'))
  unread = 2
  await until('the second screen', async () => terminal.screen().includes('2 unread: warning 2'))
  expect(terminal.screen()).toBe(`${CLEAR}1 unread: warning 1\r\n${CLEAR}2 unread: warning 2\r\n`)
  terminal.type(CTRL_C)
  expect(await terminal.ended).toBe(130)
})

test('a payload can be typed', async () => {
  const terminal = open(['push', 'emails', 'https://example.com', '--payload', '-'])
  terminal.type(`{"typed": true}\n${CTRL_D}`)
  expect(await terminal.ended).toBe(0)
  expect(bodies).toEqual(['{"queue":"emails","url":"https://example.com","payload":{"typed": true}}'])
  expect(terminal.screen()).toContain('job 16 in queue 7, scheduled at now\r\n')
})

test('a listener ends well at Ctrl-C', async () => {
  const terminal = open(['listen', '--port', '0', '--body', 'thanks'])
  const at = await until('the address', async () => /http:\S+/.exec(terminal.screen())?.[0])
  expect(await (await fetch(at, { method: 'POST', body: 'hello' })).text()).toBe('thanks')
  await until('the call', async () => terminal.screen().includes('> hello'))
  terminal.type(CTRL_C)
  expect(await terminal.ended).toBe(0)
})

test('a mistake is one line, and tells itself by its code', async () => {
  const terminal = open(['alerts', 'counts', '--watch=0'])
  expect(await terminal.ended).toBe(2)
  expect(terminal.screen()).toBe('punctual: --watch 0 is not a number of seconds from 1 to 99999\r\n')
})

const QUESTION = 'Delete alert 9? This cannot be undone. [y/N] '

test('what cannot be undone is asked, and done at y', async () => {
  const terminal = open(['alerts', 'delete', '9'])
  await until('the question', async () => terminal.screen().includes(QUESTION))
  expect(deleted).toEqual([])
  terminal.type('y\r')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain('alert 9 deleted\r\n')
  expect(deleted).toEqual(['/api/alerts/9'])
})

test.each([
  ['an empty line', '\r'],
  ['Ctrl-C', CTRL_C],
  ['Ctrl-D', CTRL_D],
])('what cannot be undone is not done at %s', async (_what, keys) => {
  const terminal = open(['alerts', 'delete', '10'])
  await until('the question', async () => terminal.screen().includes('Delete alert 10?'))
  terminal.type(keys)
  expect(await terminal.ended).toBe(1)
  expect(terminal.screen()).toContain('punctual: not confirmed, so nothing was changed\r\n')
  expect(deleted).not.toContain('/api/alerts/10')
})
