import { setInterval as every } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createLatch,
  startCaller,
  startRawTarget,
  type RawTarget,
} from '../../support/targets/outbound-targets.ts'

/** A deadline plus what a busy machine may need beyond it. */
const GENEROUS_MS = 3_000

const caller = startCaller()
const targets: RawTarget[] = []

async function target(
  serve: (socket: Socket, connection: number, request: number) => void,
): Promise<RawTarget> {
  const started = await startRawTarget(serve)
  targets.push(started)
  return started
}

afterEach(async () => {
  await Promise.all(targets.splice(0).map((one) => one.close()))
})

/** Writes a piece again and again until the socket ends. */
async function drip(socket: Socket, pieces: () => string | Buffer): Promise<void> {
  for await (const _ of every(20)) {
    if (socket.destroyed) return
    socket.write(pieces())
  }
}

function reset(socket: Socket): void {
  socket.resetAndDestroy()
}

describe('no whole answer', () => {
  test('a port nobody listens on', async () => {
    const { url, close } = await startRawTarget(() => {})
    await close()
    expect(await caller.call(url)).toMatchObject({
      kind: 'failed',
      reason: 'connection_error',
      message: 'The connection was refused.',
      timings: { dnsMs: null, tlsMs: null, firstByteMs: null },
    })
  })

  test.each<[string, (socket: Socket) => void]>([
    ['a reset before the answer', reset],
    ['an end before the answer', (socket) => socket.end()],
    ['an end within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
    [
      'an end before the length is reached',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
    ],
    [
      'an end within a chunk',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc'),
    ],
    ['garbage', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    [
      'a length that is no number',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\na'),
    ],
    [
      'two lengths',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    ['headers of 20 KB', (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`)],
    ['2,500 headers', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X-Aaaa: bbbb\r\n'.repeat(2_500)}\r\n`)],
  ])('%s', async (_name, serve) => {
    const { url, connections } = await target(serve)
    expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
      kind: 'failed',
      reason: 'connection_error',
    })
    expect(connections()).toBe(1)
  })

  test('a reset within a body that has no length', async () => {
    const { url } = await target((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc', () => setImmediate(reset, socket))
    })
    expect(await caller.call(url)).toMatchObject({ kind: 'failed', reason: 'connection_error' })
  })

  test('a reset after the whole body changes nothing', async () => {
    const { url } = await target((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => setImmediate(reset, socket))
    })
    expect(await caller.call(url)).toMatchObject({ kind: 'answered', status: 200, bodyTruncated: false })
  })
})

describe('the deadline', () => {
  test.each<[string, string, (socket: Socket) => void]>([
    ['silence', 'waiting for the response', () => {}],
    [
      'headers that drip',
      'reading the response',
      (socket) => {
        let count = 0
        socket.write('HTTP/1.1 200 OK\r\n')
        void drip(socket, () => `X-${(count += 1)}: a\r\n`)
      },
    ],
    [
      'a body that drips',
      'reading the response',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
        void drip(socket, () => 'a')
      },
    ],
    [
      '1xx answers that drip',
      'waiting for the response',
      (socket) => void drip(socket, () => 'HTTP/1.1 102 Processing\r\n\r\n'),
    ],
  ])('ends %s', async (_name, stage, serve) => {
    const { url } = await target(serve)
    const startedAt = performance.now()
    const result = await caller.call(url, { timeoutMs: 400 })
    expect(performance.now() - startedAt).toBeLessThan(400 + GENEROUS_MS)
    expect(result).toMatchObject({
      kind: 'failed',
      reason: 'timeout',
      message: `No complete response within 0.4 s, while ${stage}.`,
    })
    expect(result.durationMs).toBeGreaterThanOrEqual(390)
  })

  test('ends a TLS handshake that hangs', async () => {
    const { port, connections } = await target(() => {})
    const result = await caller.call(`https://127.0.0.1:${port}/`, { timeoutMs: 300 })
    expect(result).toMatchObject({
      kind: 'failed',
      reason: 'timeout',
      timings: { tlsMs: expect.any(Number) },
    })
    expect(connections()).toBe(1)
  })

  test('leaves the socket closed', async () => {
    const closed = createLatch()
    const { url } = await target((socket) => socket.on('close', () => closed.open()))
    expect(await caller.call(url, { timeoutMs: 100 })).toMatchObject({ reason: 'timeout' })
    await closed.reached
  })
})

describe('bodies', () => {
  test('an endless one is cut off and counts as answered', async () => {
    const closed = createLatch()
    const { url } = await target((socket) => {
      socket.on('close', () => closed.open())
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const chunk = `10000\r\n${'a'.repeat(0x1_0000)}\r\n`
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      }
      socket.on('drain', pour)
      pour()
    })
    const result = await caller.call(url)
    expect(result).toMatchObject({ kind: 'answered', status: 200, bodyTruncated: true })
    expect(result.kind === 'answered' && result.body.length).toBe(16 * 1024)
    await closed.reached
  })

  test('one between the limits is read to its end, and the connection lives on', async () => {
    const inspected = 256 * 1024
    const body = `${'b'.repeat(inspected - 5)}grüße${'b'.repeat(50 * 1024)}`
    const bytes = Buffer.from(body)
    const { url, connections } = await target((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n${body}`)
    })
    for (let round = 0; round < 2; round += 1) {
      const result = await caller.call(url, { sought: ['bgr', 'grü', 'grüß', 'never'] })
      expect(result).toMatchObject({
        kind: 'answered',
        bodyTruncated: true,
        // The bound lies within the ß.
        found: new Set(['bgr', 'grü']),
        body: bytes.subarray(0, 16 * 1024),
      })
    }
    expect(connections()).toBe(1)
  })

  test('a compressed one is kept as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    const { url, received } = await target((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.write(bomb)
    })
    const result = await caller.call(url)
    expect(result).toMatchObject({ kind: 'answered', bodyTruncated: true, body: bomb.subarray(0, 16 * 1024) })
    expect(received()).toContain('accept-encoding: identity\r\n')
  })

  test('a redirect is an answer and is not followed', async () => {
    const elsewhere = await target((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    const { url } = await target((socket) => {
      socket.write(
        `HTTP/1.1 307 Temporary Redirect\r\nLocation: ${elsewhere.url}\r\nContent-Length: 0\r\n\r\n`,
      )
    })
    expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
      kind: 'answered',
      status: 307,
      headers: [
        ['Location', elsewhere.url],
        ['Content-Length', '0'],
      ],
    })
    expect(elsewhere.connections()).toBe(0)
  })
})
