import { describe, expect, test } from 'vitest'
import { parseCronExpression } from '../../../../src/domain/crons/cron-expression.ts'
import { CronSchedule } from '../../../../src/domain/crons/cron-schedule.ts'
import {
  decideTicks,
  missedTicks,
  MADE_UP_MAX,
  MISSED_COUNTED_MAX,
  type TickRules,
} from '../../../../src/domain/crons/cron-tick.ts'
import { timeZoneOf } from '../../../../src/domain/crons/time-zone.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const at = (text: string) => Date.parse(`2026-11-21T${text}Z`)

/** @param onLook called whenever the zone's clock is looked at */
function scheduleOf(text: string, zoneName: string, onLook = () => {}): CronSchedule {
  const expression = parseCronExpression(text)
  const zone = timeZoneOf(zoneName)
  if ('problem' in expression || zone === null) throw new Error(text)
  const spanAt = (unixMs: number) => {
    onLook()
    return zone.spanAt(unixMs)
  }
  return new CronSchedule(expression, { ...zone, spanAt })
}

function decide(text: string, rules: Partial<TickRules>, expectedMs: number, nowMs: number) {
  return decideTicks(
    scheduleOf(text, 'UTC'),
    { missedRunPolicy: 'latest', startingDeadlineMs: null, ...rules },
    expectedMs,
    nowMs,
  )
}

describe('in time', () => {
  test.each(['latest', 'skip', 'all'] as const)('%s runs the tick', (missedRunPolicy) => {
    expect(decide('0 * * * *', { missedRunPolicy }, at('10:00'), at('10:00') + 150)).toEqual({
      run: [at('10:00')],
      missed: null,
      nextMs: at('11:00'),
    })
  })
})

describe('three hours late', () => {
  const late = (rules: Partial<TickRules>) => decide('0 * * * *', rules, at('10:00'), at('12:30'))

  test('latest makes up for the last tick', () => {
    expect(late({})).toEqual({
      run: [at('12:00')],
      missed: { firstMs: at('10:00'), lastMs: at('11:00'), count: 2 },
      nextMs: at('13:00'),
    })
  })

  test('skip makes up for none', () => {
    expect(late({ missedRunPolicy: 'skip' })).toEqual({
      run: [],
      missed: { firstMs: at('10:00'), lastMs: at('12:00'), count: 3 },
      nextMs: at('13:00'),
    })
  })

  test('all makes up for every one', () => {
    expect(late({ missedRunPolicy: 'all' })).toMatchObject({
      run: [at('10:00'), at('11:00'), at('12:00')],
      missed: null,
    })
  })

  test('a starting deadline bounds what is made up for', () => {
    const startingDeadlineMs = 100 * MINUTE_MS
    expect(late({ missedRunPolicy: 'all', startingDeadlineMs })).toMatchObject({
      run: [at('11:00'), at('12:00')],
      missed: { count: 1 },
    })
    expect(late({ startingDeadlineMs: 29 * MINUTE_MS })).toMatchObject({ run: [], missed: { count: 3 } })
  })

  test('a starting deadline lets skip run what is late within it', () => {
    expect(late({ missedRunPolicy: 'skip', startingDeadlineMs: HOUR_MS })).toMatchObject({
      run: [at('12:00')],
    })
  })
})

test('skip runs a tick that is a minute late, and no later one', () => {
  const skip = { missedRunPolicy: 'skip' } as const
  expect(decide('0 * * * *', skip, at('10:00'), at('10:01')).run).toEqual([at('10:00')])
  expect(decide('0 * * * *', skip, at('10:00'), at('10:01') + 1).run).toEqual([])
})

test('no more than a hundred are made up for, the newest', () => {
  const { run, missed } = decide('* * * * *', { missedRunPolicy: 'all' }, at('08:00'), at('11:00'))
  expect(run).toHaveLength(MADE_UP_MAX)
  expect(run.at(-1)).toBe(at('11:00'))
  expect(missed).toEqual({ firstMs: at('08:00'), lastMs: at('09:20'), count: 81 })
})

describe('after a month of minutes', () => {
  const fromMs = at('00:00')
  const nowMs = fromMs + 30 * 24 * HOUR_MS

  test('the last tick runs and the missed are counted up to the bound', () => {
    expect(decide('* * * * *', {}, fromMs, nowMs)).toEqual({
      run: [nowMs],
      missed: {
        firstMs: fromMs,
        lastMs: fromMs + (MISSED_COUNTED_MAX - 1) * MINUTE_MS,
        count: MISSED_COUNTED_MAX,
      },
      nextMs: nowMs + MINUTE_MS,
    })
  })

  test('the newest hundred are made up for', () => {
    const { run } = decide('* * * * *', { missedRunPolicy: 'all' }, fromMs, nowMs)
    expect(run).toEqual(
      Array.from({ length: MADE_UP_MAX }, (_, i) => nowMs - (MADE_UP_MAX - 1 - i) * MINUTE_MS),
    )
  })
})

test('a tick promised by another expression still counts', () => {
  expect(decide('30 * * * *', {}, at('10:00'), at('10:05'))).toEqual({
    run: [at('10:00')],
    missed: null,
    nextMs: at('10:30'),
  })
})

describe('what is counted', () => {
  /** As the rules are written, tick by tick. @param due every tick from the expected one up to now */
  function walked(schedule: CronSchedule, rules: TickRules, due: readonly number[], nowMs: number) {
    const late = rules.startingDeadlineMs ?? (rules.missedRunPolicy === 'skip' ? MINUTE_MS : Infinity)
    const runsMax = rules.missedRunPolicy === 'all' ? MADE_UP_MAX : 1
    const run = due.filter((tickMs) => nowMs - tickMs <= late).slice(-runsMax)
    const missed = due.filter((tickMs) => tickMs < (run[0] ?? Infinity)).slice(0, MISSED_COUNTED_MAX)
    return { run, missed: asMissed(missed), nextMs: schedule.next(nowMs) }
  }
  const asMissed = (ticks: readonly number[]) =>
    ticks[0] === undefined ? null : { firstMs: ticks[0], lastMs: ticks.at(-1), count: ticks.length }

  test.each(['* * * * *', '*/5 * * * *', '0 * * * *', '30 2 * * *', '0 9 1 * MON'])(
    'is what a walk over all ticks finds: %s',
    (text) => {
      const schedule = scheduleOf(text, 'Europe/Berlin')
      const nowMs = at('10:05') + 7
      for (const days of [0, 0.04, 1, 6.9, 7, 9]) {
        const fromMs = Math.floor((nowMs - days * 24 * HOUR_MS) / MINUTE_MS) * MINUTE_MS
        for (const expectedMs of [fromMs, Math.min(schedule.next(fromMs - 1) ?? 0, fromMs)]) {
          const due = [expectedMs, ...schedule.between(expectedMs, nowMs, Infinity)]
          for (const missedRunPolicy of ['latest', 'skip', 'all'] as const) {
            for (const startingDeadlineMs of [null, 90_000, 24 * HOUR_MS]) {
              const rules = { missedRunPolicy, startingDeadlineMs }
              const decided = decideTicks(schedule, rules, expectedMs, nowMs)
              expect(decided).toEqual(walked(schedule, rules, due, nowMs))
            }
          }
          expect(missedTicks(schedule, expectedMs, nowMs)).toEqual(asMissed(due.slice(0, MISSED_COUNTED_MAX)))
        }
      }
    },
  )

  test.each(['latest', 'skip', 'all'] as const)(
    'is not walked over after a month of minutes: %s',
    (policy) => {
      let looks = 0
      const schedule = scheduleOf('* * * * *', 'UTC', () => (looks += 1))
      const rules = { missedRunPolicy: policy, startingDeadlineMs: null }
      decideTicks(schedule, rules, at('00:00'), at('00:00') + 30 * 24 * HOUR_MS)
      missedTicks(schedule, at('00:00'), at('00:00') + 30 * 24 * HOUR_MS)
      // Each tick that is walked over is a look at the zone.
      expect(looks).toBeLessThanOrEqual(MADE_UP_MAX + 10)
    },
  )
})
