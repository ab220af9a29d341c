import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyBudget } from '../../../src/api/body-budget.ts'

test('a team alone may hold four fifths, and whoever holds nothing gets in as long as there is room', () => {
  const budget = new BodyBudget(100)
  expect(budget.reserve('a', 80)).toBe('granted')
  expect(budget.reserve('a', 1)).toBe('team')
  expect(budget.reserve('b', 20)).toBe('granted')
  expect(budget.reserve('b', 1)).toBe('full')
  expect(budget.reserve('c', 1)).toBe('full')
  expect(budget.reserve('a', 1)).toBe('team')
  budget.release('a', 60)
  expect(budget.reserve('c', 30)).toBe('granted')
})

test('what others hold shrinks what a team may', () => {
  const budget = new BodyBudget(90)
  expect(budget.reserve('b', 40)).toBe('granted')
  expect(budget.reserve('a', 40)).toBe('granted')
  expect(budget.reserve('a', 1)).toBe('team')
  expect(budget.reserve('b', 1)).toBe('team')
})

test('a request without a body holds nothing and is never in the way', () => {
  const budget = new BodyBudget(10)
  expect(budget.reserve('a', 8)).toBe('granted')
  expect(budget.reserve('b', 0)).toBe('granted')
  budget.release('b', 0)
  expect(budget.heldBytes).toBe(8)
})

test('whatever is reserved and released: never above the whole, no team above its share but by its first', () => {
  const event = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(400), fc.boolean())
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      const budget = new BodyBudget(1_000)
      const held: Array<readonly [team: string, bytes: number]> = []
      const of = (team: string) => held.reduce((sum, [one, bytes]) => sum + (one === team ? bytes : 0), 0)
      for (const [team, bytes, isRelease] of events) {
        const [given] = isRelease ? held.splice(0, 1) : []
        if (given !== undefined) {
          budget.release(...given)
        } else if (!isRelease) {
          const before = of(team)
          if (budget.reserve(team, bytes) === 'granted') held.push([team, bytes])
          if (before > 0) expect(of(team)).toBeLessThanOrEqual(800)
        }
        expect(budget.heldBytes).toBe(held.reduce((sum, [, one]) => sum + one, 0))
        expect(budget.heldBytes).toBeLessThanOrEqual(1_000)
      }
      for (const given of held) budget.release(...given)
      expect(budget.reserve('d', 1_000)).toBe('granted')
    }),
  )
})
