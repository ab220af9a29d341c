import { describe, expect, test } from 'vitest'
import {
  planScaling,
  type ScalingInput,
  type ScalingPlan,
} from '../../../../src/controller/scaling/scaling-plan.ts'
import { DUE_HORIZON_MS, OLD_READY_MS } from '../../../../src/domain/limits.ts'
import { backlogOf, fleetOf, SCALING } from './scaling-fixture.ts'

function plan(parts: Partial<ScalingInput> = {}): ScalingPlan {
  return planScaling({
    backlog: backlogOf(),
    fleet: fleetOf(0),
    history: null,
    settings: SCALING,
    nowMs: 0,
    ...parts,
  })
}

/** The reason of each condition that reports trouble. */
function troubles({ conditions }: ScalingPlan): string[] {
  const wanted = { ScalingActive: 'True', ScalingLimited: 'False' }
  return conditions.filter(({ type, status }) => status !== wanted[type]).map(({ reason }) => reason)
}

describe('how many executors', () => {
  test('as many as the calls that could run need', () => {
    const { change, conditions } = plan({ backlog: backlogOf({ ready: 9000, usable: 520 }) })
    expect(change).toEqual({ replicas: 3, note: '520 calls could run, 200 per executor' })
    expect(conditions).toEqual([
      {
        type: 'ScalingActive',
        status: 'True',
        reason: 'MetricAvailable',
        message: '520 calls could run, 200 per executor.',
      },
      {
        type: 'ScalingLimited',
        status: 'False',
        reason: 'WithinBounds',
        message: 'The number of executors needed is within the bounds.',
      },
    ])
  })

  test('one for a thousand jobs of which a queue lets three run', () => {
    expect(plan({ backlog: backlogOf({ ready: 1000, usable: 3 }) }).change?.replicas).toBe(1)
  })

  test('no more than allowed, with a condition', () => {
    const limited = plan({ backlog: backlogOf({ ready: 20_000, usable: 20_000 }) })
    expect(limited.change).toEqual({ replicas: 10, note: 'the maximum is 10' })
    expect(limited.conditions[1]).toEqual({
      type: 'ScalingLimited',
      status: 'True',
      reason: 'TooManyReplicas',
      message: '100 executors are needed, 10 are allowed.',
    })
  })

  test('no fewer than asked for, without any work', () => {
    const settings = { ...SCALING, min: 2 }
    expect(plan({ settings }).change).toEqual({ replicas: 2, note: 'the minimum is 2' })
  })

  test('at once no more than allowed when someone has set more', () => {
    expect(plan({ fleet: fleetOf(40) }).change).toEqual({ replicas: 10, note: 'the maximum is 10' })
  })

  test.each([
    ['a ready job', { ready: 1, usable: 1 }],
    ['a call under way in a queue that is paused', { inFlight: 1 }],
    ['something due soon', { dueSoon: 1 }],
    ['something due just within the horizon', { nextDueInMs: DUE_HORIZON_MS }],
  ])('one for %s', (_case, parts) => {
    expect(plan({ backlog: backlogOf(parts) }).change?.replicas).toBe(1)
  })

  test('none for what is due later', () => {
    expect(plan({ backlog: backlogOf({ nextDueInMs: DUE_HORIZON_MS + 1 }) }).change).toBeNull()
  })

  test('calls above the limits keep their executors but add none', () => {
    const backlog = backlogOf({ inFlight: 1000 })
    const settings = { ...SCALING, downMs: 0 }
    const lowered = plan({ backlog, settings, fleet: fleetOf(7) })
    expect(lowered.change).toEqual({ replicas: 5, note: '1000 calls in flight' })
    expect(plan({ backlog, settings, fleet: fleetOf(3) }).change).toBeNull()
  })
})

describe('jobs that wait although there are as many executors as computed', () => {
  const slow = backlogOf({ ready: 500, inFlight: 100, usable: 150, oldestReadyMs: OLD_READY_MS + 1 })

  test('raise by one', () => {
    expect(plan({ backlog: slow, fleet: fleetOf(1) }).change).toEqual({
      replicas: 2,
      note: 'the oldest job that could start has waited for 30 s',
    })
  })

  test.each([
    ['they have not waited for long', { backlog: { ...slow, oldestReadyMs: OLD_READY_MS } }],
    ['an executor is still on its way', { fleet: fleetOf(1, { ready: 0 }) }],
    ['nothing more could run', { backlog: { ...slow, inFlight: 150 } }],
    ['there are as many as allowed', { fleet: fleetOf(1), settings: { ...SCALING, max: 1 } }],
    ['every call has its own executor', { backlog: { ...slow, inFlight: 0, usable: 1 } }],
  ])('raise nothing while %s', (_case, parts) => {
    expect(plan({ backlog: slow, fleet: fleetOf(1), ...parts }).change).toBeNull()
  })

  test('raise again only after as long', () => {
    const first = plan({ backlog: slow, fleet: fleetOf(1) })
    const later = { backlog: slow, fleet: fleetOf(2), history: first.history }
    expect(plan({ ...later, nowMs: OLD_READY_MS - 1 }).change).toBeNull()
    expect(plan({ ...later, nowMs: OLD_READY_MS }).change?.replicas).toBe(3)
  })
})

describe('fewer executors', () => {
  test('only after the window, to the most that was asked for within it', () => {
    const steps = [
      { atMs: 0, usable: 1000 },
      { atMs: 1000, usable: 300 },
      { atMs: 2000, usable: 0 },
    ]
    let history = null
    for (const { atMs, usable } of steps) {
      const backlog = backlogOf({ ready: usable, usable })
      const next = plan({ backlog, fleet: fleetOf(5), history, nowMs: atMs })
      expect(next.change).toBeNull()
      history = next.history
    }
    const before = plan({ fleet: fleetOf(5), history, nowMs: 119_999 })
    expect(before.change).toBeNull()
    const down = plan({ fleet: fleetOf(5), history: before.history, nowMs: 120_000 })
    expect(down.change).toEqual({ replicas: 2, note: 'no more were needed in the last 120 s' })
    const zero = plan({ fleet: fleetOf(2), history: down.history, nowMs: 121_000 })
    expect(zero.change).toEqual({ replicas: 0, note: 'nothing is ready, in flight or due soon' })
  })

  test('only after a window, also when what there is was asked for by another', () => {
    const began = plan({ fleet: fleetOf(5) })
    expect(began.change).toBeNull()
    expect(plan({ fleet: fleetOf(5), history: began.history, nowMs: 119_999 }).change).toBeNull()
    expect(plan({ fleet: fleetOf(5), history: began.history, nowMs: 120_000 }).change?.replicas).toBe(0)
  })
})

describe('what it leaves alone', () => {
  test('a fleet whose work cannot be read, and the window starts again', () => {
    const began = plan({ fleet: fleetOf(5) })
    const blind = plan({ backlog: null, fleet: fleetOf(5), history: began.history, nowMs: 500_000 })
    expect([blind.change, troubles(blind)]).toEqual([null, ['MetricUnavailable']])
    const seeing = plan({ fleet: fleetOf(5), history: blind.history, nowMs: 501_000 })
    expect([seeing.change, troubles(seeing)]).toEqual([null, []])
  })

  test('a fleet that another scaler sets, and starts from scratch once that has ended', () => {
    const fleet = fleetOf(5, { otherScaler: 'HorizontalPodAutoscaler executors' })
    const conflict = plan({ backlog: backlogOf({ ready: 9000, usable: 9000 }), fleet })
    expect([conflict.change, conflict.history, troubles(conflict)]).toEqual([null, null, ['ScalerConflict']])
    expect(conflict.conditions[0]?.message).toBe(
      'HorizontalPodAutoscaler executors scales the executors too: remove it, or set the scaling mode to external.',
    )
  })

  test('a fleet that others size, and one that is not there', () => {
    const backlog = backlogOf({ ready: 9000, usable: 9000 })
    for (const mode of ['external', 'fixed'] as const) {
      const left = plan({ backlog, fleet: fleetOf(50), settings: { ...SCALING, mode } })
      expect([left.change, troubles(left)]).toEqual([null, ['LeftToOthers']])
    }
    const absent = plan({ backlog, fleet: null })
    expect([absent.change, troubles(absent)]).toEqual([null, ['DeploymentNotFound']])
  })
})
