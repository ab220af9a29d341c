import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { CronStage, NAME, TEAM, type Place } from './cron-stage.ts'

const MINUTE_MS = 60_000
/** An hour begins there. */
const NOON_MS = Date.UTC(2032, 1, 28, 12)
const PLACES: readonly Place[] = ['home', 'there', 'elsewhere']
const ROUTES: ReadonlyArray<readonly [Place, Place]> = [
  ['home', 'there'],
  ['there', 'elsewhere'],
  ['there', 'home'],
]

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

async function openStage(): Promise<CronStage> {
  const stage = new CronStage(await openWorld(redis, { connection, shards: 3, startMs: NOON_MS - 10_000 }))
  await stage.openExecutors()
  return stage
}

/** The process dies when so many steps of what it does are done. Answers whether it came to that. */
async function dieAfter(stage: CronStage, steps: number, act: () => Promise<unknown>): Promise<boolean> {
  const { faults } = stage.world
  let left = steps
  faults.after = () => {
    left -= 1
    if (left === 0) throw new Error('died')
  }
  try {
    await act()
    return false
  } catch (error) {
    assert.equal(String(error), 'Error: died')
    return true
  } finally {
    faults.after = () => undefined
  }
}

/** Something else happens before the step of this number. Answers whether it came to that. */
async function whileDoing(
  stage: CronStage,
  step: number,
  other: () => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<boolean> {
  const { faults } = stage.world
  let left = step
  faults.before = async () => {
    left -= 1
    if (left !== 0) return
    faults.before = () => undefined
    await other()
  }
  await act()
  faults.before = () => undefined
  return left <= 0
}

/** Tells a story with a crash after one step, after two, and so on, and the last one without. */
async function tellAll(tell: (steps: number) => Promise<boolean>): Promise<void> {
  let steps = 1
  while (await tell(steps)) steps += 1
  assert.ok(steps > 2, 'there were no steps')
}

describe('a move that a crash ends, after whichever step', () => {
  const stories = ROUTES.flatMap(([from, to]) =>
    PLACES.flatMap((mended) => ['at once', 'late'].map((when) => [from, to, mended, when] as const)),
  )

  test.each(stories)('from %s to %s is mended by an apply to %s, %s', async (from, to, mended, when) => {
    await tellAll(async (steps) => {
      const stage = await openStage()
      const change: Partial<CronSettings> = { concurrencyPolicy: 'forbid', missedRunPolicy: 'all' }
      const { cronId } = await stage.apply(from, change)
      await stage.passTo(NOON_MS)
      await stage.finish(await stage.claimAll())
      await stage.passTo(NOON_MS + MINUTE_MS)
      const inFlight = await stage.claimAll()
      const hasDied = await dieAfter(stage, steps, () => stage.apply(to, change))
      if (when === 'late') await stage.passTo(NOON_MS + 2 * MINUTE_MS)
      assert.equal((await stage.apply(mended, change)).cronId, cronId)
      await stage.expectOnlyAt(mended)
      await stage.passTo(NOON_MS + 2 * MINUTE_MS)
      await stage.passTo(NOON_MS + 3 * MINUTE_MS)
      const runs = await stage.runs()
      assert.deepEqual(
        runs.map(({ scheduledAtMs, result }) => [(scheduledAtMs - NOON_MS) / MINUTE_MS, result]),
        [
          [3, 'skipped'],
          [2, 'skipped'],
          [1, 'running'],
          [0, 'succeeded'],
        ],
      )
      await stage.finish(inFlight)
      assert.equal(await stage.passTo(NOON_MS + 4 * MINUTE_MS), 1)
      assert.equal((await stage.claimAll()).length, 1)
      await stage.expectOnlyAt(mended)
      return hasDied
    })
  })

  test('with a new schedule loses no tick of that, nor the run it made', async () => {
    for (const isTicked of [false, true]) {
      await tellAll(async (steps) => {
        const stage = await openStage()
        await stage.apply('home', { cronExpression: '0 0 * * *' })
        const change: Partial<CronSettings> = { cronExpression: '* * * * *', concurrencyPolicy: 'forbid' }
        const hasDied = await dieAfter(stage, steps, () => stage.apply('there', change))
        const isInForce = (await stage.store.getByName(TEAM, NAME))?.nextRunAtMs === NOON_MS
        if (isTicked) await stage.passTo(NOON_MS)
        else stage.world.clock.advance(10_000)
        await stage.apply('there', change)
        const started = isTicked ? 0 : await stage.passTo(NOON_MS)
        if (isInForce) assert.equal(started, isTicked ? 0 : 1)
        await stage.passTo(NOON_MS + MINUTE_MS)
        const runs = (await stage.runs()).map(({ result }) => result)
        assert.deepEqual(runs, isInForce ? ['skipped', 'running'] : ['running'])
        return hasDied
      })
    }
  })

  test('with a pause makes up for nothing when it ends', async () => {
    await tellAll(async (steps) => {
      const stage = await openStage()
      await stage.apply('home')
      const hasDied = await dieAfter(stage, steps, () => stage.apply('there', { isActive: false }))
      const isPaused = (await stage.store.getByName(TEAM, NAME))?.settings.isActive === false
      stage.world.clock.advance(10 * MINUTE_MS)
      if (!isPaused) await stage.apply('there', { isActive: false })
      const { nextRunAtMs } = await stage.apply('there')
      assert.equal(nextRunAtMs, NOON_MS + 10 * MINUTE_MS)
      await stage.expectOnlyAt('there')
      return hasDied
    })
  })

  test('with another schedule notes once what was due before', async () => {
    await tellAll(async (steps) => {
      const stage = await openStage()
      await stage.apply('home')
      stage.world.clock.advance(NOON_MS + 2 * MINUTE_MS + 500 - stage.world.clock.wallMs)
      const change = { cronExpression: '0 0 * * *' }
      const hasDied = await dieAfter(stage, steps, () => stage.apply('there', change))
      await stage.apply('there', change)
      const runs = (await stage.runs()).map(({ scheduledAtMs, result, ticks }) => [
        scheduledAtMs,
        result,
        ticks,
      ])
      assert.deepEqual(runs, [[NOON_MS + 2 * MINUTE_MS, 'missed', 3]])
      await stage.expectOnlyAt('there')
      return hasDied
    })
  })

  test('is not begun with a schedule that is none', async () => {
    const stage = await openStage()
    await stage.apply('home')
    const wrong = { cronExpression: 'H * * * *' }
    await assert.rejects(stage.apply('there', wrong), /cronExpression/)
    const other = stage.settings('home', wrong)
    await assert.rejects(stage.store.apply(TEAM, 'never', other), /cronExpression/)
    await stage.expectOnlyAt('home')
    assert.equal(await stage.passTo(NOON_MS), 1)
    const names = await Promise.all(stage.world.engine.shards.map(({ cronIds: kn }) => connection.hkeys(kn)))
    assert.deepEqual(names.flat(), [`${TEAM}/${NAME}`])
  })

  test('keeps what was noted in the new place when the cron goes back', async () => {
    await tellAll(async (steps) => {
      const stage = await openStage()
      await stage.apply('home', { isActive: false })
      const hasDied = await dieAfter(stage, steps, () => stage.apply('there', { isActive: false }))
      const { cronId = 0 } = (await stage.store.getByName(TEAM, NAME)) ?? {}
      const answer = await stage.store.runNow(TEAM, cronId).catch(() => null)
      await stage.apply('home', { isActive: false, concurrencyPolicy: 'forbid' })
      await stage.expectOnlyAt('home')
      assert.equal((await stage.runs()).length, answer === null ? 0 : 1)
      if (answer?.status === 'started') {
        const { jobId } = answer
        assert.deepEqual(await stage.store.runNow(TEAM, cronId), { status: 'still_running', jobId })
      }
      return hasDied
    })
  })
})

test('a move that meets crash after crash loses and doubles nothing', async () => {
  const deaths = [1, 3, 4, 6]
  for (const first of deaths) {
    for (const second of deaths) {
      const stage = await openStage()
      const change: Partial<CronSettings> = { missedRunPolicy: 'all' }
      await stage.apply('home', change)
      let runs = await stage.passTo(NOON_MS)
      await dieAfter(stage, first, () => stage.apply('there', change))
      runs += await stage.passTo(NOON_MS + MINUTE_MS)
      await dieAfter(stage, second, () => stage.apply('elsewhere', change))
      runs += await stage.passTo(NOON_MS + 2 * MINUTE_MS)
      await stage.apply('home', change)
      runs += await stage.passTo(NOON_MS + 3 * MINUTE_MS)
      assert.equal(runs, 4)
      assert.deepEqual(
        (await stage.runs()).map(({ scheduledAtMs }) => (scheduledAtMs - NOON_MS) / MINUTE_MS),
        [3, 2, 1, 0],
      )
      await stage.expectOnlyAt('home')
    }
  }
})

describe('a crash after whichever step', () => {
  test.each(PLACES)('of what makes a cron %s is mended by the same again', async (place) => {
    await tellAll(async (steps) => {
      const stage = await openStage()
      const hasDied = await dieAfter(stage, steps, () => stage.apply(place))
      await stage.apply(place)
      await stage.expectOnlyAt(place)
      assert.equal(await stage.passTo(NOON_MS), 1)
      return hasDied
    })
  })

  test.each(PLACES.flatMap((place) => ['remove', 'apply'].map((then) => [place, then] as const)))(
    'of a removal of a cron %s leaves one that the next %s finds',
    async (place, then) => {
      await tellAll(async (steps) => {
        const stage = await openStage()
        await stage.apply('elsewhere')
        // On its way, it is in two places.
        await dieAfter(stage, 3, () => stage.apply(place))
        const hasDied = await dieAfter(stage, steps, () => stage.store.remove(TEAM, NAME))
        await stage.passTo(NOON_MS)
        if (then === 'apply') await stage.apply(place)
        else await stage.store.remove(TEAM, NAME)
        assert.equal((await stage.store.getByName(TEAM, NAME)) === null, then === 'remove')
        await stage.expectOnlyAt(then === 'apply' ? place : null)
        return hasDied
      })
    },
  )
})

describe('while a cron moves, before whichever step', () => {
  const others: ReadonlyArray<readonly [string, (stage: CronStage) => Promise<unknown>]> = [
    ['it is moved elsewhere', (stage) => stage.apply('elsewhere')],
    ['it is moved home', (stage) => stage.apply('home')],
    ['it is moved to the same place', (stage) => stage.apply('there', { url: 'http://other.test/' })],
    ['it is removed', (stage) => stage.store.remove(TEAM, NAME)],
    ['it is removed and made again', (stage) => removeAndMake(stage)],
    ['it is ticked', (stage) => stage.passTo(NOON_MS)],
    ['it is run by hand', (stage) => runByHand(stage)],
  ]

  async function removeAndMake(stage: CronStage): Promise<void> {
    await stage.store.remove(TEAM, NAME)
    await stage.apply('elsewhere')
  }

  /** It may be refused, and is noted where it is not. */
  async function runByHand(stage: CronStage): Promise<void> {
    const { cronId = 0 } = (await stage.store.getByName(TEAM, NAME)) ?? {}
    await stage.store.runNow(TEAM, cronId).catch(() => null)
  }

  test.each(others.flatMap(([what, other]) => PLACES.map((from) => [what, from, other] as const)))(
    '%s: from %s there is one cron after it, which ticks once',
    async (_what, from, other) => {
      await tellAll(async (step) => {
        const stage = await openStage()
        await stage.apply(from)
        const happened = await whileDoing(
          stage,
          step,
          () => other(stage),
          () => stage.apply('there'),
        )
        // Whoever came last, it is whole, and in one place.
        const cron = await stage.store.getByName(TEAM, NAME)
        assert.equal(cron?.settings.queue, stage.settings('there').queue)
        await stage.expectOnlyAt('there')
        await stage.passTo(NOON_MS)
        const claims = await stage.claimAll()
        const runs = await stage.runs()
        const jobIds = claims.map(({ work }) => (work.kind === 'job' ? work.jobId : null))
        assert.equal(jobIds.length, runs.length)
        for (const { jobId } of runs) assert.ok(jobIds.includes(jobId))
        assert.equal(runs.filter(({ isManual }) => !isManual).length, 1)
        return happened
      })
    },
  )

  test('a run by hand has the settings of its version, and none that were edited since', async () => {
    for (let reads = 1; ; reads += 1) {
      const stage = await openStage()
      const { engine } = stage.world
      const { cronId } = await stage.apply('home')
      let left = reads
      const runner = {
        ...engine.runner,
        read: async <T>(act: (redis: RedisConnection) => Promise<T>): Promise<T> => {
          const found = await engine.runner.read(act)
          left -= 1
          if (left === 0) await stage.apply('home', { url: 'http://edited.test/' })
          return found
        },
      }
      const store = createCronStore({ ...engine, runner })
      assert.equal((await store.runNow(TEAM, cronId)).status, 'started')
      if (left > 0) break
      const [claim] = await stage.claimAll()
      assert.ok(claim?.work.kind === 'job')
      assert.equal(claim.work.request.url, 'http://edited.test/')
    }
  })
})
