import { describe, expect, it, test } from 'vitest'
import type { CronStatsEntry } from '../../../../src/ports/crons.ts'
import { createCronWorld } from './cron-world.ts'

const KEY = 'shop/nightly'
const NEXT = '2026-11-22T03:00:00Z'

async function applied() {
  const world = createCronWorld()
  world.resources.put(KEY, {})
  await world.settle(KEY)
  return world
}

function aState(change: Partial<CronStatsEntry> = {}): CronStatsEntry {
  return {
    cronId: 1,
    nextRunAtMs: Date.parse(NEXT),
    lastRun: {
      scheduledAtMs: Date.parse('2026-11-21T03:00:00Z'),
      result: 'failed',
      jobId: 16,
      isManual: false,
      ticks: 1,
    },
    lastSuccessAtMs: Date.parse('2026-11-19T03:00:00Z'),
    consecutiveFailures: 2,
    failing: null,
    ...change,
  }
}

describe('a new resource', () => {
  it('gets the whole status', async () => {
    const { engine, status } = await applied()
    expect(engine.crons.get(KEY)?.settings).toMatchObject({ displayName: 'nightly', timeZone: 'UTC' })
    expect(status(KEY)).toEqual({
      observedGeneration: 1,
      id: 1,
      nextRunTime: NEXT,
      conditions: [
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Reconciled' }),
        expect.objectContaining({ type: 'Scheduled', status: 'True', reason: 'Scheduled' }),
      ],
    })
  })

  it('that is paused has no next run, and reports so', async () => {
    const { resources, settle, status, condition } = await applied()
    resources.put(KEY, { active: false })
    await settle(KEY)
    expect(status(KEY)).not.toHaveProperty('nextRunTime')
    expect(condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'Paused' })
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 2 })
  })
})

describe('what the engine knows', () => {
  it('is written when it has changed, and not again', async () => {
    const { resources, settle, states, status, clock } = await applied()
    states.set(KEY, aState())
    await settle(KEY)
    expect(status(KEY)).toMatchObject({
      id: 1,
      nextRunTime: NEXT,
      lastRunTime: '2026-11-21T03:00:00Z',
      lastRunResult: 'Failed',
      lastSuccessTime: '2026-11-19T03:00:00Z',
      consecutiveFailures: 2,
    })
    const before = resources.writes.length
    await clock.advance(3_600_000)
    await settle(KEY)
    expect(resources.writes).toHaveLength(before)
  })

  it('of another cron of that name is not', async () => {
    const { settle, states, status } = await applied()
    states.set(KEY, aState({ cronId: 99 }))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ id: 1 })
    expect(status(KEY)).not.toHaveProperty('lastRunTime')
  })

  it('stays in the status until it is read again, after a change too', async () => {
    const { resources, settle, states, status } = await applied()
    states.set(KEY, aState())
    await settle(KEY)
    states.clear()
    resources.put(KEY, { timeoutSeconds: 5 })
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ observedGeneration: 2, lastRunResult: 'Failed' })
  })
})

describe('failures', () => {
  it('are a condition until a run succeeds, with an event at its begin and one at its end', async () => {
    const { settle, states, status, condition, events } = await applied()
    states.set(KEY, aState())
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toBeUndefined()
    states.set(KEY, aState({ failing: 'timeout' }))
    await settle(KEY)
    const lastFailure = { time: '2026-11-21T03:00:00Z', reason: 'timeout' }
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', reason: 'FailureRaised' })
    states.set(
      KEY,
      aState({
        failing: 'timeout',
        lastRun: { scheduledAtMs: Date.parse(NEXT), result: 'running', jobId: 17, isManual: false, ticks: 1 },
      }),
    )
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'FailureRaised' }])
    states.set(KEY, aState({ consecutiveFailures: 0 }))
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'False', reason: 'Recovered' })
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(events.slice(1)).toMatchObject([{ type: 'Normal', reason: 'Recovered' }])
  })

  it('stay in the status while nothing is known', async () => {
    const { resources, settle, states, status, condition, events } = await applied()
    states.set(KEY, aState({ failing: 'timeout' }))
    await settle(KEY)
    states.clear()
    resources.put(KEY, { timeoutSeconds: 5 })
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(status(KEY)).toHaveProperty('lastFailure')
    expect(events).toHaveLength(1)
  })
})

it('gets its former id back from an engine that has lost its data', async () => {
  const { engine, settle, status } = await applied()
  engine.crons.clear()
  engine.push('shop', 'takes the next id', {} as never)
  await settle(KEY)
  expect(engine.crons.get(KEY)?.cronId).toBe(1)
  expect(status(KEY)?.id).toBe(1)
})

describe('a spec that cannot be applied', () => {
  test.each([
    [
      { cronExpression: '0 0 31 2 *' },
      'ImpossibleSchedule',
      'spec.cronExpression: never comes: none of its months has a day 31.',
    ],
    [
      { timeZone: 'Mars/Base' },
      'UnknownTimeZone',
      'spec.timeZone: must be the IANA name of a time zone, such as Europe/Berlin or UTC; "Mars/Base" is none.',
    ],
    [{ timeoutSeconds: 9000 }, 'InvalidSpec', 'spec.timeoutSeconds: 9000 must be from 1 to 300.'],
    [
      {
        headers: [
          { name: 'Authorization', value: 'a' },
          { name: 'authorization', value: 'b' },
        ],
      },
      'InvalidSpec',
      'spec.headers: must not have one name twice; upper and lower case do not count.',
    ],
  ])('%j is stalled as %s, with one event', async (spec, reason, message) => {
    const { resources, engine, settle, events } = createCronWorld()
    resources.put(KEY, spec)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
    expect(resources.get(KEY)?.status).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'False', reason: 'InvalidSpec', message },
        { type: 'Scheduled', status: 'False', reason, message },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message },
      ],
    })
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'InvalidSpec', action: 'ApplyCron', note: message },
    ])
  })

  it('keeps the settings applied earlier, and reports so', async () => {
    const { resources, engine, settle, condition, status } = await applied()
    resources.put(KEY, { cronExpression: '0 0 31 2 *' })
    await settle(KEY)
    expect(engine.crons.get(KEY)?.settings.cronExpression).toBe('0 3 * * *')
    expect(condition(KEY, 'Scheduled')?.message).toContain('The settings applied earlier stay.')
    expect(status(KEY)).toMatchObject({ id: 1, nextRunTime: NEXT })
  })
})

describe('a cron over the quota of its team', () => {
  const OBSTACLE = 'The quota of the team is 500 crons, and it has that many older ones.'

  it('is not applied, and reports why', async () => {
    const world = createCronWorld()
    world.found.obstacle = OBSTACLE
    world.resources.put(KEY, {})
    await world.settle(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
    const message = `${OBSTACLE} It is not applied.`
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason: 'QuotaExceeded', message })
    expect(world.condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'QuotaExceeded' })
  })

  it('that was applied is paused, keeps its id, and resumes within the quota', async () => {
    const world = await applied()
    world.found.obstacle = OBSTACLE
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ cronId: 1, settings: { isActive: false } })
    expect(world.condition(KEY, 'Ready')).toMatchObject({ message: `${OBSTACLE} It is paused.` })
    world.found.obstacle = null
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ cronId: 1, settings: { isActive: true } })
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  })
})

describe('a cron whose copy lacks its payload', () => {
  it('is applied with the payload that the API server has', async () => {
    const world = createCronWorld()
    world.resources.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ settings: { payload: 'the whole of it' } })
  })

  it('waits for the informer when the API server has another cron of the name', async () => {
    const world = createCronWorld()
    world.resources.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    world.found.isSuccessor = true
    await world.reconcile(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
  })
})
