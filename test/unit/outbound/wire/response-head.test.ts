import { describe, expect, test } from 'vitest'
import { KEEP_ALIVE_MS, KEEP_ALIVE_MS_MAX } from '../../../../src/outbound/bounds.ts'
import { parseResponseHead } from '../../../../src/outbound/wire/response-head.ts'

function parse(...headers: string[]) {
  return parseResponseHead(['HTTP/1.1 200 OK', ...headers].join('\r\n'))
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

  test('that go on in the next line become one', () => {
    expect(parse('A: b', ' c', '\t d', 'E: f').headers).toEqual([
      ['A', 'b c d'],
      ['E', 'f'],
    ])
  })

  test.each([
    'no colon',
    ': no name',
    'A : space before the colon',
    'A\u0000: b',
    'A: b\u0000',
    'A: b\rc',
    'A: \u007f',
    ' goes on with nothing',
  ])('%j is refused', (line) => {
    expect(() => parse(line)).toThrow('not valid HTTP/1.1')
  })
})

describe('the status line', () => {
  test.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.0 599 \u00e9 b', 599],
    ['HTTP/1.1 999 x', 999],
  ])('%j has the status %i', (line, status) => {
    expect(parseResponseHead(line).status).toBe(status)
  })

  test.each([
    'HTTP/1.2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 099 x',
    'http/1.1 200 OK',
    'HTTP/1.1 200 \u0001',
  ])('%j is refused', (line) => {
    expect(() => parseResponseHead(line)).toThrow('not valid HTTP/1.1')
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
  ])('%j: %s', (headers, bodyEnd) => {
    expect(parse(...headers).bodyEnd).toBe(bodyEnd)
  })

  test.each(['204 No Content', '304 Not Modified'])('%s has no body', (status) => {
    expect(parseResponseHead(`HTTP/1.1 ${status}\r\nContent-Length: 7`).bodyEnd).toBe(0)
  })

  test.each([
    [['Content-Length: 7', 'Content-Length: 7']],
    [['Content-Length: 7, 7']],
    [['Content-Length: -1']],
    [['Content-Length: 1e3']],
    [['Content-Length:']],
    [[`Content-Length: ${'9'.repeat(16)}`]],
    [['Content-Length: 7', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: chunked, gzip']],
    [['Transfer-Encoding: chunked, chunked']],
  ])('%j is refused', (headers) => {
    expect(() => parse(...headers)).toThrow('not valid HTTP/1.1')
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
    expect(parseResponseHead(`HTTP/1.0 200 OK\r\n${headers}`).keepAliveMs).toBe(keepAliveMs)
  })

  test('however long the list of options is', () => {
    const options = Array.from({ length: 2_000 }, () => 'x').join(',')
    expect(parse(LENGTH, `Connection: ${options},close`).keepAliveMs).toBe(0)
  })
})
