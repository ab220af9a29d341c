/** Redis falls silent while a role starts: it waits, or ends with one line that names Redis. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeKeptFolder } from '../../support/engine/kept-folder.ts'
import { runProgram, stopProgram } from '../../support/servers/processes.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { readCommands } from '../../support/servers/resp-commands.ts'

const SETTINGS = {
  PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUNCTUAL_PORT: '0',
  PUNCTUAL_OPS_PORT: '0',
  ...makeKeptFolder().env(),
}

let redis: TestRedis
let servers: Server[] = []
const sockets = new Set<Socket>()

beforeEach(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  servers = []
  await redis.stop()
})

/**
 * The way to Redis that ends at a command: from its first one on, a connection is silent or is cut.
 * @param times how many connections that happens to
 */
async function wayThatEndsAt(
  command: string,
  { end = 'silent', times = Infinity }: { end?: 'silent' | 'cut'; times?: number } = {},
): Promise<string> {
  let left = times
  const server = createServer((client) => {
    const upstream = connect(redis.port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => upstream.destroy())
    let isOver = false
    upstream.on('data', (bytes: Buffer) => void (isOver || client.write(bytes)))
    client.on(
      'data',
      readCommands((words, bytes) => {
        if (words.join(' ').toLowerCase() !== command || left === 0) return upstream.write(bytes) || true
        left -= 1
        isOver = true
        if (end === 'cut') client.resetAndDestroy()
        return false
      }),
    )
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a role waits for a Redis that falls silent after its first answer', () => {
  test.for([
    ['api', 'info', 'The API listens'],
    ['executor', 'hgetall punctual:meta', 'The executor runs'],
  ] as const)('%s, at %s', async ([role, command, runs]) => {
    const url = await wayThatEndsAt(command, { times: 1 })
    const program = runProgram([role], { ...SETTINGS, PUNCTUAL_REDIS_URL: url })
    const { reason } = await program.logged('Waiting for Redis')
    expect(reason).toBe(
      `Redis does not answer at ${url}: Command timed out. Start it, or set PUNCTUAL_REDIS_URL.`,
    )
    await program.logged('Redis answers')
    await program.logged(runs)
    expect(await stopProgram(program)).toEqual([])
  })
})

describe('a role whose Redis falls silent later in its start ends with one line', () => {
  test.for([
    ['api', 'hget punctual:windows', 'cut', 'The connection was lost'],
    ['executor', 'hget punctual:meta', 'cut', 'The connection was lost'],
    ['executor', 'hgetall punctual:teams', 'silent', 'Command timed out'],
    ['executor', 'subscribe punctual:wake', 'cut', 'The connection was lost'],
  ] as const)('%s, at %s, %s', async ([role, command, end, reason]) => {
    const url = await wayThatEndsAt(command, { end })
    const program = runProgram([role], { ...SETTINGS, PUNCTUAL_REDIS_URL: url })
    expect(await program.exited).toEqual({ code: 1, signal: null })
    expect(program.errorLines).toEqual([
      `punctual: The role could not start: Redis is not available: ${reason}. Start Redis, or set PUNCTUAL_REDIS_URL, and start the role again.`,
    ])
  })

  test('the doctor, which is no role', async () => {
    const url = await wayThatEndsAt('hgetall punctual:meta', { end: 'cut' })
    const program = runProgram(['doctor'], { ...SETTINGS, PUNCTUAL_REDIS_URL: url })
    expect(await program.exited).toEqual({ code: 2, signal: null })
    expect(program.errorLines).toEqual([
      expect.stringMatching(
        /^punctual: Redis went away during the checks: Redis is not available: The connection was lost/,
      ),
    ])
  })
})
