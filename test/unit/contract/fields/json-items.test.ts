import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ItemBounds,
  type JsonItemsScan,
  scanJsonItems,
} from '../../../../src/contract/fields/json-items.ts'

const BOUNDS: ItemBounds = { items: 20, characters: 200, isEnough: () => () => false }

function scan(text: string, change: Partial<ItemBounds> = {}): JsonItemsScan {
  const work = scanJsonItems(text, 'jobs', { ...BOUNDS, ...change })
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 1.5, -0, 'a"\\\n', '}]', ''),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b"', 'jobs'), tie('any'), { maxKeys: 3 }),
  ),
})).any
const space = fc.constantFrom('', ' ', '\n\t ')

describe('the items of a list', () => {
  test('are those that JSON.parse finds, in their order', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), space, (items, gap) => {
        const inner = items.map((item) => gap + JSON.stringify(item)).join(`${gap},`)
        const read = scan(`${gap}{${gap}"jobs"${gap}:${gap}[${inner}${gap}]${gap}}${gap}`)
        expect(read.kind).toBe('items')
        if (read.kind !== 'items') return
        const found = read.items.map(({ text, scan: members }) => {
          if (members === null) return 'no object'
          if (members.kind !== 'object') return members
          return JSON.parse(text.slice(0, members.end)) as unknown
        })
        const isObject = (item: unknown) =>
          typeof item === 'object' && item !== null && !Array.isArray(item) ? item : 'no object'
        expect(found).toEqual(items.map((item) => JSON.parse(JSON.stringify(isObject(item))) as unknown))
      }),
    )
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
    const work = scanJsonItems('{"jobs":[1,2,3]}', 'jobs', BOUNDS)
    const steps = [work.next(), work.next(), work.next(), work.next()]
    expect(steps.map(({ done }) => done)).toEqual([false, false, false, true])
  })

  test('are measured to their end also when their members are not', () => {
    const read = scan('{"jobs":[{"a":1,"b":2},{"c":3}]}', { isEnough: () => (name) => name === 'a' })
    expect(read).toMatchObject({
      kind: 'items',
      items: [{ scan: { kind: 'stopped', name: 'a' } }, { scan: { kind: 'object', end: 7 } }],
    })
  })
})
