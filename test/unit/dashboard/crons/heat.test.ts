import { describe, expect, test } from 'vitest'
import type { CronRun } from '../../../../clients/typescript/src/client.ts'
import { heatMapOf, levelOf } from '../../../../dashboard/src/features/crons/heat/heat.ts'

const LAST_MS = Date.parse('2026-11-23T08:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

function run(atMs: number, given: Partial<CronRun> = {}): CronRun {
  const at = new Date(atMs).toISOString().replace('Z', '+00:00')
  return { scheduled_at: at, result: 'succeeded', job_id: 1, is_manual: false, ticks: 1, ...given }
}

/** The newest first, as the API lists them. */
function every(stepMs: number, count = 100): CronRun[] {
  return Array.from({ length: count }, (_, index) => run(LAST_MS - index * stepMs))
}

describe('the map', () => {
  test.each([
    ['minutes', MINUTE_MS, ['11-23 06:00', '11-23 07:00', '11-23 08:00'], 12],
    ['hours', HOUR_MS, ['Thu 11-19', 'Fri 11-20', 'Sat 11-21', 'Sun 11-22', 'Mon 11-23'], 24],
    ['days', DAY_MS, ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], 16],
    ['months', 31 * DAY_MS, ['2018', '2019', '2020', '2021', '2022', '2023', '2024', '2025', '2026'], 12],
  ])('of runs that are %s apart', (_, stepMs, rows, columns) => {
    const runs = every(stepMs)
    const map = heatMapOf(runs, 'UTC')
    expect(map?.rows.map(({ label }) => label)).toEqual(rows)
    expect(map?.columns).toHaveLength(columns)
    const counted = map?.rows.flatMap((row) => map.columns.map((column) => map.cellOf(row.key, column.key)))
    const total = counted?.reduce((sum, cell) => sum + (cell?.counts.ran ?? 0), 0)
    expect(total).toBe(runs.length)
  })

  test('tells runs, failures and missed ticks apart, and finds their records', () => {
    const map = heatMapOf(
      [
        run(LAST_MS + 3 * MINUTE_MS, { result: 'missed', job_id: null, ticks: 7 }),
        run(LAST_MS + 2 * MINUTE_MS, { result: 'failed' }),
        run(LAST_MS + MINUTE_MS, { result: 'skipped', job_id: null }),
        run(LAST_MS),
      ],
      'Asia/Kolkata',
    )
    expect(map?.cellOf('2026-11-23 13', '30')).toEqual({
      since: '2026-11-23T08:00:00.000+00:00',
      until: '2026-11-23T08:03:00.000+00:00',
      counts: { ran: 2, failed: 1, idle: 8 },
    })
  })

  test('has the repeated hour in one cell, and none of the skipped one', () => {
    const autumn = Date.parse('2026-10-24T22:00:00Z')
    const runs = Array.from({ length: 26 }, (_, index) => run(autumn + index * HOUR_MS))
    const map = heatMapOf(runs, 'Europe/Berlin')
    expect(map?.cellOf('2026-10-25', '02')?.counts.ran).toBe(2)
    expect(map?.cellOf('2026-10-25', '03')?.counts.ran).toBe(1)
  })

  test('is none without records', () => {
    expect(heatMapOf([], 'UTC')).toBe(null)
  })
})

test('a colour grows with the count, and one run is never the strongest', () => {
  expect([0, 1, 3, 5, 8].map((count) => levelOf(count, 8))).toEqual([0, 1, 2, 3, 4])
  expect(levelOf(1, 1)).toBe(2)
  expect(levelOf(0, 1)).toBe(0)
})
