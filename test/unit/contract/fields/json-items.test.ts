import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ItemBounds,
  type JsonItem,
  type JsonItemsScan,
  scanJsonItems,
  piecesOfItems,
} from '../../../../src/contract/fields/json-items.ts'
import { memberValue } from '../../../../src/contract/fields/json-members.ts'

const BOUNDS: ItemBounds = { items: 20, bytes: 200, isEnough: () => () => false }

function collect(text: string, change: Partial<ItemBounds> = {}): { items: JsonItem[]; scan: JsonItemsScan } {
  const bounds = { ...BOUNDS, ...change }
  const work = scanJsonItems(piecesOfItems(Buffer.from(text), bounds.bytes), 'jobs', bounds)
  const items: JsonItem[] = []
  for (;;) {
    const step = work.next()
    if (step.done === true) return { items, scan: step.value }
    if (step.value !== undefined) items.push(step.value)
  }
}

const scan = (text: string, change?: Partial<ItemBounds>): JsonItemsScan => collect(text, change).scan

function valueOf({ text, scan: members }: JsonItem): unknown {
  if (members === null) return 'no object'
  return Object.fromEntries(
    Array.from(members.members, ([name, member]) => [name, memberValue(text, member)]),
  )
}

const value = fc
  .letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 1.5, -0, 'a"\\\n', '}]', '', 'ä€\u{1f600}'),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b"', 'jobs'), tie('any'), { maxKeys: 3 }),
    ),
  }))
  .any.filter((one) => Buffer.byteLength(JSON.stringify(one)) <= BOUNDS.bytes)
const space = fc.constantFrom('', ' ', '\n\t ')
const padding = fc.integer({ min: 0, max: 500 }).map((length) => ' '.repeat(length))

describe('the items of a list', () => {
  test('are those that JSON.parse finds, in their order', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 20 }), space, padding, (items, gap, pad) => {
        const inner = items.map((item) => gap + JSON.stringify(item)).join(`${gap},`)
        // Padded, so that the items lie at every place of several pieces.
        const read = collect(`${pad}${gap}{${gap}"jobs"${gap}:${gap}[${inner}${gap}]${gap}}${pad}`)
        expect(read.scan).toEqual({ kind: 'items' })
        const isObject = (item: unknown) =>
          typeof item === 'object' && item !== null && !Array.isArray(item) ? item : 'no object'
        expect(read.items.map(valueOf)).toEqual(
          items.map((item) => JSON.parse(JSON.stringify(isObject(item))) as unknown),
        )
      }),
    )
  })

  test('are whole wherever a piece ends', () => {
    for (const item of ['12', '-1.5e+31', 'true', '"a\\n"', '{"a":12}']) {
      for (let pad = 180; pad < 220; pad += 1) {
        const read = collect(`${' '.repeat(pad)}{"jobs":[${item},${item}]}`)
        expect([item, pad, read.scan]).toEqual([item, pad, { kind: 'items' }])
        expect(read.items).toHaveLength(2)
      }
    }
  })

  test('are none of a text that is cut off anywhere', () => {
    const text = '{"jobs":[{"a": [1, "x"]}, {"b": {}}, null]}'
    for (let length = 1; length < text.length; length += 1) {
      const { kind } = scan(text.slice(0, length))
      expect([length, kind]).toEqual([length, length === 8 ? 'no_array' : 'malformed'])
    }
  })

  test('are refused at the first mistake', () => {
    expect(scan('')).toEqual({ kind: 'malformed', position: 0 })
    expect(scan(' [1]')).toEqual({ kind: 'other', position: 1 })
    expect(scan('{}')).toEqual({ kind: 'absent' })
    expect(scan('{"jobs":{}}')).toEqual({ kind: 'no_array' })
    expect(scan('{"job":[{}]}')).toEqual({ kind: 'unexpected', name: 'job' })
    expect(scan('{"jobs":[{}],"jobs":[]}')).toEqual({ kind: 'unexpected', name: 'jobs' })
    expect(scan('{"jobs":[{},]}')).toEqual({ kind: 'malformed', position: 12 })
    expect(scan('{"jobs":[{} {}]}')).toEqual({ kind: 'malformed', position: 12 })
    expect(scan('{"jobs":[{}]} x')).toEqual({ kind: 'malformed', position: 14 })
    expect(scan('{"jobs":[{"a" 1}]}')).toEqual({ kind: 'malformed', position: 14 })
  })

  test('are bounded in number and in length, each by itself', () => {
    const of = (items: readonly unknown[]) => `{"jobs":${JSON.stringify(items)}}`
    expect(scan(of(Array(20).fill({})))).toMatchObject({ kind: 'items' })
    expect(scan(of(Array(21).fill({})))).toEqual({ kind: 'too_many' })
    const exact = 'x'.repeat(200 - 8)
    expect(scan(of([{ a: exact }, { a: exact }, { a: exact }]))).toMatchObject({ kind: 'items' })
    for (const long of [{ a: `${exact}x` }, { a: exact.repeat(9) }, [exact.repeat(2)], exact.repeat(3)]) {
      expect(scan(of([{}, long, {}]))).toEqual({ kind: 'too_long', index: 1 })
      expect(scan(of([{}, long]))).toEqual({ kind: 'too_long', index: 1 })
    }
  })

  test('have a turn for others after each', () => {
    const work = scanJsonItems(piecesOfItems(Buffer.from('{"jobs":[1,2,3]}'), 200), 'jobs', BOUNDS)
    const steps = [work.next(), work.next(), work.next(), work.next()]
    expect(steps.map(({ done }) => done)).toEqual([false, false, false, true])
  })

  test('are measured to their end also when their members are not', () => {
    const read = collect('{"jobs":[{"a":1,"b":2},{"c":3}]}', { isEnough: () => (name) => name === 'a' })
    expect(read.items.map(({ scan: members }) => members?.kind)).toEqual(['stopped', 'object'])
    expect(read.scan).toEqual({ kind: 'items' })
  })

  test('are bounded by their bytes, not their characters', () => {
    // The first is as long as may be: 198 bytes in 102 characters, and two quotes.
    expect(scan(`{"jobs":["${'ä'.repeat(99)}"]}`)).toEqual({ kind: 'items' })
    expect(scan(`{"jobs":["${'ä'.repeat(100)}"]}`)).toEqual({ kind: 'too_long', index: 0 })
  })

  test('have a turn for others while white space is skipped, and a name may be as long as it likes', () => {
    const gap = ' '.repeat(5_000)
    expect(collect(`{"jobs":[1${gap}]}`).items).toHaveLength(1)
    const work = scanJsonItems(piecesOfItems(Buffer.from(`{"jobs":[1${gap}]}`), 200), 'jobs', BOUNDS)
    let turns = 0
    while (work.next().done !== true) turns += 1
    expect(turns).toBeGreaterThan(20)
    expect(scan(`{"${'x'.repeat(5_000)}":1}`)).toEqual({ kind: 'unexpected', name: 'x'.repeat(100) })
  })
})
