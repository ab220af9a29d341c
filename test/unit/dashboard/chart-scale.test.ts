import { describe, expect, test } from 'vitest'
import { nearest, timeTicks, valueTicks } from '../../../dashboard/src/ui/charts/chart-scale.ts'

describe('values', () => {
  test.each([
    [0, [0, 1]],
    [Number.NaN, [0, 1]],
    [1, [0, 0.5, 1]],
    [4, [0, 1, 2, 3, 4]],
    [34, [0, 10, 20, 30, 40]],
    [0.3, [0, 0.1, 0.2, 0.3]],
    [1_000_000, [0, 500_000, 1_000_000]],
  ])('up to %d have round steps', (max, ticks) => {
    expect(valueTicks(max, 4)).toEqual(ticks)
  })

  test('that are durations have steps of whole seconds, minutes and hours', () => {
    expect(valueTicks(742_000, 4, 1)).toEqual([0, 300_000, 600_000, 900_000])
    expect(valueTicks(100, 4, 1)).toEqual([0, 50, 100])
    expect(valueTicks(90, 4, 1_000)).toEqual([0, 30, 60, 90])
    expect(valueTicks(10 ** 12, 4, 1).length).toBeLessThanOrEqual(6)
  })
})

describe('times', () => {
  const at = (text: string): number => Date.parse(`2026-11-23T${text}Z`)

  test('are round in the zone', () => {
    const ticks = timeTicks(at('06:09:00'), at('07:09:00'), 5, 'UTC')
    expect(ticks.map(({ label }) => label)).toEqual(['06:15', '06:30', '06:45', '07:00'])
    // Kathmandu is 5 h 45 min ahead.
    const there = timeTicks(at('06:09:00'), at('09:09:00'), 4, 'Asia/Kathmandu')
    expect(there.map(({ label }) => label)).toEqual(['12:00', '13:00', '14:00'])
  })

  test('begin each day with its date, and do not end before it', () => {
    const ticks = timeTicks(at('00:00:00') - 12 * 3_600_000, at('12:00:00'), 5, 'UTC')
    expect(ticks.map(({ label }) => label)).toEqual(['12:00', '18:00', '11-23', '06:00', '12:00'])
    expect(timeTicks(0, 400 * 86_400_000, 5, 'UTC').length).toBeLessThan(20)
  })

  test('the nearest is found, and none among none', () => {
    expect(nearest([10, 20, 30], 24)).toBe(1)
    expect(nearest([10, 20, 30], -5)).toBe(0)
    expect(nearest([], 1)).toBe(null)
  })
})
