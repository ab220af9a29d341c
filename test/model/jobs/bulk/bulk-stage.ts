import assert from 'node:assert/strict'
import type { BulkAction, BulkOrder } from '../../../../src/domain/bulk/bulk.ts'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import type { CallRecord } from '../../../../src/domain/jobs/job.ts'
import type { BulkShard, BulkWork } from '../../../../src/ports/bulk/bulk.ts'
import type { ClaimedJob, JobIntake } from '../../../../src/ports/jobs.ts'
import type { Engine } from '../../../../src/redis/base/engine/engine.ts'
import { createBulkActs } from '../../../../src/redis/jobs/bulk/acts.ts'
import { createBulkShard } from '../../../../src/redis/jobs/bulk/bulk-shard.ts'
import { createBulkStore } from '../../../../src/redis/jobs/bulk/bulk-store.ts'
import { callRecord, claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

export const TEAM = 'default'
/** Rounds after which a bulk that goes on and on is one that never ends. */
const ROUNDS_MAX = 2_000

/** Bulks on a world, worked off by hand: nothing happens between two calls. */
export class BulkStage {
  readonly world: World
  readonly store: ReturnType<typeof createBulkStore>
  readonly intake: JobIntake
  readonly #shards: readonly BulkShard[]

  constructor(world: World) {
    this.world = world
    this.intake = world.newIntake()
    let ids = 0
    this.store = createBulkStore(world.engine, () => {
      ids += 1
      return (ids % 256) / 256
    })
    this.#shards = this.openShards()
  }

  /** One executor's view of every shard. */
  openShards(engine: Engine = this.world.engine): BulkShard[] {
    const acts = createBulkActs(engine, null)
    return engine.shards.map(({ shard }) => createBulkShard(engine, shard, acts))
  }

  async create(
    action: BulkAction,
    what: readonly number[] | Partial<JobFilter>,
    other: Partial<BulkOrder> = {},
  ) {
    const target = Array.isArray(what)
      ? ({ kind: 'ids', ids: what as number[] } as const)
      : ({ kind: 'filter', filter: { ...ANY_JOB, ...(what as Partial<JobFilter>) } } as const)
    const bulk = await this.store.create(TEAM, { action, target, ratePerSecond: null, ...other }, AN_ACTOR)
    assert.ok(bulk !== 'too_many')
    return bulk
  }

  /** Does what is due, piece by piece, until nothing is. */
  async drive(shards: readonly BulkShard[] = this.#shards): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) if (!(await this.round(shards))) return
    assert.fail('the bulk does not end')
  }

  /** Answers whether anything was due. */
  async round(shards: readonly BulkShard[]): Promise<boolean> {
    let isAny = false
    for (const shard of shards) {
      const { work } = await shard.due()
      for (const piece of work) await shard.tend(piece)
      isAny ||= work.length > 0
    }
    return isAny
  }

  /** Until the part is made, and no page of it is done. */
  async begin(shards: readonly BulkShard[] = this.#shards): Promise<void> {
    for (const shard of shards) {
      const { work } = await shard.due()
      for (const piece of work.filter(({ kind }: BulkWork) => kind === 'whole')) await shard.tend(piece)
    }
  }

  push(count: number, change: Parameters<typeof pushAll>[2] = {}): Promise<number[]> {
    return pushAll(this.intake, count, change)
  }

  /** Jobs whose only attempt failed, in the dead-letter queue. */
  async deadLetters(count: number, change: Parameters<typeof pushAll>[2] = {}): Promise<number[]> {
    const ids = await this.push(count, change)
    await this.failAll()
    return ids
  }

  /**
   * Chains that have ended and are no dead letters. Of those that are `kept`, a call record holds the payload; of others
   * it is gone.
   */
  async finished(
    count: number,
    { failed, kept }: { readonly failed: boolean; readonly kept: boolean },
    change: Parameters<typeof pushAll>[2] = {},
  ): Promise<number[]> {
    const { request, ...other } = change
    const ids = await this.push(count, { ...other, request: { ...request, retriesEnabled: false } })
    await this.endAll((work) => ({ failed, ...(kept ? { call: callOf(this.world, work) } : {}) }))
    return ids
  }

  /** Every ready job fails for good. */
  failAll(): Promise<number> {
    return this.endAll(() => ({ failed: true }))
  }

  /** Ends every ready job. Answers how many there were. */
  async endAll(outcomeOf: (work: ClaimedJob) => Parameters<typeof ended>[2]): Promise<number> {
    let count = 0
    for (const { shard } of this.world.engine.shards) {
      const source = await openExecutor(this.world, `e${shard}`, shard)
      for (;;) {
        const works = await claimed(source, 50)
        if (works.length === 0) break
        count += works.length
        await source.finish(
          works.map((work) => {
            assert.ok(work.kind === 'job')
            const settings = { ...work.settings, retryDelays: [] }
            return ended(this.world, { ...work, settings }, outcomeOf(work))
          }),
        )
      }
      await source.leave()
    }
    return count
  }
}

function callOf(world: World, work: ClaimedJob): CallRecord {
  const call = callRecord(work, world.engine.runner.redisNowMs(work.shard), 0)
  return { ...call, request: { ...call.request, body: work.request.payload } }
}
