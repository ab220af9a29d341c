import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KEEP_ALIVE_MS, KEEP_ALIVE_MS_MAX } from '../../../../src/outbound/bounds.ts'
import { parseResponseHead } from '../../../../src/outbound/wire/parse-head.ts'

function parse(...headers: string[]) {
  return parseResponseHead(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n'))
}

function parseLine(line: string) {
  return parseResponseHead(`${line}\r\n\r\n`)
}

describe('headers', () => {
  test('keep their order, spelling and repetition, and lose the white space around values', () => {
    const { headers } = parse(
      'X-Ab:1',
      'set-cookie: a=b; c',
      'Set-Cookie:\t d \t',
      'Empty:',
      'L: \u00e9\u00a0',
    )
    expect(headers).toEqual([
      ['X-Ab', '1'],
      ['set-cookie', 'a=b; c'],
      ['Set-Cookie', 'd'],
      ['Empty', ''],
      ['L', '\u00e9\u00a0'],
    ])
  })

  test('in UTF-8 are decoded, others are taken for Latin-1', () => {
    const bytes = (text: string) => Buffer.from(text).toString('latin1')
    const kept = [
      ['A', 'grüße 😀'],
      ['B', '\u00e9'],
    ]
    expect(parse(`A: ${bytes('grüße 😀')}`, 'B: \u00e9').headers).toEqual(kept)
    expect(parse('x', `A: ${bytes('grüße 😀')}`, 'B: \u00e9').headers).toEqual(kept)
  })

  test('that go on in the next line become one', () => {
    expect(parse('A: b', ' c', '\t d', 'E: f').headers).toEqual([
      ['A', 'b c d'],
      ['E', 'f'],
    ])
  })

  test.each<[string, ReadonlyArray<readonly [string, string]>, string]>([
    ['no colon', [], 'Line 2 of the head has no colon.'],
    [': no name', [], 'Line 2 of the head has no valid name.'],
    ['A b: two words', [], 'Line 2 of the head has no valid name.'],
    ['A : b', [['A', 'b']], 'Line 2 of the head (A) has white space before its colon.'],
    ['A\u0000: b', [], 'Line 2 of the head has no valid name.'],
    ['A: b\u0000', [['A', 'b ']], 'Line 2 of the head (A) has a control character.'],
    ['A: b\rc', [['A', 'b c']], 'Line 2 of the head (A) has a control character.'],
    ['A: \u007f', [['A', '\u007f']], 'Line 2 of the head (A) has a control character.'],
    [' goes on with nothing', [], 'Line 2 of the head goes on with no header.'],
    [
      `${'A'.repeat(70)}: \u0001`,
      [['A'.repeat(70), '\u0001']],
      `Line 2 of the head (${'A'.repeat(64)}) has a control character.`,
    ],
  ])('%j is noted, and the headers beside it are kept', (line, kept, note) => {
    const head = parse(line, 'Content-Length: 7', 'B: c', ' d')
    expect(head).toMatchObject({ status: 200, bodyEnd: 7, keepAliveMs: 0, isEndSure: true, notes: [note] })
    expect(head.headers).toEqual([...kept, ['Content-Length', '7'], ['B', 'c d']])
  })

  test('that were dropped take along what goes on with them', () => {
    const { headers, bodyEnd } = parse(
      'Content-Length: 5',
      'bad line',
      ' 0',
      'A: b',
      'Set Cookie: c',
      ' d',
      ' e',
    )
    expect(headers).toEqual([
      ['Content-Length', '5'],
      ['A', 'b'],
    ])
    expect(bodyEnd).toBe(5)
  })

  test('of thousands of bad lines some are noted', () => {
    const { notes } = parse(...Array.from({ length: 2_000 }, () => 'x'))
    expect(notes).toHaveLength(9)
    expect(notes?.slice(-2)).toEqual(['Line 9 of the head has no colon.', 'The head has further errors.'])
  })

  test('with framing behind what is odd count all the same', () => {
    expect(parse('x', 'Transfer-Encoding : chunked')).toMatchObject({ bodyEnd: 'last_chunk', keepAliveMs: 0 })
  })
})

describe('line ends', () => {
  const LF = 'Lines of the head end in LF alone.'

  test.each([
    'HTTP/1.1 200 OK\nContent-Length: 7\nA: b\n\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 7\nA: b\r\n\r\n',
    'HTTP/1.1 200 OK\nContent-Length: 7\r\nA: b\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA: b\r\n\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA: b\n\r\n',
  ])('in %j are noted', (text) => {
    const head = parseResponseHead(text)
    expect(head).toMatchObject({ status: 200, bodyEnd: 7, keepAliveMs: 0, notes: [LF] })
    expect(head.headers).toEqual([
      ['Content-Length', '7'],
      ['A', 'b'],
    ])
  })

  test('of the sound kind give a head without notes', () => {
    expect(parse('Content-Length: 7').notes).toBeNull()
  })
})

test('a head whose status line can be read is never refused, whatever follows it', () => {
  const line = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
  const lineEnd = fc.constantFrom('\r\n', '\n')
  const lines = fc.array(fc.tuple(line, lineEnd), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lineEnd, (given, last) => {
      const whole = given.filter(([text]) => !text.includes('\n') && text.replace(/\r$/, '') !== '')
      const text = `HTTP/1.1 503 x\r\n${whole.map(([one, end]) => one + end).join('')}${last}`
      const head = parseResponseHead(text)
      expect(head.status).toBe(503)
      expect(head.headers.every(([name]) => /^[^\s:]+$/.test(name))).toBe(true)
      if (head.notes !== null) expect(head.keepAliveMs).toBe(0)
    }),
  )
})

describe('the status line', () => {
  test.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.0 599 \u00e9 b', 599],
    ['HTTP/1.1 999 x', 999],
  ])('%j has the status %i', (line, status) => {
    expect(parseLine(line).status).toBe(status)
  })

  test.each([
    'HTTP/1.2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 099 x',
    'http/1.1 200 OK',
  ])('%j is refused', (line) => {
    expect(() => parseLine(line)).toThrow('not valid HTTP/1.1')
  })

  test('with a control character is noted', () => {
    expect(parseLine('HTTP/1.1 200 \u0001')).toMatchObject({
      status: 200,
      keepAliveMs: 0,
      notes: ['The status line has a control character.'],
    })
  })
})

describe('the end of the body', () => {
  test.each<[string[], number | string]>([
    [['Content-Length: 7'], 7],
    [['CONTENT-LENGTH: 0'], 0],
    [['Transfer-Encoding: chunked'], 'last_chunk'],
    [['Transfer-Encoding: gzip, Chunked'], 'last_chunk'],
    [['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'], 'last_chunk'],
    [['Transfer-Encoding: gzip'], 'connection'],
    [[], 'connection'],
    [['Content-Length: 7', 'Content-Length: 7'], 7],
    [['Content-Length: 7, 7'], 7],
    [['Content-Length: 7 ,\t07'], 7],
  ])('%j: %s', (headers, bodyEnd) => {
    expect(parse(...headers)).toMatchObject({ bodyEnd, isEndSure: true, notes: null })
  })

  test.each(['204 No Content', '304 Not Modified'])('%s has no body', (status) => {
    expect(parseLine(`HTTP/1.1 ${status}\r\nContent-Length: 7`).bodyEnd).toBe(0)
  })

  test.each(['Content-Length: 7', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip'])(
    'a 204 with %s is not trusted',
    (header) => {
      const notes = ['A 204 announces a body, which it cannot have.']
      expect(parseLine(`HTTP/1.1 204 x\r\n${header}`)).toMatchObject({ bodyEnd: 0, keepAliveMs: 0, notes })
      expect(parseLine(`HTTP/1.1 304 x\r\n${header}`)).toMatchObject({
        keepAliveMs: KEEP_ALIVE_MS,
        notes: null,
      })
      const empty = parseLine('HTTP/1.1 204 x\r\nContent-Length: 0')
      expect(empty).toMatchObject({ keepAliveMs: KEEP_ALIVE_MS, notes: null })
    },
  )

  const SEVERAL = 'Content-Length has several values: the lowest is used.'
  const NO_NUMBER = 'Content-Length is not a number.'
  const BESIDE = 'Content-Length is sent with Transfer-Encoding and is ignored.'
  const IDENTITY = 'Transfer-Encoding names identity, which is not a coding.'

  test.each<[string[], number | string, string[]]>([
    [['Content-Length: 7', 'Transfer-Encoding: chunked'], 'last_chunk', [BESIDE]],
    [['Transfer-Encoding: gzip', 'Content-Length: 7'], 'connection', [BESIDE]],
    [['Transfer-Encoding: chunked, chunked'], 'last_chunk', ['Transfer-Encoding names chunked twice.']],
    [['Transfer-Encoding: identity', 'Content-Length: 7'], 7, [IDENTITY]],
    [['Transfer-Encoding: identity'], 'connection', [IDENTITY]],
    [['Transfer-Encoding: identity, chunked', 'Content-Length: 7'], 'last_chunk', [IDENTITY, BESIDE]],
  ])('%j: %s, with a note', (headers, bodyEnd, notes) => {
    expect(parse(...headers)).toMatchObject({ bodyEnd, isEndSure: true, keepAliveMs: 0, notes })
  })

  test.each<[string[], number | string, string]>([
    [['Content-Length: 7', 'Content-Length: 5', 'Content-Length: 6'], 5, SEVERAL],
    [['Content-Length: 5, 7'], 5, SEVERAL],
    [['Content-Length: -1'], 'connection', NO_NUMBER],
    [['Content-Length: 1e3'], 'connection', NO_NUMBER],
    [['Content-Length:'], 'connection', NO_NUMBER],
    [[`Content-Length: ${'9'.repeat(16)}`], 'connection', NO_NUMBER],
    [['Content-Length: 7, x'], 7, NO_NUMBER],
    [['Transfer-Encoding: chunked, gzip'], 'connection', 'Transfer-Encoding names a coding after chunked.'],
  ])('%j: %s perhaps, with a note', (headers, bodyEnd, note) => {
    expect(parse(...headers)).toMatchObject({ bodyEnd, isEndSure: false, keepAliveMs: 0, notes: [note] })
  })
})

describe('the connection may idle', () => {
  const LENGTH = 'Content-Length: 0'

  test.each<[string[], number]>([
    [[LENGTH], KEEP_ALIVE_MS],
    [[LENGTH, 'Connection: close'], 0],
    [[LENGTH, 'Connection: x, CLOSE'], 0],
    [[LENGTH, 'Connection: keep-alive', 'Connection: close'], 0],
    [[LENGTH, 'Keep-Alive: timeout=3'], 2_000],
    [[LENGTH, 'keep-alive: max=5, timeout = 3'], 2_000],
    [[LENGTH, 'Keep-Alive: timeout=1'], 0],
    [[LENGTH, 'Keep-Alive: timeout=0'], 0],
    [[LENGTH, 'Keep-Alive: timeout=600'], KEEP_ALIVE_MS_MAX],
    [[LENGTH, 'Keep-Alive: xtimeout=3'], KEEP_ALIVE_MS],
    [[], 0],
  ])('%j: %i ms', (headers, keepAliveMs) => {
    expect(parse(...headers).keepAliveMs).toBe(keepAliveMs)
  })

  test.each<[string, number]>([
    ['Content-Length: 0', 0],
    ['Connection: keep-alive\r\nContent-Length: 0', KEEP_ALIVE_MS],
    ['Connection: keep-alive\r\nTransfer-Encoding: chunked', 0],
  ])('of HTTP/1.0, %j: %i ms', (headers, keepAliveMs) => {
    expect(parseLine(`HTTP/1.0 200 OK\r\n${headers}`).keepAliveMs).toBe(keepAliveMs)
  })

  test('however long the list of options is', () => {
    const options = Array.from({ length: 2_000 }, () => 'x').join(',')
    expect(parse(LENGTH, `Connection: ${options},close`).keepAliveMs).toBe(0)
  })
})
