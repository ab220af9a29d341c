import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createSocketOpener } from '../../../src/outbound/connections/socket-opener.ts'
import { EgressGuard } from '../../../src/outbound/egress/egress-guard.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import {
  createLatch,
  LOOPBACK_OPEN,
  startCaller,
  startRawTarget,
  teamSettings,
  type RawTarget,
} from '../../support/targets/outbound-targets.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const targets: RawTarget[] = []

/** Answers every request, and at a message closes its connections and then raises the flag. */
const CLOSING_TARGET = `
  const { createServer } = require('node:net')
  const { parentPort, workerData: flag } = require('node:worker_threads')
  const sockets = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.writable && socket.write(${JSON.stringify(OK)}))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  parentPort.once('message', async () => {
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.end(done))))
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
  })
`
const caller = startCaller()

async function target(serve: Parameters<typeof startRawTarget>[0]): Promise<RawTarget> {
  const started = await startRawTarget(serve)
  targets.push(started)
  return started
}

afterEach(async () => {
  await Promise.all(targets.splice(0).map((one) => one.close()))
})
afterAll(() => caller.close())

describe('what goes over the wire', () => {
  test('is what the result says, byte for byte', async () => {
    const { url, received } = await target((socket) => socket.write(OK))
    const result = await caller.call(`${url}a%20b?c=d#e`, {
      method: 'PUT',
      headers: { 'X-Mixed-Case': 'tab\there', Host: 'evil', 'Content-Length': '99', TE: 'trailers' },
      body: '{"ü":1.0}',
      settings: teamSettings({ signingSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
    })
    const [head, body] = received().split('\r\n\r\n')
    const lines = result.requestHeaders.map(([name, value]) => `${name}: ${value}`)
    expect(head).toBe(['PUT /a%20b?c=d HTTP/1.1', ...lines].join('\r\n'))
    expect(Buffer.from(body ?? '', 'latin1').toString('utf8')).toBe('{"ü":1.0}')
    expect(lines.slice(0, 3)).toEqual([
      `host: ${new URL(url).host}`,
      'connection: keep-alive',
      'X-Mixed-Case: tab\there',
    ])
    expect(lines).toContain('X-Punctual-Fencing-Token: 7')
    expect(lines.at(-1)).toBe('content-length: 10')
    expect(received()).not.toMatch(/evil|trailers/)
  })

  test('has path and query as the URL writes them, which may be signed', async () => {
    const { url, received } = await target((socket) => socket.write(OK))
    expect(await caller.call(`${url}a/%2e%2e/b?c='d'&e`)).toMatchObject({ kind: 'answered' })
    expect(received()).toMatch(/^[A-Z]+ \/a\/%2e%2e\/b\?c='d'&e HTTP\/1\.1\r\n/)
  })

  test('is nothing where the signing secrets cannot be opened', async () => {
    const { url, received } = await target((socket) => socket.write(OK))
    const settings = { ...teamSettings(), isSigningUnreadable: true }
    const result = await caller.call(url, { settings })
    const message = 'The signing secrets of the team cannot be opened.'
    expect(result).toMatchObject({ kind: 'failed', reason: 'unknown', message })
    expect(received()).toBe('')
  })

  test('a GET with a payload sends it', async () => {
    const { url, received } = await target((socket) => socket.write(OK))
    expect(await caller.call(url, { body: '[1]' })).toMatchObject({ kind: 'answered' })
    expect(received()).toContain('content-length: 3\r\n\r\n[1]')
  })

  test('times what happened and leaves out what did not', async () => {
    const { url } = await target((socket) => socket.write(OK))
    const number = expect.any(Number) as number
    const first = await caller.call(url)
    const second = await caller.call(url)
    expect(first.timings).toEqual({
      dnsMs: null,
      connectMs: number,
      tlsMs: null,
      firstByteMs: number,
      bodyMs: number,
    })
    expect(second.timings).toEqual({
      dnsMs: null,
      connectMs: null,
      tlsMs: null,
      firstByteMs: number,
      bodyMs: number,
    })
  })
})

describe('connections', () => {
  test('are shared by calls of one team and version alone', async () => {
    const { url, connections } = await target((socket) => socket.write(OK))
    const of = (team: string, version: number) =>
      caller.call(url, { team, settings: teamSettings({ version }) })
    await of('share-a', 1)
    await of('share-a', 1)
    expect(connections()).toBe(1)
    await of('share-b', 1)
    expect(connections()).toBe(2)
    await of('share-a', 2)
    expect(connections()).toBe(3)
    await of('share-a', 2)
    expect(connections()).toBe(3)
  })

  test('of an older version are closed when a newer one calls', async () => {
    const firstClosed = createLatch()
    const { url } = await target((socket, connection) => {
      if (connection === 1) socket.on('close', () => firstClosed.open())
      socket.write(OK)
    })
    await caller.call(url, { team: 'older', settings: teamSettings({ version: 1 }) })
    await caller.call(url, { team: 'older', settings: teamSettings({ version: 2 }) })
    await expect(firstClosed.reached).resolves.toBeUndefined()
  })

  test('that a policy closed are not reused under it', async () => {
    const closed = startCaller({
      egressSettings: { allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] },
    })
    const { url, connections } = await target((socket) => socket.write(OK))
    const call = (version: number, egressAllow: string[]) =>
      closed.call(url, { settings: teamSettings({ version, egressAllow }) })
    expect(await call(1, ['127.0.0.0/8'])).toMatchObject({ kind: 'answered' })
    expect(await call(2, [])).toMatchObject({ kind: 'failed', reason: 'blocked_target' })
    expect(connections()).toBe(1)
    await closed.close()
  })

  test('to an address that has become our own are not reused', async () => {
    let generation = 0
    let looks = 0
    const own = {
      has: () => {
        looks += 1
        return generation > 0
      },
      get generation() {
        return generation
      },
    }
    const moving = startCaller({ egress: new EgressGuard(LOOPBACK_OPEN, own) })
    const { url, port, connections } = await target((socket) => socket.write(OK))
    const named = startCaller({
      egress: new EgressGuard(LOOPBACK_OPEN, own),
      resolve: async () => ['127.0.0.1'],
    })
    const name = `http://moving.example:${port}/`
    expect(await moving.call(url)).toMatchObject({ kind: 'answered' })
    expect(await moving.call(url)).toMatchObject({ kind: 'answered' })
    const looked = looks
    expect(await moving.call(url)).toMatchObject({ kind: 'answered' })
    // A connection is judged once for all calls until something of ours moves.
    expect(looks).toBe(looked)
    expect(await named.call(name)).toMatchObject({ kind: 'answered' })
    expect(connections()).toBe(2)
    generation += 1
    expect(await moving.call(url)).toMatchObject({ kind: 'failed', reason: 'blocked_target' })
    expect(await named.call(name)).toMatchObject({ kind: 'failed', reason: 'dns_error' })
    expect(connections()).toBe(2)
    await Promise.all([moving.close(), named.close()])
  })

  test('reach a name at the one of its addresses that answers', async () => {
    const named = startCaller({ resolve: async () => ['::1', '127.77.0.1', '127.0.0.1'] })
    const { port, connections } = await target((socket) => socket.write(OK))
    expect(await named.call(`http://some.example:${port}/`)).toMatchObject({ kind: 'answered', status: 200 })
    expect(connections()).toBe(1)
    await named.close()
  })

  test.each<[string, string, string]>([
    ['a name', 'moving.example', 'dns_error'],
    ['a literal address', '127.0.0.1', 'blocked_target'],
  ])(
    'to an address of %s that becomes our own before it is tried are not made',
    async (_name, host, reason) => {
      let isOurs = false
      const own = { has: () => isOurs, generation: 0 }
      const openReal = createSocketOpener(systemClock, [])
      const moving = startCaller({
        egress: new EgressGuard(LOOPBACK_OPEN, own),
        resolve: async () => ['127.0.0.1'],
        openSocket: (to, events) => {
          isOurs = true
          own.generation += 1
          return openReal(to, events)
        },
      })
      const { port, connections } = await target((socket) => socket.write(OK))
      expect(await moving.call(`http://${host}:${port}/`)).toMatchObject({ kind: 'failed', reason })
      expect(connections()).toBe(0)
      await moving.close()
    },
  )

  test('a request that was written is never sent again', async () => {
    const { url, connections, received } = await target((socket, _connection, request) => {
      if (request === 1) socket.write(OK)
      else socket.resetAndDestroy()
    })
    expect(await caller.call(url, { method: 'POST', body: '{"n":1}' })).toMatchObject({ kind: 'answered' })
    expect(await caller.call(url, { method: 'POST', body: '{"n":2}' })).toMatchObject({
      kind: 'failed',
      reason: 'connection_error',
    })
    expect(connections()).toBe(1)
    expect(received().split('{"n":2}')).toHaveLength(2)
  })

  test('one the target closed while it was idle costs no attempt', async () => {
    // The target runs in a thread of its own, so that its end of the connection can close while ours is not looking.
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(CLOSING_TARGET, { eval: true, workerData: flag })
    const [port] = (await once(worker, 'message')) as [number]
    const url = `http://127.0.0.1:${port}/`
    expect(await caller.call(url)).toMatchObject({ kind: 'answered' })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage('close the connection')
    Atomics.wait(flag, 0, 0)
    expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
      kind: 'answered',
      timings: { connectMs: expect.any(Number) },
    })
    await worker.terminate()
  })

  test('are closed once they have idled for as long as the target allows', async () => {
    const clock = createFakeClock()
    const ownCaller = startCaller({ clock })
    const closed = createLatch()
    const { url, connections } = await target((socket) => {
      socket.on('close', () => closed.open())
      socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 2\r\n\r\nok')
    })
    await ownCaller.call(url)
    await clock.advance(1_900)
    await ownCaller.call(url)
    expect(connections()).toBe(1)
    await clock.advance(3_000)
    await closed.reached
    await ownCaller.call(url)
    expect(connections()).toBe(2)
    await ownCaller.close()
  })

  test('bytes nobody asked for end the connection', async () => {
    const { url, connections } = await target((socket) => socket.write(OK + OK))
    expect(await caller.call(url)).toMatchObject({ kind: 'answered' })
    expect(await caller.call(url)).toMatchObject({ kind: 'answered' })
    expect(connections()).toBe(2)
  })

  test('the budget evicts idle ones, then says that this machine has no room', async () => {
    const tight = startCaller({ socketsMax: 1 })
    const arrived = createLatch()
    const silent = await target(() => arrived.open())
    const { url } = await target((socket) => socket.write(OK))
    expect(await tight.call(url)).toMatchObject({ kind: 'answered' })
    const waiting = tight.call(silent.url)
    await arrived.reached
    expect(await tight.call(url)).toMatchObject({ kind: 'local_fault' })
    await tight.close()
    expect(await waiting).toMatchObject({ kind: 'aborted' })
  })
})

describe('our own wish to stop', () => {
  test('an abort ends the calls of its signal and closes their sockets', async () => {
    const closed = createLatch()
    const arrived = createLatch()
    const { url } = await target((socket) => {
      arrived.open()
      socket.on('close', () => closed.open())
    })
    const controller = new AbortController()
    const call = caller.call(url, {}, controller.signal)
    await arrived.reached
    controller.abort()
    expect(await call).toMatchObject({ kind: 'aborted' })
    await closed.reached
    expect(await caller.call(url, {}, controller.signal)).toMatchObject({ kind: 'aborted' })
  })

  test('a thousand calls leave no listeners on their signal', async () => {
    const { url } = await target((socket) => socket.write(OK))
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1
      add(...given)
    }
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => caller.call(url, {}, signal)))
    }
    expect(listeners).toBe(1)
  })

  test('a closed caller calls nobody', async () => {
    const short = startCaller()
    const { url, connections } = await target((socket) => socket.write(OK))
    await short.close()
    expect(await short.call(url)).toMatchObject({ kind: 'aborted' })
    expect(connections()).toBe(0)
  })
})

test.each([
  '',
  'nonsense',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'http://u:p@127.0.0.1/',
  'http://127.0.0.1:0/',
  'http://./',
  'http://a..test/',
])('%j cannot be called', async (url) => {
  expect(await caller.call(url)).toMatchObject({ kind: 'failed', reason: 'invalid_url', requestHeaders: [] })
})
