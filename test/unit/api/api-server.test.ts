import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ApiServer } from '../../../src/api/api-server.ts'
import { LOOPBACKS } from '../../support/targets/all-addresses.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { call, clock, createdResult, push, rawExchange, startApi, TOKEN } from './api-fixture.ts'

const GOOD = { queue: 'emails', url: 'https://example.com/hook' }

interface Values {
  readonly api: { readonly shutdownDelaySeconds: number }
}

/** The answers that have begun on a connection so far. */
function answersOn(socket: Socket): () => string[] {
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  return () => received.split(/(?=HTTP\/1\.1 )/).filter((answer) => answer !== '')
}

function isRefused(port: number): Promise<boolean> {
  return call(port, '/api/jobs').then(
    () => false,
    (fault: unknown) => String(fault).includes('ECONNREFUSED'),
  )
}

test.for(LOOPBACKS)('on all addresses it is reached at $host', async ({ host, obstacle }, { skip }) => {
  skip(obstacle !== null, obstacle ?? '')
  const server = new ApiServer({
    listener: (_request, response) => response.end('here'),
    clock,
    logger: quietLogger,
  })
  const { port } = await server.listen(0, '*')
  expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here')
  await server.close(1_000)
})

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', '400 Bad Request', 'The request is not valid HTTP'],
  [
    'conflicting framing',
    'POST /api/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    '400 Bad Request',
    'The request is not valid HTTP',
  ],
  [
    'two lengths',
    'POST /api/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
    '400 Bad Request',
    'The request is not valid HTTP',
  ],
  [
    'a folded header',
    'GET /api/jobs HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n',
    '400 Bad Request',
    'The request is not valid HTTP',
  ],
  [
    'a URL of 64 KiB',
    `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    '431 Request Header Fields Too Large',
    'The request headers are too large',
  ],
  [
    'headers of 32 KiB',
    `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(32_768)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    'The request headers are too large',
  ],
])('%s is refused and the connection ends', async (_name, bytes, line, error) => {
  const api = await startApi()
  const received = await rawExchange(api.port, bytes)
  expect(received.split('\r\n')[0]).toBe(`HTTP/1.1 ${line}`)
  expect(received.split('\r\n\r\n')[1]).toBe(JSON.stringify({ error }))
  await api.close()
})

test('a request without a host is refused', async () => {
  const api = await startApi()
  expect(await rawExchange(api.port, 'GET /api/jobs HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  await api.close()
})

test('a token cannot be stripped by naming it in Connection', async () => {
  const api = await startApi()
  const received = await rawExchange(
    api.port,
    `GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close, Authorization\r\n\r\n`,
  )
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
  await api.close()
})

test('close lets a push in flight end, says so on its connection, and accepts no more', async () => {
  const arrived = Promise.withResolvers<void>()
  const stored = Promise.withResolvers<ReturnType<typeof createdResult>>()
  const api = await startApi({
    intake: {
      push: () => {
        arrived.resolve()
        return stored.promise
      },
    },
  })
  const agent = new Agent({ keepAlive: true })
  const answered = new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    const request = send(
      {
        port: api.port,
        path: '/api/jobs',
        method: 'POST',
        agent,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume()
        resolve([response.statusCode, response.headers.connection])
      },
    )
    request.on('error', reject)
    request.end(JSON.stringify(GOOD))
  })
  await arrived.promise
  const closed = api.close()
  expect(api.server.close(0)).toBe(api.server.close(0))
  await until('no connection is accepted', () => isRefused(api.port))
  stored.resolve(createdResult())
  expect(await answered).toEqual([201, 'close'])
  await closed
  agent.destroy()
})

/** One request on a connection that is to be kept. */
const KEPT = `GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`

test.each([
  ['on a connection that was idle', true],
  ['on a connection that was not accepted yet', false],
])('close answers a request that was sent before it %s', async (_case, isKept) => {
  const api = await startApi()
  const socket = connect(api.port, '127.0.0.1')
  const answers = answersOn(socket)
  await once(socket, 'connect')
  if (isKept) {
    socket.write(KEPT)
    await until('the first answer', () => answers().length === 1)
    expect(answers()[0]).toMatch(/\r\nConnection: keep-alive/)
  }
  // Both before the server runs again: what was sent is still unread when it is told to close.
  socket.write(KEPT)
  const closed = api.close()
  await once(socket, 'close')
  expect(answers()).toHaveLength(isKept ? 2 : 1)
  expect(answers().at(-1)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close/)
  await closed
})

test('close goes on serving during the shutdown delay, each connection once', async () => {
  const drained = Promise.withResolvers<void>()
  const server = new ApiServer({
    listener: (_request, response) => response.end('served'),
    clock: {
      ...clock,
      after: (delayMs, run) => {
        if (delayMs === 3_000) void drained.promise.then(run)
        return () => undefined
      },
    },
    logger: quietLogger,
  })
  const { port } = await server.listen(0, '127.0.0.1')
  const kept = connect(port, '127.0.0.1')
  const answers = answersOn(kept)
  kept.write(KEPT)
  await until('the first answer', () => answers().length === 1)
  const closed = server.close(5_000, 3_000)
  kept.write(KEPT)
  await once(kept, 'close')
  expect(answers().map((answer) => /\r\nConnection: (\S+)/.exec(answer)?.[1])).toEqual([
    'keep-alive',
    'close',
  ])
  expect(await rawExchange(port, KEPT)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close/)
  drained.resolve()
  await closed
  expect(await isRefused(port)).toBe(true)
})

test('clients leave an idle connection before the shutdown delay of the chart is over, and load balancers need not', async () => {
  let seen: Socket | undefined
  const server = new ApiServer({
    listener: (request, response) => {
      seen = request.socket
      response.end('here')
    },
    clock,
    logger: quietLogger,
  })
  const { port } = await server.listen(0, '127.0.0.1')
  const agent = new Agent({ keepAlive: true, timeout: 60_000 })
  const request = send({ port, agent }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  const [idle] = await until('the connection is idle', () => Object.values(agent.freeSockets)[0])
  const values = parse(readFileSync('charts/punctual/values.yaml', 'utf8')) as Values

  expect(idle?.timeout).toBeGreaterThan(0)
  expect(idle?.timeout).toBeLessThan(values.api.shutdownDelaySeconds * 1_000)
  expect(seen?.timeout).toBe(65_000)
  agent.destroy()
  await server.close(1_000)
})

test('close ends a connection whose answer had begun before', async () => {
  const begun = Promise.withResolvers<ServerResponse>()
  const server = new ApiServer({
    listener: (request, response) => {
      // A call that asks whether connections are still accepted does not wait.
      if (request.url === '/api/jobs') return void response.end()
      response.write('half')
      begun.resolve(response)
    },
    clock,
    logger: quietLogger,
  })
  const { port } = await server.listen(0, '127.0.0.1')
  const socket = connect(port, '127.0.0.1')
  const answers = answersOn(socket)
  socket.write(KEPT)
  const response = await begun.promise
  const closed = server.close(60_000)
  await until('no connection is accepted', () => isRefused(port))
  response.end('whole')
  await once(socket, 'close')
  await closed
  expect(answers()[0]).toMatch(/half[^]*whole/)
})

test('close ends idle connections at once and cuts a stuck one after the grace', async () => {
  const arrived = Promise.withResolvers<void>()
  const cuts: Array<() => void> = []
  const server = new ApiServer({
    listener: () => arrived.resolve(),
    clock: {
      ...clock,
      after: (delayMs, run) => {
        expect(delayMs).toBe(5_000)
        cuts.push(run)
        return () => undefined
      },
    },
    logger: quietLogger,
  })
  const { port } = await server.listen(0, '127.0.0.1')
  const idle = connect(port, '127.0.0.1')
  const idleEnded = new Promise<void>((resolve) => idle.on('close', () => resolve()))
  const stuck = call(port, '/').then(
    () => 'answered',
    (fault: unknown) => String(fault),
  )
  await arrived.promise
  const closed = server.close(5_000)
  await idleEnded
  expect(cuts).toHaveLength(1)
  cuts[0]?.()
  expect(await stuck).toMatch(/ECONNRESET|socket hang up/)
  await closed
})

test('a port in use is a rejection', async () => {
  const api = await startApi()
  const second = new ApiServer({ listener: () => undefined, clock, logger: quietLogger })
  await expect(second.listen(api.port, '127.0.0.1')).rejects.toThrow(/EADDRINUSE/)
  await api.close()
})

test('a client that goes away in the middle of a body or before the answer does no harm', async () => {
  const stored = Promise.withResolvers<ReturnType<typeof createdResult>>()
  const arrived = Promise.withResolvers<void>()
  const api = await startApi({
    intake: {
      push: () => {
        arrived.resolve()
        return stored.promise
      },
    },
  })
  const head = `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`
  const ended = (bytes: string, until: Promise<void>) =>
    new Promise<void>((resolve) => {
      const socket = connect(api.port, '127.0.0.1', () => socket.write(bytes))
      socket.on('close', () => resolve())
      void until.then(() => socket.destroy())
    })
  await ended(`${head}Content-Length: 500\r\n\r\n{"queue"`, Promise.resolve())
  const body = JSON.stringify(GOOD)
  await ended(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, arrived.promise)
  stored.resolve(createdResult())
  expect((await push(api.port, GOOD)).status).toBe(201)
  expect(api.logged).toEqual([])
  await api.close()
})
