import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import { NO_QUOTAS, quotasOf, type TeamQuotas } from '../../../../src/domain/quotas.ts'
import type { ClaimedWork, JobIntake, JobSource } from '../../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import type { Mutes } from '../../../../src/ports/windows.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import type { ShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { alertsOf } from './alert-stage.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

const WATCHED: QueueSettings = {
  ...DEFAULT_QUEUE_SETTINGS,
  alertsEnabled: true,
  retriesEnabled: true,
  retryDelays: [1],
}

/** A world whose limits two executors scan for. */
export class LimitStage {
  readonly world: World
  readonly intake: JobIntake
  /** Of the team `default`. */
  quotas: TeamQuotas = NO_QUOTAS
  mutes: Mutes | null = null
  readonly #scans: ReadonlyArray<() => Promise<void>>
  #executors = 0

  static async open(redis: TestRedis, shards = 1): Promise<LimitStage> {
    return new LimitStage(await openWorld(redis, { shards }))
  }

  private constructor(world: World) {
    this.world = world
    this.intake = world.newIntake()
    this.#scans = [...world.engine.shards, ...world.engine.shards].map((keys) =>
      createMinuteRound(
        world.engine,
        keys,
        { mutes: () => this.mutes, holds: () => [] },
        {
          settings: { of: () => ({ ...NO_TEAM_SETTINGS, quotas: this.quotas }) },
          quotas: quotasOf({ crons: 10 }),
        },
      ),
    )
  }

  get shard(): ShardKeys {
    return shardKeys(this.world.engine, 0)
  }

  makeQueue(name = 'emails', change: Partial<QueueSettings> = {}): Promise<unknown> {
    return createQueueStore(this.world.engine).apply('default', name, { ...WATCHED, ...change })
  }

  /** An executor that has lost no lease, however much time has passed. */
  executor(): Promise<JobSource> {
    this.#executors += 1
    return openExecutor(this.world, `e${this.#executors}`)
  }

  /** A minute later both executors scan every shard at once. */
  async scan(passedMs = MINUTE_MS): Promise<void> {
    this.world.clock.advance(passedMs)
    // So that the program knows the time of Redis.
    for (const { shard } of this.world.engine.shards) await openExecutor(this.world, 'scanner', shard)
    await Promise.all(this.#scans.map((scan) => scan()))
  }

  /** What the limit warnings say, oldest first; those of one minute with their count. */
  async warnings(): Promise<string[]> {
    const { engine } = this.world
    const records = await Promise.all(engine.shards.map(({ shard }) => alertsOf(this.world, shard)))
    return records
      .flat()
      .filter(({ alert }) => alert.type === 'limit_warning')
      .map(({ alert: { message, count, suppressedBy } }) =>
        [
          message,
          ...(count > 1 ? [`×${count}`] : []),
          ...(suppressedBy === null ? [] : [`(${suppressedBy})`]),
        ].join(' '),
      )
  }

  /** Lets a queue be at its limit of one call, with another job ready; answers the call. */
  async saturate(name = 'emails'): Promise<{ source: JobSource; work: ClaimedWork | undefined }> {
    await this.makeQueue(name, { maxParallelism: 1 })
    await pushAll(this.intake, 2, { queue: name })
    const source = await this.executor()
    const [work] = await claimed(source, 1)
    return { source, work }
  }

  /** Lets jobs end as dead letters. */
  async fail(count: number, queue = 'emails'): Promise<void> {
    for (let left = count; left > 0; left -= 64) {
      await pushAll(this.intake, Math.min(64, left), {
        queue,
        request: { retriesEnabled: true, retryDelays: [1] },
      })
      const source = await this.executor()
      for (const attempt of [1, 2]) {
        const works = await claimed(source, 64)
        assert.equal(works.length, Math.min(64, left), `attempt ${attempt}`)
        await source.finish(works.map((work) => ended(this.world, work, { failed: true })))
        this.world.clock.advance(1_000)
        await this.promote()
      }
    }
  }

  async promote(): Promise<void> {
    await createShardMaintenance(this.world.engine, 0).promote()
  }
}
