import { describe, expect, it, test } from 'vitest'
import { REMOVAL_GIVEN_UP_MS } from '../../../../src/controller/reconcile/finalizer-timeout.ts'
import type { CronState } from '../../../../src/ports/crons.ts'
import { CRON_FINALIZER } from '../../../../src/resources/cron-claim.ts'
import { createCronWorld } from './cron-world.ts'

const KEY = 'shop/nightly'
const NEXT = '2026-11-22T03:00:00Z'

async function inForce() {
  const world = createCronWorld()
  world.crons.put(KEY, {})
  await world.settle(KEY)
  return world
}

function aState(change: Partial<CronState> = {}): CronState {
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
    ...change,
  }
}

describe('a new resource', () => {
  it('is held, put in force and told, in this order', async () => {
    const { crons, engine } = await inForce()
    expect(crons.writes).toEqual(['hold shop/nightly', 'status shop/nightly'])
    expect(engine.crons.get(KEY)).toMatchObject({
      cronId: 1,
      settings: { displayName: 'nightly', cronExpression: '0 3 * * *', timeZone: 'UTC' },
    })
    expect(crons.get(KEY)?.metadata.finalizers).toEqual([CRON_FINALIZER])
    expect(crons.get(KEY)?.status).toEqual({
      observedGeneration: 1,
      id: 1,
      nextRunTime: NEXT,
      conditions: [
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Reconciled' }),
        expect.objectContaining({ type: 'Scheduled', status: 'True', reason: 'Scheduled' }),
      ],
    })
  })

  it('that is paused has no next run, and says so', async () => {
    const { crons, settle, status, condition } = await inForce()
    crons.put(KEY, { active: false })
    await settle(KEY)
    expect(status(KEY)).not.toHaveProperty('nextRunTime')
    expect(condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'Paused' })
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 2 })
  })
})

describe('what the engine knows', () => {
  it('is told when it has changed, and not again', async () => {
    const { crons, settle, states, status, clock } = await inForce()
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
    const before = crons.writes.length
    await clock.advance(3_600_000)
    await settle(KEY)
    expect(crons.writes).toHaveLength(before)
  })

  it('of another cron of that name is not', async () => {
    const { settle, states, status } = await inForce()
    states.set(KEY, aState({ cronId: 99 }))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ id: 1 })
    expect(status(KEY)).not.toHaveProperty('lastRunTime')
  })

  it('stays told until it was looked at anew, after a change too', async () => {
    const { crons, settle, states, status } = await inForce()
    states.set(KEY, aState())
    await settle(KEY)
    states.clear()
    crons.put(KEY, { timeoutSeconds: 5 })
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ observedGeneration: 2, lastRunResult: 'Failed' })
  })
})

it('gets its former id back from an engine that has lost its data', async () => {
  const { engine, settle, status } = await inForce()
  engine.crons.clear()
  engine.push('shop', 'takes the next id', {} as never)
  await settle(KEY)
  expect(engine.crons.get(KEY)?.cronId).toBe(1)
  expect(status(KEY)?.id).toBe(1)
})

describe('a spec that cannot be in force', () => {
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
  ])('%j is stalled as %s, told once', async (spec, reason, message) => {
    const { crons, engine, settle, events } = createCronWorld()
    crons.put(KEY, spec)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
    expect(crons.get(KEY)?.status).toMatchObject({
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

  it('leaves in force what was before, and says so; mended, it is told', async () => {
    const { crons, engine, settle, events, condition, status } = await inForce()
    crons.put(KEY, { cronExpression: '0 0 31 2 *' })
    await settle(KEY)
    expect(engine.crons.get(KEY)?.settings.cronExpression).toBe('0 3 * * *')
    expect(condition(KEY, 'Scheduled')?.message).toContain('What was in force before stays so.')
    expect(status(KEY)).toMatchObject({ id: 1, nextRunTime: NEXT })
    crons.put(KEY, { cronExpression: '0 4 * * *' })
    await settle(KEY)
    expect(condition(KEY, 'Stalled')).toBeUndefined()
    expect(events).toMatchObject([{ type: 'Warning' }, { type: 'Normal', reason: 'Reconciled' }])
  })

  it('may hold fields of a newer CRD', async () => {
    const { crons, settle, condition } = createCronWorld()
    crons.put(KEY, { retries: 3 })
    await settle(KEY)
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  })
})

describe('a deleted resource', () => {
  it('goes after its cron', async () => {
    const { crons, engine, settle, noted } = await inForce()
    crons.delete(KEY)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
    expect(crons.get(KEY)).toBeUndefined()
    expect(noted).toEqual([])
  })

  it('waits for Redis, and is let go after a while', async () => {
    const { crons, engine, turn, clock, condition, found, events, noted } = await inForce()
    engine.isAway = true
    crons.delete(KEY)
    expect(await turn(KEY)).toBe('failed')
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
    await clock.advance(REMOVAL_GIVEN_UP_MS - 1)
    expect(await turn(KEY)).toBe('failed')
    await clock.advance(1)
    expect(await turn(KEY)).toBe('done')
    expect(crons.get(KEY)).toBeUndefined()
    expect(found.leftBehind).toBe(1)
    expect(events).toMatchObject([{ type: 'Warning', reason: 'CronLeftBehind' }])
    expect(noted).toEqual([KEY])
  })

  it('waits anew for a successor of one that was let go by hand', async () => {
    const { crons, engine, clock, turn } = await inForce()
    crons.delete(KEY)
    engine.isAway = true
    await turn(KEY)
    crons.force(KEY)
    crons.put(KEY, {}, { finalizers: [CRON_FINALIZER] })
    await clock.advance(REMOVAL_GIVEN_UP_MS)
    crons.delete(KEY)
    expect(await turn(KEY)).toBe('failed')
    expect(crons.get(KEY)).toBeDefined()
  })

  it('that held no finalizer is left to the sweep', async () => {
    const { crons, engine, settle, noted, doomed } = await inForce()
    crons.force(KEY)
    await settle(KEY)
    expect(noted).toEqual([KEY])
    expect(engine.crons.size).toBe(1)
    doomed.add(KEY)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
  })

  it('kept by a finalizer of someone else is ours no more', async () => {
    const { crons, engine, settle } = await inForce()
    crons.put(KEY, {}, { finalizers: ['other.test/keep', CRON_FINALIZER] })
    crons.delete(KEY)
    await settle(KEY)
    expect(crons.get(KEY)?.metadata.finalizers).toEqual(['other.test/keep'])
    expect(engine.crons.size).toBe(0)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
  })
})

it('says when Redis does not answer, and puts the cron in force when it does', async () => {
  const { crons, engine, turn, settle, condition } = createCronWorld()
  engine.isAway = true
  crons.put(KEY, {})
  expect(await turn(KEY)).toBe('failed')
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
  expect(condition(KEY, 'Ready')?.message).toMatch(/^Redis does not answer: what is in force there stays so/)
  expect(condition(KEY, 'Reconciling')).toMatchObject({ status: 'True' })
  engine.isAway = false
  await settle(KEY)
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  expect(condition(KEY, 'Reconciling')).toBeUndefined()
})

it('names what keeps the controller from Redis when it is not the silence of Redis', async () => {
  const { crons, engine, turn, settle, condition } = createCronWorld()
  crons.put(KEY, {})
  await settle(KEY)
  engine.isAway = true
  engine.refusal = 'configmaps "punctual-state" is forbidden'
  await turn(KEY)
  const reason = 'The controller cannot work on Redis (configmaps "punctual-state" is forbidden): '
  const kept = 'what is in force there stays so, and the settings follow when it can.'
  expect(condition(KEY, 'Ready')?.message).toBe(`${reason}${kept}`)
  expect(condition(KEY, 'Reconciling')?.message).toBe(`${reason}${kept}`)
  crons.delete(KEY)
  await turn(KEY)
  expect(condition(KEY, 'Ready')?.message).toBe(`${reason}the cron is removed when it can.`)
})

describe('a crash at any write', () => {
  const WRITES_MAX = 8
  test.each(
    Array.from({ length: WRITES_MAX }, (_, at) => at).flatMap((at) => [
      [at, 'before'] as const,
      [at, 'after'] as const,
    ]),
  )('%d, %s it, ends as without', async (at, when) => {
    const world = createCronWorld({ at, when })
    world.crons.put(KEY, {})
    await world.settle(KEY)
    world.crons.put(KEY, { timeoutSeconds: 7 })
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ cronId: 1, settings: { timeoutSeconds: 7 } })
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 2 })
    world.crons.delete(KEY)
    await world.settle(KEY)
    expect(world.engine.crons.size).toBe(0)
    expect(world.crons.get(KEY)).toBeUndefined()
  })

  test('there are as many writes as are tried', async () => {
    const world = createCronWorld({ at: WRITES_MAX - 1, when: 'after' })
    for (const spec of [{}, { timeoutSeconds: 7 }]) {
      world.crons.put(KEY, spec)
      await world.settle(KEY)
    }
    world.crons.delete(KEY)
    await world.settle(KEY)
    expect(world.found.hasCrashed).toBe(false)
  })
})

describe('a cron beyond what its team may have', () => {
  const OBSTACLE = 'The team has 500 older crons, as many as its quota lets be in force.'

  it('is not put in force, and says why', async () => {
    const world = createCronWorld()
    world.found.obstacle = OBSTACLE
    world.crons.put(KEY, {})
    await world.settle(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
    const message = `${OBSTACLE} It is not in force.`
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason: 'QuotaExceeded', message })
    expect(world.condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'QuotaExceeded' })
  })

  it('that was in force is paused, keeps its id, and goes on when there is room', async () => {
    const world = await inForce()
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

describe('a cron whose copy leaves out its payload', () => {
  it('is put in force with the payload that the API server has', async () => {
    const world = createCronWorld()
    world.crons.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ settings: { payload: 'the whole of it' } })
  })

  it('waits for the view when the API server has another one, or none', async () => {
    const world = createCronWorld()
    world.crons.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    world.found.isSuccessor = true
    await world.turn(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
  })
})
