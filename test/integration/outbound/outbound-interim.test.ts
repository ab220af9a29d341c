import type { Socket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../support/fake-clock.ts'
import {
  createLatch,
  startCaller,
  startRawTarget,
  type RawTarget,
} from '../../support/targets/outbound-targets.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: close\r\nContent-Length: 9\r\n\r\n'

const caller = startCaller()
const targets: RawTarget[] = []

async function target(serve: Parameters<typeof startRawTarget>[0]): Promise<RawTarget> {
  const started = await startRawTarget(serve)
  targets.push(started)
  return started
}

afterEach(async () => {
  await Promise.all(targets.splice(0).map((one) => one.close()))
})
afterAll(() => caller.close())

describe('1xx responses are removed', () => {
  test.each([
    ['a 100 nobody asked for', CONTINUE + OK],
    ['a 103 with headers of its own', HINTS + OK],
    ['both, and more', CONTINUE + HINTS + HINTS + CONTINUE + OK],
  ])('%s: the job was delivered once, and the connection lives on', async (_name, answer) => {
    const { url, connections, received } = await target((socket) => socket.write(answer))
    for (let round = 0; round < 3; round += 1) {
      expect(await caller.call(url, { method: 'POST', body: `{"n":${round}}` })).toMatchObject({
        kind: 'answered',
        status: 200,
        headers: [['Content-Length', '2']],
        body: Buffer.from('ok'),
        bodyTruncated: false,
      })
    }
    expect(connections()).toBe(1)
    expect(received().split('POST / ')).toHaveLength(4)
  })

  test('cut at any byte', async () => {
    const answer = CONTINUE + HINTS + OK
    const { url, connections } = await target((socket, _connection, request) => {
      socket.setNoDelay(true)
      socket.write(answer.slice(0, request))
      setImmediate(() => socket.write(answer.slice(request)))
    })
    for (let cut = 1; cut < answer.length; cut += 1) {
      expect(await caller.call(url), `cut at ${cut}`).toMatchObject({
        kind: 'answered',
        body: Buffer.from('ok'),
      })
    }
    expect(connections()).toBe(1)
  })

  test('and the time to the first byte is that of the final one', async () => {
    const clock = createFakeClock()
    const ownCaller = startCaller({ clock })
    const { promise, resolve } = Promise.withResolvers<Socket>()
    const { url } = await target((socket) => {
      socket.write(CONTINUE)
      resolve(socket)
    })
    const call = ownCaller.call(url)
    const socket = await promise
    await clock.advance(60)
    socket.write(OK)
    expect((await call).timings.firstByteMs).toBe(60)
    await ownCaller.close()
  })

  test('but not on an idle connection', async () => {
    const closed = createLatch()
    const sockets: Socket[] = []
    const { url, connections } = await target((socket) => {
      sockets.push(socket)
      socket.on('close', () => closed.open())
      socket.write(OK)
    })
    await caller.call(url)
    sockets[0]?.write(CONTINUE)
    await closed.reached
    expect(await caller.call(url)).toMatchObject({ kind: 'answered' })
    expect(connections()).toBe(2)
  })
})

test.each([
  [
    'a 101',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'The target switched protocols (101) without being asked.',
  ],
  [
    'a 101 that names no protocol',
    `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`,
    'The target switched protocols (101) without being asked.',
  ],
  [
    'a flood of 1xx',
    'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5_000),
    'The target sent too many 1xx responses.',
  ],
  [
    'a 1xx in a form of its own',
    `\r\nHTTP/1.1 103 Hints\r\n\r\n${OK}`,
    'The response is not valid HTTP/1.1.',
  ],
])('%s fails the call and says so', async (_name, answer, message) => {
  const { url, connections } = await target((socket) => socket.write(answer))
  expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
    kind: 'failed',
    reason: 'connection_error',
    message,
  })
  expect(connections()).toBe(1)
})
