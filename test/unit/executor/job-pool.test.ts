import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJobPool } from '../../../src/executor/job-pool.ts'

test('grants what is free and no more', () => {
  const pool = createJobPool(10)
  expect(pool.reserve(7)).toBe(7)
  expect(pool.reserve(7)).toBe(3)
  expect(pool.reserve(7)).toBe(0)
  expect(pool.busy).toBe(10)
})

test('released slots are granted again', () => {
  const pool = createJobPool(3)
  pool.reserve(3)
  pool.release(2)
  expect(pool.busy).toBe(1)
  expect(pool.reserve(5)).toBe(2)
})

test('tells every listener of a release, after it', () => {
  const pool = createJobPool(2)
  const seen: string[] = []
  pool.onRelease(() => seen.push(`a${pool.busy}`))
  pool.onRelease(() => seen.push(`b${pool.busy}`))
  pool.reserve(2)
  expect(seen).toEqual([])
  pool.release(1)
  expect(seen).toEqual(['a1', 'b1'])
})

test('a release of more than was reserved is a defect', () => {
  const pool = createJobPool(2)
  pool.reserve(1)
  expect(() => pool.release(2)).toThrow('more slots were released than reserved')
})

test('busy is what was granted and not released, within the slots, in every order', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 50 }),
      (slots, moves) => {
        const pool = createJobPool(slots)
        let granted = 0
        for (const move of moves) {
          if (move >= 0) granted += pool.reserve(move)
          else {
            const count = Math.min(-move, granted)
            pool.release(count)
            granted -= count
          }
          expect(pool.busy).toBe(granted)
          expect(pool.busy).toBeLessThanOrEqual(slots)
        }
      },
    ),
  )
})
