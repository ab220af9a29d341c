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
    ['garbage', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['headers of 70 KB', (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`)],
    ['6,000 headers', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X-Aaaa: bbbb\r\n'.repeat(6_000)}\r\n`)],
  ])('%s', async (_name, serve) => {
    const { url, connections } = await target(serve)
    expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
      kind: 'failed',
      reason: 'connection_error',
    })
    expect(connections()).toBe(1)
  })

  test('a reset after the whole body changes nothing', async () => {
    const { url } = await target((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => setImmediate(reset, socket))
    })
    expect(await caller.call(url)).toMatchObject({ kind: 'answered', status: 200, bodyTruncated: false })
  })
})

describe('an answer that HTTP/1.1 does not allow counts, by its status, and its connection is closed', () => {
  const OK = 'HTTP/1.1 200 OK\r\n'
  const LENGTH = 'Content-Length: 2\r\n'

  test.each<[string, string, RegExp]>([
    [
      'chunks beside a length',
      `${OK}${LENGTH}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      /is sent with Transfer-Encoding/,
    ],
    ['the coding identity', `${OK}Transfer-Encoding: identity\r\n${LENGTH}\r\nok`, /identity/],
    ['a coding named twice', `${OK}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, /twice/],
    ['lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', /LF alone/],
    ['chunk lines that end in LF', `${OK}Transfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n`, /LF alone/],
    ['a space before a colon', `${OK}X-Powered-By : x\r\n${LENGTH}\r\nok`, /X-Powered-By.*white space/],
    ['a line without a colon', `${OK}nonsense\r\n${LENGTH}\r\nok`, /Line 2 .*no colon/],
    ['a control character', `${OK}Set-Cookie: a=\x01\r\n${LENGTH}\r\nok`, /Set-Cookie.*control character/],
  ])('%s', async (_name, answer, note) => {
    const { url, connections } = await target((socket) => socket.write(answer, 'latin1'))
    const result = await caller.call(url, { method: 'POST', body: '{}' })
    expect(result).toMatchObject({
      kind: 'answered',
      status: 200,
      body: Buffer.from('ok'),
      isBodyCutShort: false,
      protocolNotes: [expect.stringMatching(note)],
    })
    await caller.call(url)
    expect(connections()).toBe(2)
  })

  const RESET = 'The connection broke off before the end of the body.'

  test.each<[string, string, (socket: Socket) => void, string]>([
    [
      'an end before the length is reached',
      `${OK}Content-Length: 9\r\n\r\nok`,
      (socket) => socket.end(),
      'The body ended after 2 of 9 bytes.',
    ],
    ['a reset before the length is reached', `${OK}Content-Length: 9\r\n\r\nok`, reset, RESET],
    ['a reset of a body without a length', `${OK}\r\nok`, reset, RESET],
    [
      'an end within a chunk',
      `${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nok`,
      (socket) => socket.end(),
      'The body ended before its last chunk.',
    ],
    [
      'a chunk whose size is no number',
      `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nx\r\n`,
      () => {},
      'The body was given up: the size of a chunk is not a hexadecimal number.',
    ],
  ])('%s', async (_name, answer, then, note) => {
    const { url, connections } = await target((socket) =>
      socket.write(answer, () => setImmediate(then, socket)),
    )
    expect(await caller.call(url, { method: 'POST', body: '{}' })).toMatchObject({
      kind: 'answered',
      status: 200,
      body: Buffer.from('ok'),
      isBodyCutShort: true,
      protocolNotes: [note],
    })
    expect(connections()).toBe(1)
  })

  test('two lengths, of which the lower one counts', async () => {
    const answer = `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`
    const { url, connections } = await target((socket) => socket.write(answer))
    expect(await caller.call(url)).toMatchObject({
      kind: 'answered',
      body: Buffer.from('ok'),
      isBodyCutShort: true,
      protocolNotes: ['Content-Length has several values: the lowest is used.'],
    })
    await caller.call(url)
    expect(connections()).toBe(2)
  })

  test('a length that is no number, and no end before the deadline', async () => {
    const { url } = await target((socket) => socket.write(`${OK}Content-Length: 2x\r\n\r\nok`))
    expect(await caller.call(url, { timeoutMs: 300 })).toMatchObject({
      kind: 'answered',
      body: Buffer.from('ok'),
      isBodyCutShort: true,
      protocolNotes: ['Content-Length is not a number.', 'The body did not end in time.'],
    })
  })

  test('an answer of every allowed form has no notes, and its connection is used again', async () => {
    const { url, connections } = await target((socket, _connection, request) =>
      socket.write(
        [
          `${OK}${LENGTH}${LENGTH}\r\nok`,
          `${OK}Content-Length: 2, 2\r\n\r\nok`,
          `${OK}Transfer-Encoding: chunked\r\n\r\n0000000000000002\r\nok\r\n0\r\n\r\n`,
          `${OK}Content-Security-Policy: ${'a'.repeat(20_000)}\r\n${LENGTH}\r\nok`,
        ][request - 1] ?? '',
      ),
    )
    for (let request = 1; request <= 4; request += 1) {
      const answered = { kind: 'answered', body: Buffer.from('ok'), isBodyCutShort: false, protocolNotes: [] }
      expect(await caller.call(url)).toMatchObject(answered)
    }
    expect(connections()).toBe(1)
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
