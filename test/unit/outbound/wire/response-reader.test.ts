import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CHUNK_LINE_BYTES_MAX,
  INTERIM_RESPONSES_MAX,
  KEEP_ALIVE_MS,
} from '../../../../src/outbound/bounds.ts'
import { ResponseReader, type ResponseListener } from '../../../../src/outbound/wire/response-reader.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0 100\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: close\r\nContent-Length: 9\r\n\r\n',
  'HTTP/1.1 199 \r\nX-A: \r\r\nX-B: b\r\n\r\n',
]

/** What a listener heard, in order. */
class Heard implements ResponseListener {
  readonly events: string[] = []
  body = ''
  keepAliveMs: number | null = null
  note: string | null = null

  onResponseBegin(): void {
    this.events.push('begin')
  }
  onResponseHead({ status }: { readonly status: number }): void {
    this.events.push(String(status))
  }
  onResponseBody(bytes: Buffer): void {
    this.body += bytes.toString('latin1')
  }
  onResponseEnd(keepAliveMs: number, note: string | null): void {
    this.keepAliveMs = keepAliveMs
    this.note = note
    this.events.push('end')
  }
  onResponseCut(note: string): void {
    this.note = note
    this.events.push('cut')
  }
}

function read(pieces: readonly string[]): Heard {
  const reader = new ResponseReader()
  const heard = new Heard()
  reader.begin(heard)
  for (const piece of pieces) reader.read(Buffer.from(piece, 'latin1'))
  return heard
}

/** Cut in two at each place, and into single bytes. */
function cutsOf(text: string): ReadonlyArray<readonly string[]> {
  const cuts = Array.from(text, (_byte, at) =>
    [text.slice(0, at), text.slice(at)].filter((part) => part !== ''),
  )
  return [...cuts, [...text]]
}

describe('a response, cut anywhere', () => {
  test.each<[string, string, string]>([
    ['with a length', OK, 'ok'],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['with a body of nothing', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ''],
    [
      'that was not modified, with the length of what it would have had',
      'HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n',
      '',
    ],
    ['in chunks', `${CHUNKED}3\r\nabc\r\nA \r\n0123456789\r\n0\r\n\r\n`, 'abc0123456789'],
    [
      'in chunks with extensions and trailers',
      `${CHUNKED}1;a="b"\r\nx\r\n00\r\nX-T: 1\r\nX-U: 2\r\n\r\n`,
      'x',
    ],
    [
      'in chunks whose sizes begin with zeros',
      `${CHUNKED}${'0'.repeat(40)}2\r\nok\r\n${'0'.repeat(20)}\r\n\r\n`,
      'ok',
    ],
    ['in chunks that hold line ends', `${CHUNKED}4\r\n\r\n\r\n\r\n0\r\n\r\n`, '\r\n\r\n'],
    ...INTERIM.map((interim): [string, string, string] => [
      `after ${JSON.stringify(interim)}`,
      interim + OK,
      'ok',
    ]),
  ])('%s', (_name, response, body) => {
    for (const pieces of cutsOf(response)) {
      const heard = read(pieces)
      expect(heard.body, JSON.stringify(pieces)).toBe(body)
      expect(heard.events.filter((event) => event !== 'begin')).toEqual(
        [response.slice(9, 12), 'end'].with(0, heard.events[1] ?? ''),
      )
      expect(heard.events[0]).toBe('begin')
      expect(heard.events).toHaveLength(3)
      expect(heard.keepAliveMs).toBe(KEEP_ALIVE_MS)
    }
  })

  test('and 1xx responses before it, in any number and order', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...INTERIM), { maxLength: 6 }), cuts, (interims, places) => {
        const text = interims.join('') + OK
        const at = [
          0,
          ...places.filter((place) => place < text.length).toSorted((a, b) => a - b),
          text.length,
        ]
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
        const heard = read(pieces)
        expect(heard.events).toEqual(['begin', '200', 'end'])
        expect(heard.body).toBe('ok')
      }),
    )
  })

  test('begins with its own first bytes, not with those of a 1xx', () => {
    expect(read(['HTTP/1.1 103 Early Hints\r\n']).events).toEqual([])
    expect(read([`${INTERIM[0] ?? ''}HTTP/1.1 `]).events).toEqual([])
    expect(read([`${INTERIM[0] ?? ''}HTTP/1.1 2`]).events).toEqual(['begin'])
  })
})

test('a body without a length ends with the connection', () => {
  const reader = new ResponseReader()
  const heard = new Heard()
  reader.begin(heard)
  reader.read(Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc'))
  expect(heard.events).toEqual(['begin', '200'])
  reader.readEnd()
  expect(heard).toMatchObject({ body: 'abc', keepAliveMs: 0, events: ['begin', '200', 'end'] })
})

test.each<[string, string, string]>([
  ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab', 'ab', 'The body ended after 2 of 3 bytes.'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', '', 'The body ended after 0 of 3 bytes.'],
  [`${CHUNKED}3\r\nabc\r\n0\r\n`, 'abc', 'The body ended before its last chunk.'],
  [`${CHUNKED}3\r\na`, 'a', 'The body ended before its last chunk.'],
])('an end after %j cuts the body short', (begun, body, note) => {
  const reader = new ResponseReader()
  const heard = new Heard()
  reader.begin(heard)
  reader.read(Buffer.from(begun))
  expect(reader.isWithinBody).toBe(true)
  reader.readEnd()
  expect(heard).toMatchObject({ body, note, events: ['begin', '200', 'cut'] })
  expect([reader.isWithinBody, reader.isBusy]).toEqual([false, false])
})

test.each(['', 'HTTP/1.1 200 OK\r\nA: '])('an end after %j is too early', (begun) => {
  const reader = new ResponseReader()
  reader.begin(new Heard())
  reader.read(Buffer.from(begun))
  expect(() => reader.readEnd()).toThrow('The connection was closed before the response was complete.')
})

describe('the connection', () => {
  test.each<[string, string]>([
    ['a body with a length', `${OK}!`],
    ['the last chunk', `${CHUNKED}0\r\n\r\nH`],
    ['a head without a body', 'HTTP/1.1 204 x\r\n\r\nHTTP/1.1 200'],
  ])('is not used again when bytes follow %s', (_name, text) => {
    expect(read([text])).toMatchObject({ keepAliveMs: 0, events: ['begin', expect.any(String), 'end'] })
  })

  test('serves one response after the other', () => {
    const reader = new ResponseReader()
    for (const body of ['ab', 'cd', 'ef']) {
      const heard = new Heard()
      reader.begin(heard)
      reader.read(
        Buffer.from(
          `HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n${body}\r\n0\r\n\r\n`,
        ),
      )
      expect(heard).toMatchObject({ body, keepAliveMs: KEEP_ALIVE_MS })
      expect(reader.isBusy).toBe(false)
    }
  })
})

test('a listener that stops within a body hears nothing more', () => {
  const reader = new ResponseReader()
  class Stops extends Heard {
    override onResponseBody(bytes: Buffer): void {
      super.onResponseBody(bytes)
      reader.stop()
    }
  }
  for (const response of [
    `${CHUNKED}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`,
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na',
  ]) {
    const heard = new Stops()
    reader.begin(heard)
    reader.read(Buffer.from(response))
    expect(heard).toMatchObject({ body: 'a', events: ['begin', '200'] })
  }
})

const INVALID = 'The response is not valid HTTP/1.1.'

test.each<[string, string, string]>([
  ['another protocol, from its first byte', 'S', INVALID],
  ['another version', 'HTTP/2', INVALID],
  ['an empty line first', `\r\n${OK}`, INVALID],
  ['a 1xx of another form', 'HTTP/1.1 1x0 a\r\n\r\n', INVALID],
  [
    'a head that is too large',
    `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(64 * 1024)}`,
    'The response headers are larger than 64 KiB.',
  ],
  [
    'a head that is too large, with its end',
    `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(64 * 1024)}\r\n\r\n`,
    'The response headers are larger than 64 KiB.',
  ],
  [
    'too many 1xx',
    'HTTP/1.1 103 x\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX + 1),
    'The target sent too many 1xx responses.',
  ],
  [
    'a change of protocol',
    'HTTP/1.1 101 x\r\n\r\n',
    'The target switched protocols (101) without being asked.',
  ],
])('%s is refused', (_name, text, message) => {
  expect(() => read([text])).toThrow(message)
  expect(() => read([...text])).toThrow(message)
})

const NO_SIZE = 'The body was given up: the size of a chunk is not a hexadecimal number.'
const LONG_LINE = 'The body was given up: a line around the chunks is too long.'

test.each<[string, string, string]>([
  ['a chunk without a size', 'ok\r\n\r\n', NO_SIZE],
  ['a chunk of a size that is no number', 'ok\r\n0x1\r\n', NO_SIZE],
  ['a chunk of a size beyond all numbers', `ok\r\n${'1'.repeat(14)}\r\n`, NO_SIZE],
  [
    'a chunk that is longer than its size',
    'okno\r\n',
    'The body was given up: a chunk is longer than its size.',
  ],
  ['a line of a chunk without an end', `ok\r\n1;${'a'.repeat(CHUNK_LINE_BYTES_MAX)}`, LONG_LINE],
  [
    'trailers without an end',
    `ok\r\n0\r\n${`X: ${'a'.repeat(1_000)}\r\n`.repeat(66)}`,
    'The body was given up: the trailer is too long.',
  ],
  [
    'more bytes around its chunks than a body may have',
    `ok\r\n${`1;${'a'.repeat(4_000)}\r\na\r\n`.repeat(530)}`,
    'The body was given up: the chunks have too many bytes around them.',
  ],
])('behind %s nothing is read', (_name, text, note) => {
  for (const pieces of [[CHUNKED, `2\r\n${text}`], [...`${CHUNKED}2\r\n${text}`]]) {
    const heard = read(pieces)
    expect(heard).toMatchObject({ note, keepAliveMs: null, events: ['begin', '200', 'cut'] })
    expect(heard.body.slice(0, 2)).toBe('ok')
  }
})

test('a body in chunks whose lines end in LF alone is whole, and noted', () => {
  for (const pieces of cutsOf(`${CHUNKED}2\nok\n0\n\n`)) {
    expect(read(pieces), JSON.stringify(pieces)).toMatchObject({
      body: 'ok',
      note: 'Lines around the chunks end in LF alone.',
      keepAliveMs: 0,
      events: ['begin', '200', 'end'],
    })
  }
})

test('a line of one character ends no head', () => {
  for (const pieces of cutsOf('HTTP/1.1 200 OK\r\nx\r\nContent-Length: 2\r\n\r\nok')) {
    expect(read(pieces)).toMatchObject({ body: 'ok', events: ['begin', '200', 'end'] })
  }
})

test('a note is of one response alone', () => {
  const reader = new ResponseReader()
  for (const [end, note] of [
    ['\n', 'Lines around the chunks end in LF alone.'],
    ['\r\n', null],
  ] as const) {
    const heard = new Heard()
    reader.begin(heard)
    reader.read(Buffer.from(`${CHUNKED}2${end}ok\r\n0\r\n\r\n`))
    expect(heard.note).toBe(note)
  }
})

test('a head whose lines end in LF alone, cut anywhere', () => {
  for (const pieces of cutsOf('HTTP/1.1 200 OK\nContent-Length: 2\n\nok')) {
    expect(read(pieces)).toMatchObject({ body: 'ok', keepAliveMs: 0, events: ['begin', '200', 'end'] })
  }
})

test('the longest head and the most 1xx that are allowed pass', () => {
  const start = 'HTTP/1.1 204 x\r\nA: '
  const head = `${start}${'a'.repeat(64 * 1024 - start.length - 4)}\r\n\r\n`
  expect(read([head]).events).toEqual(['begin', '204', 'end'])
  expect(read([...head]).events).toEqual(['begin', '204', 'end'])
  expect(read(['HTTP/1.1 103 x\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX) + OK]).body).toBe('ok')
})
