import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  memberValue,
  ObjectScan,
  scanJsonObject,
  scanJsonObjectSliced,
} from '../../../../src/contract/fields/json-members.ts'
import { cpuMsOf } from '../../../support/cpu-ms.ts'

const scanWhole = (text: string) => scanJsonObject(text, () => false)

/** What `JSON.parse` says of a text: an object, other JSON, or nothing. */
function judge(text: string): 'object' | 'other' | 'malformed' {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'object' : 'other'
  } catch {
    return 'malformed'
  }
}

/** Texts that are nearly JSON: a JSON text with one stretch replaced. */
const nearlyJson = fc
  .tuple(
    fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, 1)),
    fc.nat(),
    fc.nat(3),
    fc.constantFrom(
      '',
      ',',
      ':',
      '"',
      '{',
      '}',
      '[',
      ']',
      '\\',
      '0',
      '-',
      '.',
      'e',
      't',
      ' ',
      '\n',
      '\u0001',
      '\u00a0',
    ),
  )
  .map(([text, at, cut, put]) => {
    const start = at % (text.length + 1)
    return text.slice(0, start) + put + text.slice(start + cut)
  })

const pieces = fc
  .array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"a"',
      '"\\u00e9"',
      ':',
      ',',
      '1',
      '-0.5e+3',
      'true',
      'null',
      ' ',
      '\r\n',
      '"__proto__"',
      '"\\x"',
      '1.',
      '+1',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

describe('the scanner agrees with JSON.parse', () => {
  test('on what is JSON', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyJson, pieces, fc.string()), (text) => {
        const scan = scanWhole(text)
        expect(scan.kind).toBe(judge(text))
        if (scan.kind === 'malformed') {
          // What stands before the position is no mistake yet: alone it is JSON, or only ends early.
          const before = scanWhole(text.slice(0, scan.position))
          if (before.kind === 'malformed') expect(before.position).toBe(scan.position)
        }
      }),
      { numRuns: 4_000 },
    )
  })

  test('on the members, the later of two, and their values', () => {
    const entry = fc.tuple(
      fc.oneof(fc.string(), fc.constantFrom('a', '__proto__', 'constructor')),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(fc.array(entry), fc.constantFrom('', ' ', '\n\t'), (entries, space) => {
        const text = `{${space}${entries
          .map(([name, value]) => `${JSON.stringify(name)}${space}:${space}${JSON.stringify(value)}${space}`)
          .join(`,${space}`)}}`
        const scan = scanWhole(text)
        if (scan.kind !== 'object') throw new Error(`not an object: ${text}`)
        const parsed = JSON.parse(text) as Record<string, unknown>
        expect([...scan.members.keys()].sort()).toEqual(Object.keys(parsed).sort())
        for (const [name, member] of scan.members) {
          expect(memberValue(text, member)).toEqual(Object.getOwnPropertyDescriptor(parsed, name)?.value)
        }
      }),
      { numRuns: 500 },
    )
  })
})

test.each([
  ['1', 0, 1],
  ['"[["', 0, 1],
  ['{}', 1, 1],
  ['[]', 1, 1],
  ['[[],{}]', 2, 3],
  ['[1,2,3]', 1, 4],
  ['{"a":[{"b":1}],"c":{}}', 3, 5],
])('%s is %i levels deep and holds %i values', (source, depth, values) => {
  const scan = scanWhole(`{"before":[1],"x":${source}}`)
  expect(scan.kind === 'object' && scan.members.get('x')).toMatchObject({ depth, values })
})

test('a scan that stops anywhere and goes on finds the same', () => {
  const text = fc.oneof(
    nearlyJson,
    pieces,
    fc.string(),
    fc.constantFrom(' {"a\\"\\u00e9":"b\\\\"} ', '{"a":1} x'),
  )
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (given, steps) => {
      const scan = new ObjectScan(given, () => false)
      for (let [i, until] = [0, 0]; !scan.advance((until += steps[i % steps.length] ?? 1)); i += 1) continue
      expect(scan.end).toEqual(scanWhole(given))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['a string', `"${'x'.repeat(100_000)}"`],
  ['white space', `${' '.repeat(100_000)}1`],
  ['escapes', `"${String.raw`\n`.repeat(50_000)}"`],
  ['nesting', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['values', `[${Array(50_000).fill('1').join()}]`],
])('the scan of 100,000 characters of %s stops a dozen times', (_what, value) => {
  const scan = scanJsonObjectSliced(`{"x":${value}}`, () => false)
  let stops = 0
  let step = scan.next()
  for (; step.done !== true; step = scan.next()) stops += 1
  expect(step.value.kind).toBe('object')
  expect(stops).toBeGreaterThanOrEqual(12)
})

test('whoever has seen enough reads no further, whatever follows', () => {
  const seen: Array<[string, boolean]> = []
  const scan = scanJsonObject('{"a":1,"b":2,"a":3,"c":4 and no JSON', (name, isRepeated) => {
    seen.push([name, isRepeated])
    return isRepeated
  })
  expect(seen).toEqual([
    ['a', false],
    ['b', false],
    ['a', true],
  ])
  expect(scan).toMatchObject({ kind: 'stopped', name: 'a' })
})

test('a mebibyte of anything is scanned in well under a second of CPU', () => {
  const size = 1 << 20
  for (const piece of ['[', '{"a":', '"', '\\', '"\\', '1', '-', ' ', '[],', '{"a":1},', '\u00e9']) {
    const text = `{"x":${piece.repeat(size / piece.length)}`
    expect(
      cpuMsOf(() => scanWhole(text)),
      piece,
    ).toBeLessThan(500)
  }
})
