import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { createdResult, OTHER_TOKEN, push, type RunningApi, startApi, TOKEN } from './api-fixture.ts'

const MEBIBYTE = 1024 * 1024
const GOOD = { queue: 'emails', url: 'https://example.com/hook' }

interface Sender {
  readonly socket: Socket
  /** All that has come, in Latin-1. */
  received(): string
}

const sockets: Socket[] = []

async function open(port: number): Promise<Sender> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return { socket, received: () => received }
}

/** Without the clients that still send, whose grace it would wait for. */
function close(api: RunningApi): Promise<void> {
  for (const socket of sockets.splice(0)) socket.destroy()
  return api.close()
}

/** A push whose body the test sends as it likes; `100 Continue` tells that its bytes are reserved. */
async function openPush(port: number, options: { token?: string; header?: string } = {}): Promise<Sender> {
  const { token = TOKEN, header = `Content-Length: ${MEBIBYTE}` } = options
  const { socket, received } = await open(port)
  socket.write(
    `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nExpect: 100-continue\r\n${header}\r\n\r\n`,
  )
  await until('an answer', () => received().includes('\r\n\r\n'))
  return { socket, received }
}

const CONTINUED = 'HTTP/1.1 100 Continue\r\n\r\n'
const statusOf = (text: string): string => /HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? ''

test('bytes count from Content-Length on: a team meets its share, then all meet the whole', async () => {
  const api = await startApi({ intakeBytesMax: 4 * MEBIBYTE })
  for (let i = 0; i < 3; i += 1) expect((await openPush(api.port)).received()).toBe(CONTINUED)
  const over = await openPush(api.port)
  expect(over.received()).toMatch(/^HTTP\/1\.1 429 [^]*\r\nRetry-After: 2\r\nConnection: close\r\n/)
  expect(over.received()).toMatch(/{"error":"This team is sending too many bytes at once, try again"}$/)
  // A neighbour is not kept out by it.
  expect((await openPush(api.port, { token: OTHER_TOKEN })).received()).toBe(CONTINUED)
  const full = await openPush(api.port, { token: OTHER_TOKEN })
  expect(full.received()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n/)
  expect(full.received()).toMatch(/{"error":"The API is receiving too many bytes at once, try again"}$/)
  await close(api)
})

test('without a token nothing is reserved, and the connection ends', async () => {
  const api = await startApi({ intakeBytesMax: MEBIBYTE })
  for (let i = 0; i < 3; i += 1) {
    const stranger = await openPush(api.port, { token: 'unknown' })
    expect(stranger.received()).toMatch(/^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/)
  }
  expect((await openPush(api.port)).received()).toBe(CONTINUED)
  await close(api)
})

test.each([
  ['a content type that is not ours', 'Content-Encoding: gzip\r\nContent-Length: 5', '415'],
  ['too large', `Content-Length: ${MEBIBYTE + 1}`, '413'],
])(
  'a client that asks first is not told to send a body that is refused: %s',
  async (_case, header, status) => {
    const api = await startApi({ intakeBytesMax: MEBIBYTE })
    const { received } = await openPush(api.port, { header })
    expect(statusOf(received())).toBe(status)
    expect((await openPush(api.port)).received()).toBe(CONTINUED)
    await close(api)
  },
)

test('a body in chunks counts as it grows', async () => {
  const api = await startApi({ intakeBytesMax: 2 * MEBIBYTE })
  expect((await openPush(api.port)).received()).toBe(CONTINUED)
  const chunked = await openPush(api.port, { header: 'Transfer-Encoding: chunked' })
  expect(chunked.received()).toBe(CONTINUED)
  // 0.5 MiB more is what the team may have.
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  chunked.socket.write(chunk.repeat(7))
  const small = await push(api.port, GOOD)
  expect(small.status).toBe(201)
  chunked.socket.write(chunk.repeat(4))
  await until('a refusal', () => chunked.received() !== CONTINUED)
  expect(chunked.received().slice(CONTINUED.length)).toMatch(/^HTTP\/1\.1 429 /)
  // What it had reserved is free again.
  const next = await openPush(api.port, { header: `Content-Length: ${MEBIBYTE / 2}` })
  expect(next.received()).toBe(CONTINUED)
  await close(api)
})

test('bytes count until the store has answered, also when the client has gone', async () => {
  const stored = Promise.withResolvers<ReturnType<typeof createdResult>>()
  const body = JSON.stringify({ ...GOOD, payload: { a: 'x'.repeat(600_000) } })
  let arrived = 0
  const api = await startApi({
    intakeBytesMax: MEBIBYTE,
    intake: {
      push: () => {
        arrived += 1
        return stored.promise
      },
    },
  })
  const { socket } = await openPush(api.port, { header: `Content-Length: ${body.length}` })
  socket.write(body)
  await until('the push is in the store', () => arrived === 1)
  socket.destroy()
  await once(socket, 'close')
  expect(await push(api.port, body)).toMatchObject({ status: 429 })
  stored.resolve(createdResult())
  await until('its bytes are free', async () => (await push(api.port, body)).status === 201)
  await close(api)
})

test('a client that goes away in the middle of its body frees its bytes', async () => {
  // Nothing else does: no time passes.
  const api = await startApi({ intakeBytesMax: MEBIBYTE, clock: createFakeClock() })
  const { socket } = await openPush(api.port)
  socket.write('{"queue"')
  expect(await push(api.port, GOOD)).toMatchObject({ status: 429 })
  socket.destroy()
  await until('its bytes are free', async () => (await push(api.port, GOOD)).status === 201)
  await close(api)
})

test('a body that stalls is ended with 408, and its bytes are free', async () => {
  const clock = createFakeClock()
  const api = await startApi({ intakeBytesMax: MEBIBYTE, clock })
  const { socket, received } = await openPush(api.port)
  socket.write('{"queue"')
  expect(await push(api.port, GOOD)).toMatchObject({ status: 429 })
  const closed = once(socket, 'close')
  await clock.advance(6_000)
  await closed
  expect(received().slice(CONTINUED.length)).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close\r\n/)
  expect(received()).toMatch(/{"error":"The request body arrived too slowly"}$/)
  expect((await push(api.port, GOOD)).status).toBe(201)
  expect(api.pushed).toHaveLength(1)
  await close(api)
})

test.each([
  ['a stranger', 'POST /api/jobs HTTP/1.1\r\nHost: x\r\n', '401'],
  [
    'a client over its share',
    `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: text/plain\r\n`,
    '415',
  ],
])('a refused body that stalls is not waited for: %s', async (_case, head, status) => {
  const clock = createFakeClock()
  const api = await startApi({ clock })
  const { socket, received } = await open(api.port)
  socket.write(`${head}Content-Length: ${MEBIBYTE}\r\n\r\nx`)
  await until('the answer', () => received().endsWith('}'))
  expect(statusOf(received())).toBe(status)
  const closed = once(socket, 'close')
  await clock.advance(6_000)
  await closed
  // One answer, nothing behind it.
  expect(received().match(/HTTP\/1\.1 /g)).toHaveLength(1)
  await close(api)
})
