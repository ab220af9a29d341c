import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ApiServer } from '../../../src/api/api-server.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { clock, rawExchange, startApi, TOKEN } from './api-fixture.ts'

const SEVERAL_TOKENS = 'The Authorization header is given more than once'
const SEVERAL_HOSTS = 'The Host header is given more than once'
const GET = `GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`

interface Client {
  readonly socket: Socket
  received(): string
  /** One request and its answer. */
  ask(): Promise<string>
}

async function open(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return {
    socket,
    received: () => received,
    ask: async () => {
      received = ''
      socket.write(GET)
      await until('an answer', () => received.endsWith('}'))
      return received
    },
  }
}

describe('connections', () => {
  test('are kept while there are few, without any timer', async () => {
    const clock = createFakeClock()
    const api = await startApi({ connectionsMax: 10, clock })
    const clients = await Promise.all(Array.from({ length: 8 }, () => open(api.port)))
    for (const client of clients) expect(await client.ask()).toMatch(/\r\nConnection: keep-alive\r\n/)
    expect(clock.timers).toBe(0)
    await clock.advance(60_000)
    for (const client of clients) expect(await client.ask()).toMatch(/^HTTP\/1\.1 200 /)
    await api.close()
  })

  test('that are idle end after some seconds when there are many, and an answer ends its own', async () => {
    const clock = createFakeClock()
    const answered = Promise.withResolvers<never>()
    const api = await startApi({
      connectionsMax: 10,
      clock,
      jobs: { get: () => answered.promise } as never,
    })
    const busy = await open(api.port)
    busy.socket.write(GET.replace('queues', 'jobs/16'))
    const clients: Client[] = []
    for (let i = 0; i < 8; i += 1) clients.push(await open(api.port))
    expect(await clients.pop()?.ask()).toMatch(/\r\nConnection: close\r\n/)
    const late = await open(api.port)
    await clock.advance(5_000)
    expect(await late.ask()).toMatch(/^HTTP\/1\.1 200 /)
    const idle = clients.map(async ({ socket }) => once(socket, 'close'))
    await clock.advance(1_000)
    await Promise.all(idle)
    // One with a request is not idle.
    answered.reject(new Error('not needed'))
    await until('its answer', () => busy.received().startsWith('HTTP/1.1 500'))
    expect(clock.timers).toBe(0)
    const after = await open(api.port)
    expect(await after.ask()).toMatch(/\r\nConnection: keep-alive\r\n/)
    await api.close()
  })

  test.each([
    ['no token', 'GET /api/queues HTTP/1.1\r\nHost: x\r\n\r\n', '401'],
    ['an unknown token', GET.replace(TOKEN, 'unknown'), '401'],
    ['a path that is not ours', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
  ])('of whoever has shown no token are not kept: %s', async (_case, bytes, status) => {
    const api = await startApi()
    expect(await rawExchange(api.port, bytes)).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nConnection: close\\r\\n`),
    )
    await api.close()
  })
})

describe('every refusal is JSON', () => {
  test.each([
    [
      'a target that is no URL',
      'GET http://[::1 HTTP/1.1\r\nHost: x',
      400,
      'The request target is not valid',
    ],
    [
      'a target of another scheme',
      'GET ftp://x/ HTTP/1.1\r\nHost: x',
      400,
      'The request target is not valid',
    ],
    [
      'an expectation of its own',
      'GET /api/queues HTTP/1.1\r\nHost: x\r\nExpect: 42',
      417,
      'The Expect header must be 100-continue',
    ],
    [
      'an expectation before a body',
      'POST /api/jobs HTTP/1.1\r\nHost: x\r\nExpect: 42\r\nContent-Length: 5',
      417,
      'The Expect header must be 100-continue',
    ],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443', 405, 'Method not allowed'],
    ['a trace', 'TRACE /api/jobs HTTP/1.1\r\nHost: x', 401, 'Missing authorization token'],
    ['options of the server', 'OPTIONS * HTTP/1.1\r\nHost: x', 401, 'Missing authorization token'],
    ['no host', 'GET /api/jobs HTTP/1.1\r\nX-A: b', 400, 'The Host header is missing'],
    ['two hosts', 'GET /api/jobs HTTP/1.1\r\nHost: x\r\nX-A: b\r\nhOST: y', 400, SEVERAL_HOSTS],
    ['one host twice', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x', 400, SEVERAL_HOSTS],
    ['two hosts in HTTP/1.0', 'GET /api/jobs HTTP/1.0\r\nHost: x\r\nHost: y', 400, SEVERAL_HOSTS],
    [
      'a push with two hosts',
      `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nHost: y\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      SEVERAL_HOSTS,
    ],
    [
      'two tokens',
      `GET /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nX-A: b\r\naUTHORIZATION: Bearer y`,
      400,
      SEVERAL_TOKENS,
    ],
    [
      'a push with one token twice',
      `POST /api/jobs HTTP/1.1\r\nHost: x\r\n${`Authorization: Bearer ${TOKEN}\r\n`.repeat(2)}Content-Length: 2\r\n\r\n{}`,
      400,
      SEVERAL_TOKENS,
    ],
    ['a method that nobody knows', 'FOO / HTTP/1.1\r\nHost: x', 400, 'The request is not valid HTTP'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM', 400, 'The request is not valid HTTP'],
    ['HTTP/9', 'GET / HTTP/9.1\r\nHost: x', 400, 'The request is not valid HTTP'],
    [
      'an upgrade without a token',
      'GET /api/queues HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket',
      401,
      'Missing authorization token',
    ],
  ])('%s', async (_case, head, status, error) => {
    const api = await startApi()
    const received = await rawExchange(api.port, `${head}\r\n\r\n`)
    const [top = '', body] = received.split('\r\n\r\n')
    expect(top).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(top).toMatch(/\r\nContent-Type: application\/json\r\n/)
    expect(top).toMatch(/\r\nConnection: close(?:\r\n|$)/)
    expect(body).toBe(JSON.stringify({ error }))
    expect(api.logged).toEqual([])
    await api.close()
  })

  test('but for HEAD, which has no body', async () => {
    const api = await startApi()
    const received = await rawExchange(api.port, 'HEAD /api/queues HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(received).toMatch(/^HTTP\/1\.1 401 [^]*\r\nContent-Length: 39\r\n[^]*\r\n\r\n$/)
    await api.close()
  })

  test('a target in absolute form is read as its path; an upgrade is passed over', async () => {
    const api = await startApi()
    for (const bytes of [
      GET.replace('/api', 'http://x/api').replace('\r\n', '\r\nConnection: close\r\n'),
      GET.replace('\r\n', '\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n'),
    ]) {
      expect(await rawExchange(api.port, bytes)).toMatch(/^HTTP\/1\.1 200 /)
    }
    await api.close()
  })

  test.each([
    ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('whoever does not hang up then is hung up on: %s', async (_case, bytes) => {
    const clock = createFakeClock()
    const api = await startApi({ clock })
    const socket = connect({ port: api.port, allowHalfOpen: true })
    socket.resume()
    socket.write(bytes)
    await once(socket, 'end')
    socket.write('more')
    await clock.advance(2_000)
    socket.on('error', () => undefined)
    await until('it is cut', () => {
      socket.write('and more')
      return socket.destroyed
    })
    expect(clock.timers).toBe(0)
    await api.close()
  })

  test('what is no HTTP cuts no answer that has begun in two', async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const server = new ApiServer({
      listener: (_request, response) => {
        response.write('half')
        begun.resolve(response)
      },
      clock,
      logger: quietLogger,
    })
    const { port } = await server.listen(0, '127.0.0.1')
    const client = await open(port)
    client.socket.write(GET)
    await begun.promise
    await until('the first half', () => client.received().includes('half'))
    client.socket.write('no HTTP at all\r\n\r\n')
    await once(client.socket, 'close')
    expect(client.received()).not.toContain('HTTP/1.1 400')
    await server.close(0)
  })
})
