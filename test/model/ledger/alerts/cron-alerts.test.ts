import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { afterAll, describe } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { Mutes, WindowSource } from '../../../../src/ports/windows.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { REPEATED } from '../../../support/engine/drawn-seeds.ts'
import { claimed, ended } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { CronStage, NAME, TEAM, type Place } from '../../crons/cron-stage.ts'
import { alertsOf, told } from './alert-stage.ts'

const NOON_MS = Date.UTC(2032, 1, 28, 12)
const MINUTE_MS = 60_000

/** How the next run of the cron ends, or an edit of it. */
type Op =
  | {
      readonly op: 'end'
      readonly reason: 'timeout' | 'dns_error' | null
      readonly muted: 'cron' | 'all' | null
      readonly byHand: boolean
      readonly fault: 'lost' | 'resent' | null
    }
  | { readonly op: 'edit'; readonly threshold: number; readonly place: Place }

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('end' as const),
      reason: fc.constantFrom(null, 'timeout' as const, 'timeout' as const, 'dns_error' as const),
      muted: fc.constantFrom(null, null, 'cron' as const, 'all' as const),
      byHand: fc.boolean(),
      fault: fc.constantFrom(null, null, 'lost' as const, 'resent' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('edit' as const),
      threshold: fc.integer({ min: 1, max: 3 }),
      place: fc.constantFrom<Place>('home', 'there'),
    }),
  },
)

/** The rules said slowly: each alert is found by a look at all runs and alerts of before. */
class SlowModel {
  readonly #ends: Array<{ readonly reason: string | null; readonly raised: string | null; muted: boolean }> =
    []
  readonly alerts: string[] = []
  threshold = 1

  end(reason: string | null, window: string | null): void {
    const streak = this.#ends.slice(this.#ends.findLastIndex((one) => one.reason === null) + 1)
    const failures = streak.filter(({ raised }) => raised === 'failure')
    let raised: string | null = null
    if (reason === null) {
      if (failures.length > 0) raised = 'recovery'
    } else if (!failures.some(({ muted }) => !muted) && !(failures.length > 0 && window !== null)) {
      raised = streak.length + 1 >= this.threshold ? 'failure' : 'warning'
    }
    const why = reason ?? failures.at(-1)?.reason
    this.#ends.push({ reason, raised, muted: window !== null })
    if (raised === null) return
    const suffix = window === null ? '' : ` muted by ${window}`
    this.alerts.push(`${raised} ${why} of cron ${NAME} ×1${suffix}`)
  }
}

describe('alerts of a cron', () => {
  let redis: TestRedis
  let connection: RedisConnection

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  async function openCron() {
    const world = await openWorld(redis, { connection, shards: 3, startMs: NOON_MS - 10_000 })
    const stage = new CronStage(world)
    let muted: Mutes | null = null
    const windows: WindowSource = { mutes: () => muted, holds: () => [] }
    const sources = world.engine.shards.map(
      ({ shard }) => new RedisJobSource(world.engine, shard, 'e1', { windows }),
    )
    for (const source of sources) await source.beat(true)

    /** The next run ends, a minute after the one before. */
    async function end({ reason, muted: by, byHand, fault }: Extract<Op, { op: 'end' }>): Promise<void> {
      const other = new Map([['another', 'never']])
      const ours = new Map([...other, [NAME, 'night']])
      muted = by === null ? { all: null, queues: ours, crons: other } : null
      if (by === 'all') muted = { all: 'night', queues: other, crons: other }
      if (by === 'cron') muted = { all: null, queues: other, crons: ours }
      const nextMs = Math.floor(world.clock.wallMs / MINUTE_MS + 1) * MINUTE_MS
      if (byHand) {
        world.clock.advance(nextMs - world.clock.wallMs)
        const cron = await stage.store.getByName(TEAM, NAME)
        assert.equal((await stage.store.runNow(TEAM, cron?.cronId ?? 0))?.status, 'started')
      } else await stage.passTo(nextMs)
      for (const source of sources) {
        await source.beat(true)
        for (const work of await claimed(source, 10)) {
          assert.ok(work.kind === 'job')
          const settings = { ...work.settings, retriesEnabled: false }
          const told = ended(world, { ...work, settings }, { failed: reason !== null })
          assert.ok(told.type === 'ended')
          const attempts = told.end.attempts.map((one) => ({ ...one, failureReason: reason }))
          const ends = [{ ...told, end: { ...told.end, attempts } }]
          if (fault !== null) world.faults[fault].add('finish')
          if (fault === 'lost') await assert.rejects(source.finish(ends), StoreUnavailableError)
          assert.deepEqual(await source.finish(ends), ['done'])
        }
      }
    }
    const edit = async (place: Place, alertThreshold: number) => {
      await stage.apply(place, { alertThreshold, missedRunPolicy: 'skip' })
    }
    const all = async () => {
      const alerts = await Promise.all(world.engine.shards.map(({ shard }) => alertsOf(world, shard)))
      return alerts
        .flat()
        .toSorted((a, b) => a.alert.id - b.alert.id)
        .map(told)
    }
    return { world, stage, end, edit, all }
  }

  test('are those of a slow model, whatever is edited, muted, moved or sent again', async () => {
    const story = fc.asyncProperty(fc.array(op, { minLength: 4, maxLength: 14 }), async (ops) => {
      const { world, end, edit, all } = await openCron()
      const model = new SlowModel()
      await edit('home', 1)
      for (const one of ops) {
        if (one.op === 'edit') {
          await edit(one.place, one.threshold)
          model.threshold = one.threshold
        } else {
          await end(one)
          model.end(one.reason, one.muted === null ? null : 'night')
        }
        assert.deepEqual(await all(), model.alerts)
      }
      assert.deepEqual(await inspect(world.engine), [])
    })
    await fc.assert(story, { numRuns: 20, ...REPEATED })
  }, 60_000)

  const failing = { op: 'end', reason: 'timeout', muted: null, byHand: false, fault: null } as const
  const succeeding = { ...failing, reason: null } as const

  test('say how often it failed', async () => {
    const { world, end, edit } = await openCron()
    await edit('home', 2)
    for (const one of [failing, failing, failing, succeeding]) await end(one)
    const alerts = (await Promise.all([0, 1, 2].map((shard) => alertsOf(world, shard)))).flat()
    assert.deepEqual(
      alerts.map(({ alert }) => alert.message),
      [
        `Cron ${NAME} failed once (timeout at target.test); a failure is raised at 2.`,
        `Cron ${NAME} failed 2 times in a row (timeout at target.test).`,
        `Cron ${NAME} succeeded after it had failed 3 times in a row (timeout).`,
      ],
    )
  })

  test('begin at the next apply for a cron of a program without alerts', async () => {
    const { world, stage, end, edit, all } = await openCron()
    await edit('home', 1)
    const { cronAlerts } = world.engine.shards[stage.shardAt('home')] ?? assert.fail()
    await redis.client.del(cronAlerts)
    await end(failing)
    assert.deepEqual(await all(), [])
    await edit('home', 1)
    await end(failing)
    assert.deepEqual(await all(), [`failure timeout of cron ${NAME} ×1`])
  })

  test('cost a success after a success no command', async () => {
    const { end, edit } = await openCron()
    await edit('home', 1)
    await end(succeeding)
    const counts = await commandsDuring(redis.client, () => end(succeeding))
    await end(failing)
    const recovering = await commandsDuring(redis.client, () => end(succeeding))
    const of = (calls: Record<string, number>, name: string) => calls[name] ?? 0
    // What the cron has said, the total, and the last id.
    assert.equal(of(recovering, 'hget') - of(counts, 'hget'), 3)
    // One unread more, and a new version.
    assert.equal(of(recovering, 'hincrby') - of(counts, 'hincrby'), 2)
  })
})
