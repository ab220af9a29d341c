import type { CircuitBreaker } from '../../../../src/domain/jobs/flow.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { ClaimedJob, JobIntake, JobSource, WorkEnd } from '../../../../src/ports/jobs.ts'
import type { Queue, QueueStore } from '../../../../src/ports/queues.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { throttleMark } from '../../../../src/redis/base/layout/queue-record.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'

export const BREAKER: CircuitBreaker = { failurePercent: 50, minCalls: 4, windowSeconds: 60, openSeconds: 30 }

/** How a target answers: with 200, with 500, or so and with a wish to be left alone. */
export type Answer = 'good' | 'bad' | { readonly status: 429 | 503; readonly retryAfterMs: number }

/** A world of one shard with the queue `partner`, whose jobs are called in virtual time. */
export class FlowStage {
  readonly world: World
  readonly store: QueueStore
  readonly intake: JobIntake
  /** When each call began, in ms since the stage was opened. */
  readonly begins: number[] = []
  readonly #redis: TestRedis
  readonly #sources: JobSource[] = []
  readonly #startMs: number

  static async open(redis: TestRedis, settings: Partial<QueueSettings>, executors = 1): Promise<FlowStage> {
    const stage = new FlowStage(redis, await openWorld(redis, { shards: 1 }))
    await stage.set(settings)
    for (let i = 0; i < executors; i += 1) stage.#sources.push(await openExecutor(stage.world, `e${i + 1}`))
    return stage
  }

  private constructor(redis: TestRedis, world: World) {
    this.#redis = redis
    this.world = world
    this.store = createQueueStore(world.engine)
    this.intake = world.newIntake()
    this.#startMs = world.clock.monotonicMs
  }

  get nowMs(): number {
    return this.world.clock.monotonicMs - this.#startMs
  }

  get source(): JobSource {
    return this.#sources[0] as JobSource
  }

  /** The queue of the stage, or another one. */
  set(settings: Partial<QueueSettings>, queue = 'partner'): Promise<{ queueId: number }> {
    return this.store.apply('default', queue, { ...DEFAULT_QUEUE_SETTINGS, ...settings })
  }

  push(count: number, queue = 'partner'): Promise<number[]> {
    return pushAll(this.intake, count, { queue })
  }

  async queue(): Promise<Queue> {
    const queue = await this.store.getByName('default', 'partner')
    if (queue === null) throw new Error('the queue is gone')
    return queue
  }

  /** When the queue is looked after, in ms since the stage was opened; null = it is not throttled. */
  async markedAt(): Promise<number | null> {
    const score = await this.#redis.client.zscore(shardKeys(this.world.engine, 0).nearSet, throttleMark('1'))
    return score === null ? null : Number(score) - this.world.clock.wallMs + this.nowMs
  }

  isInRing(): Promise<boolean> {
    return this.#redis.client
      .zscore(shardKeys(this.world.engine, 0).ring, '1')
      .then((score) => score !== null)
  }

  /** Lets time pass at once, and looks at what is due by then. */
  async pass(ms: number): Promise<unknown> {
    this.world.clock.advance(ms)
    await this.source.beat(true)
    return this.promote()
  }

  promote(): Promise<unknown> {
    return createShardMaintenance(this.world.engine, 0).promote()
  }

  /** Claims with one executor, and notes what begins. */
  async claim(most = 64, source = this.source): Promise<ClaimedJob[]> {
    const works = (await claimed(source, most)).filter((work) => work.kind === 'job')
    for (const _ of works) this.begins.push(this.nowMs)
    return works
  }

  async end(works: readonly ClaimedJob[], answer: Answer = 'good', source = this.source): Promise<void> {
    if (works.length > 0) await source.finish(works.map((work) => this.endOf(work, answer)))
  }

  endOf(work: ClaimedJob, answer: Answer): WorkEnd {
    const end = ended(this.world, work, { failed: answer !== 'good' })
    return typeof answer === 'string' || end.type !== 'ended'
      ? end
      : { ...end, retryAfterMs: answer.retryAfterMs }
  }

  /**
   * Lets time pass, and has each executor promote, claim and end what it has claimed at each step of it.
   * @param answers what the target says at this time
   */
  async run(
    ms: number,
    { stepMs = 1, answers = () => 'good' }: { stepMs?: number; answers?: (atMs: number) => Answer } = {},
  ): Promise<void> {
    const endMs = this.nowMs + ms
    while (this.nowMs < endMs) {
      this.world.clock.advance(Math.min(stepMs, endMs - this.nowMs))
      const nth = Math.floor(this.nowMs / stepMs) % this.#sources.length
      const source = this.#sources[nth] as JobSource
      for (const one of this.#sources) if (this.nowMs % 3_000 < stepMs) await one.beat(false)
      await this.promote()
      await this.end(await this.claim(64, source), answers(this.nowMs), source)
    }
  }
}

/** The most calls that begin in any span of that length: for each begin, those behind it and it. */
export function mostWithin(begins: readonly number[], spanMs: number): number {
  let most = 0
  for (const [at, begin] of begins.entries()) {
    const count = begins.slice(0, at + 1).filter((other) => other > begin - spanMs).length
    most = Math.max(most, count)
  }
  return most
}
