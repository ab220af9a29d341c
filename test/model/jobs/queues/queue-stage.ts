import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, JobSource } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import type { ShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'

export const ONCE = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: true, retryDelays: [1] }
export const DAY_MS = 86_400_000

/** A world of one shard, and how jobs of its queue `emails` come to their ends. */
export class QueueStage {
  readonly world: World
  readonly intake: JobIntake
  readonly #redis: TestRedis

  static async open(redis: TestRedis, retention: object = {}): Promise<QueueStage> {
    return new QueueStage(redis, await openWorld(redis, { shards: 1, retention }))
  }

  private constructor(redis: TestRedis, world: World) {
    this.#redis = redis
    this.world = world
    this.intake = world.newIntake()
  }

  get shard(): ShardKeys {
    return shardKeys(this.world.engine, 0)
  }

  beat(name = 'e1'): Promise<JobSource> {
    return openExecutor(this.world, name)
  }

  async sweepAll(): Promise<void> {
    const upkeep = createShardMaintenance(this.world.engine, 0)
    while ((await upkeep.sweep()).isMore);
  }

  /** Calls in flight; suspects that wait keep their slots and do not count. */
  running(): Promise<number> {
    return this.#redis.client.zcount(this.shard.queue('1').inFlight, '-inf', '(9000000000000000')
  }

  /** Lets `count` chains end as dead letters; answers their root ids. */
  async makeDeadLetters(count: number, payload: string | null = null): Promise<number[]> {
    const { world, intake } = this
    await createQueueStore(world.engine).apply('default', 'emails', ONCE)
    const ids = await pushAll(intake, count, { request: { payload } })
    const source = await this.beat()
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const works = await claimed(source, 64)
      assert.equal(works.length, count)
      await source.finish(works.map((work) => ended(world, work, { failed: true })))
      world.clock.advance(1000)
      await this.beat()
      await createShardMaintenance(world.engine, 0).promote()
    }
    assert.equal(await this.#redis.client.zcard(this.shard.queue('1').deadLetters), count)
    return ids
  }

  async makeFinished(count: number): Promise<number[]> {
    const ids = await pushAll(this.intake, count)
    const source = await this.beat()
    for (const work of await claimed(source, 64)) await source.finish([ended(this.world, work)])
    return ids
  }
}
