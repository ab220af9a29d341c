/** Files of pushes over a real API, whose answers get lost. */
import { Command, CommanderError } from 'commander'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerClientCommands } from '../../../src/cli/commands.ts'
import { type Installation, startInstallation, TOKEN } from '../../support/engine/installation.ts'

const LINES = 2_500
const BAD_LINE = 1_700

let here: Installation
let folder = ''
beforeAll(async () => {
  here = await startInstallation({ executors: 0 })
  folder = mkdtempSync(join(tmpdir(), 'punctual-push-file-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await here.close()
})

/** Passes requests on, and swallows the answers to those whose numbers are given. */
async function losing(lost: ReadonlySet<number>) {
  let requests = 0
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const answer = await fetch(`${here.api.url}${request.url}`, { method: 'POST', headers, body })
    const answered = await answer.text()
    requests += 1
    if (lost.has(requests)) request.socket.destroy()
    else response.writeHead(answer.status).end(answered)
  }
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

async function run(server: string, ...args: readonly string[]) {
  let [out, err] = ['', '']
  const program = new Command('punctual').exitOverride()
  registerClientCommands(program, {
    serverGiven: server,
    serverDefault: server,
    tokenDefault: TOKEN,
    findLocal: async () => ({ path: '.punctual', running: null }),
    version: '1.2.3',
    stdout: { write: (written) => (out += written) },
    stderr: { write: (written) => (err += written) },
    stdin: (async function* () {})(),
    sleep: async () => undefined,
    interrupted: () => Promise.resolve(),
    ask: null,
    nowMs: () => Date.now(),
  })
  const code = await program.parseAsync(args, { from: 'user' }).then(
    () => 0,
    (fault: unknown) => {
      if (fault instanceof CommanderError) return fault.exitCode
      throw fault
    },
  )
  return { out, err, code }
}

/** A file whose lines push to a queue of the name, all but the bad one. */
function fileFor(queue: string): string {
  const file = join(folder, `${queue}.ndjson`)
  const lines = Array.from({ length: LINES }, (_, at) =>
    JSON.stringify({ queue, url: at + 1 === BAD_LINE ? 'nowhere' : here.target.url, delay: 3600 }),
  )
  writeFileSync(file, lines.join('\n'))
  return file
}

const delayedIn = async (queue: string) => (await here.client.queueNamed(queue))?.counts.delayed

test('every line is one job, though answers get lost', async () => {
  const proxy = await losing(new Set([1, 3, 4]))
  try {
    const { out, err, code } = await run(proxy.url, 'push', '--file', fileFor('lost'), '-o', 'json')
    expect(code).toBe(1)
    const told = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(told.map(({ line }) => line)).toEqual(Array.from({ length: LINES }, (_, at) => at + 1))
    expect(new Set(told.map(({ job_id: id }) => id)).size).toBe(LINES)
    expect(err).toBe(
      `punctual: line ${BAD_LINE}: The url field must be a valid URL.\npunctual: 1 of ${LINES} lines were refused\n`,
    )
    expect(await delayedIn('lost')).toBe(LINES - 1)
  } finally {
    await proxy.close()
  }
})

test('a file that failed in its midst goes on under the same prefix', async () => {
  const proxy = await losing(new Set([2, 3, 4, 5, 6, 7]))
  try {
    const args = ['push', '--file', fileFor('again')]
    const failed = await run(proxy.url, ...args)
    expect(failed).toMatchObject({ code: 5, out: '' })
    const [, prefix = ''] =
      /^punctual: lines 1001 to 2000: .* --idempotency-prefix (\S+),/.exec(failed.err) ?? []
    const done = await run(proxy.url, ...args, '--idempotency-prefix', prefix)
    expect(done).toMatchObject({ code: 1, out: `${LINES - 1} of ${LINES} lines pushed\n` })
    expect(await delayedIn('again')).toBe(LINES - 1)
  } finally {
    await proxy.close()
  }
})
