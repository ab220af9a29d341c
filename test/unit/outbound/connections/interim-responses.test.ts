import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { INTERIM_RESPONSES_MAX } from '../../../../src/outbound/bounds.ts'
import { InterimFilter } from '../../../../src/outbound/connections/interim-responses.ts'

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nab'
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0 100\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: close\r\nContent-Length: 9\r\n\r\n',
  'HTTP/1.1 199 \r\nX-A: \r\r\nX-B: b\r\n\r\n',
]

function passed(chunks: readonly string[]): string {
  const filter = new InterimFilter()
  filter.begin()
  return chunks.map((chunk) => filter.pass(Buffer.from(chunk, 'latin1'))?.toString('latin1') ?? '').join('')
}

describe('1xx answers', () => {
  test.each(INTERIM)('%j goes, cut at any byte, and the final answer stays whole', (interim) => {
    const sent = interim + FINAL
    for (let cut = 1; cut < sent.length; cut += 1) {
      expect(passed([sent.slice(0, cut), sent.slice(cut)]), `cut at ${cut}`).toBe(FINAL)
    }
    expect(passed([...sent])).toBe(FINAL)
  })

  test('go in any number and order, cut anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...INTERIM), { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 20 }),
        (interim, lengths) => {
          const sent = interim.join('') + FINAL
          const chunks: string[] = []
          let at = 0
          for (const length of lengths) chunks.push(sent.slice(at, (at += length)))
          expect(passed([...chunks, sent.slice(at)])).toBe(FINAL)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('go up to the bound', () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\n\r\n'
    expect(passed([hint.repeat(INTERIM_RESPONSES_MAX) + FINAL])).toBe(FINAL)
    expect(() => passed([hint.repeat(INTERIM_RESPONSES_MAX + 1)])).toThrow('too many 1xx')
  })

  test('may have as large headers as a final one, and no larger', () => {
    const hint = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nX: ${'a'.repeat(bytes)}\r\n\r\n`
    expect(passed([hint(16_000), FINAL])).toBe(FINAL)
    expect(() => passed([...hint(16_400)])).toThrow('larger than 16 KiB')
  })

  test('are not looked for outside the time between a request and its answer', () => {
    const filter = new InterimFilter()
    const bytes = Buffer.from(INTERIM[0] ?? '')
    expect(filter.pass(bytes)).toBe(bytes)
    filter.begin()
    expect(filter.pass(Buffer.from(FINAL))?.toString()).toBe(FINAL)
    expect(filter.pass(bytes)).toBe(bytes)
  })

  test('are counted for each request anew', () => {
    const filter = new InterimFilter()
    const hint = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(INTERIM_RESPONSES_MAX))
    for (let request = 0; request < 3; request += 1) {
      filter.begin()
      expect(filter.pass(hint)).toBeNull()
      expect(filter.pass(Buffer.from(FINAL))?.toString()).toBe(FINAL)
    }
  })

  test('that end their lines as no answer may are refused', () => {
    expect(() => passed([`HTTP/1.1 103 Early Hints\n\n${FINAL}`])).toThrow('not valid HTTP/1.1')
  })

  test('that switch protocols are refused', () => {
    for (const sent of ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'HTTP/1.1 101\r\n']) {
      expect(() => passed([...sent])).toThrow('The target switched protocols (101)')
    }
  })
})

test.each([
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 1000 No\r\n\r\n',
  'SSH-2.0-OpenSSH\r\n',
  '\r\nHTTP/1.1 100',
  'H1',
])('%j is left as it is, cut at any byte', (sent) => {
  for (let cut = 1; cut < sent.length; cut += 1) {
    expect(passed([sent.slice(0, cut), sent.slice(cut)])).toBe(sent)
  }
})
