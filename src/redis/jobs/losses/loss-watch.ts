import { reasonOf, StoreUnavailableError } from '../../../domain/errors.ts'
import { splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { LostJobs } from './accepted-rows.ts'
import type { AcceptedSteps } from './accepted-steps.ts'
import { tellLoss } from './tell-loss.ts'

/** The marks are read this often, for an intake that has nothing to push. */
const LOOK_EVERY_MS = 5_000
/** After an answer has told of a loss, others are waited for, so that one line tells of all shards. */
const GATHER_MS = 500
/** A loss that changes while it is told is told anew this often; the next look goes on. */
const TRIES_MAX = 3

/** What was lost in one shard. */
interface ShardLoss {
  readonly shard: number
  readonly queues: readonly LostJobs[]
  readonly isAll: boolean
}

/**
 * Finds what Redis has lost of the jobs that this process accepted, when it comes back with less than it had (a cut
 * append-only file, an older copy, a failover to a replica that lagged), and tells of it: a line in the log, a metric, an
 * alert for each queue and a note in its record. Each process tells of its own jobs alone, so none is told twice. Owns the
 * timer of the next look.
 *
 *     new → watching (a timer is set or a look is under way) → stopped
 *
 * `stop` waits for nothing.
 */
export class LossWatch {
  readonly #engine: Engine
  readonly #steps: AcceptedSteps
  readonly #clock: Pick<Clock, 'after'>
  #isLooking = false
  #isGathering = false
  #isStopped = false
  #cancelTimer = (): void => undefined

  constructor({
    engine,
    steps,
    clock,
  }: {
    readonly engine: Engine
    readonly steps: AcceptedSteps
    readonly clock: Pick<Clock, 'after'>
  }) {
    this.#engine = engine
    this.#steps = steps
    this.#clock = clock
  }

  start(): void {
    this.#steps.onLost(() => this.#gather())
    this.#lookIn(LOOK_EVERY_MS)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  /** Never throws. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const found = await Promise.all(this.#engine.shards.map((keys) => this.#lookAt(keys)))
      this.#report(found.filter((loss) => loss !== null))
    } catch (error) {
      this.#engine.logger.warn('What Redis has lost could not be told', { reason: reasonOf(error) })
    } finally {
      this.#isLooking = false
    }
  }

  /** Every answer tells of a loss until it is told: those that come meanwhile must not put the look off. */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#lookIn(GATHER_MS)
  }

  #lookIn(ms: number): void {
    this.#cancelTimer()
    if (this.#isStopped) return
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.#isGathering = false
      void this.look().finally(() => this.#lookIn(LOOK_EVERY_MS))
    })
  }

  /** A shard that is away is looked at next time. */
  async #lookAt(keys: ShardKeys): Promise<ShardLoss | null> {
    try {
      await this.#find(keys)
      return await this.#tell(keys)
    } catch (error) {
      if (error instanceof StoreUnavailableError) return null
      throw error
    }
  }

  async #find({ shard, intakeMark }: ShardKeys): Promise<void> {
    const { runner } = this.#engine
    // Before the mark is read, as a later answer is of a later mark.
    const answered = this.#steps.answered(shard, runner.redisNowMs(shard))
    if (answered === 0) return
    const mark = await runner.read((redis) => redis.get(intakeMark(this.#steps.nonce)))
    const [last = 0, from, to] = (mark ?? '0').split(' ').map(Number)
    // Another server may have answered what was found last time: nothing is told that this one does not say.
    if (from !== undefined && to !== undefined) this.#steps.noteLost(shard, { from, to })
    else this.#steps.noteLost(shard, last < answered ? { from: last, to: answered } : null)
  }

  async #tell(keys: ShardKeys): Promise<ShardLoss | null> {
    const { shard } = keys
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const lost = this.#steps.lost(shard)
      if (lost === null) return null
      const { queues, isAll } = this.#steps.jobsOf(shard, lost)
      const answer = await tellLoss(this.#engine, keys, {
        intake: this.#steps.nonce,
        answered: lost.to,
        lost,
        queues,
      })
      if (answer === 'told') {
        this.#steps.told(shard, lost)
        return { shard, queues, isAll }
      }
      if (answer === 'nothing') {
        this.#steps.noteLost(shard, null)
        return null
      }
      this.#steps.noteLost(shard, answer)
    }
    return null
  }

  #report(losses: readonly ShardLoss[]): void {
    if (losses.length === 0) return
    const { logger, metrics } = this.#engine
    const queues = losses.flatMap((loss) => loss.queues)
    const jobs = queues.reduce((sum, { count }) => sum + count, 0)
    metrics.jobsLost(jobs)
    logger.error('Redis came back with less than it had answered', {
      jobs,
      isAll: losses.every(({ isAll }) => isAll),
      queues: queues.length,
      teams: new Set(queues.map(({ field }) => splitNameField(field).team)).size,
      shards: losses.map(({ shard }) => shard),
      ...(jobs > 0 && {
        acceptedFrom: new Date(Math.min(...queues.map(({ fromMs }) => fromMs))).toISOString(),
        acceptedTo: new Date(Math.max(...queues.map(({ toMs }) => toMs))).toISOString(),
      }),
      advice: 'See "PunctualJobsLost" in docs/runbooks.md.',
    })
  }
}
