import { reasonOf } from '../../domain/errors.ts'
import type { BulkShard, BulkWork } from '../../ports/bulk/bulk.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { PollLoop } from '../poll-loop.ts'
import type { BulkPlaces } from './bulk-places.ts'

export interface BulkWorkerOptions extends Runtime {
  readonly bulks: BulkShard
  readonly loops: LoopHealth
  /** Shared by the workers of all shards. */
  readonly places: BulkPlaces
}

/** A new bulk begins within this time. */
const POLL_MS = 500
/** Pause after a fault of Redis, or of work that failed; each further failure in a row doubles it. */
const RETRY_MS = 2_000
const RETRY_MS_MAX = 60_000
/** Share of the time that some work took, for which the loop then rests. */
const REST_SHARE = 1 / 4
/** Work that failed and is left alone for a while. */
const FAILED_MAX = 1_000

/**
 * Works off the bulks of one shard: a round does one page of each team, so that a team with many bulks holds up no other.
 * It rests after each for a quarter of the time it took, so that pushes and claims find the shard idle even when every
 * shard of a Redis has a bulk. Owns its loop and which work has just failed. `stop` waits for the work in progress; another
 * executor goes on behind it.
 */
export class BulkWorker extends PollLoop {
  readonly #options: BulkWorkerOptions
  /** Work that failed, by name: when it is tried again, monotonic ms, and its failures in a row. */
  readonly #failed = new Map<string, { readonly untilMs: number; readonly failures: number }>()
  /** Cuts short what the loop waits for within a poll. */
  #endRest: () => void = () => undefined

  constructor(options: BulkWorkerOptions) {
    const { bulks, clock, loops } = options
    super({ clock, iterations: loops.of('bulk', bulks.shard), retryMs: RETRY_MS })
    this.#options = options
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    this.#endRest()
    await stopped
  }

  protected override async poll(): Promise<number> {
    const { bulks } = this.#options
    const { work: due, nextDueMs } = await bulks.due()
    const round = this.#roundOf(due)
    for (const work of round) {
      if (this.isStopped) return 0
      if (!(await this.#tend(work))) break
    }
    if (round.length > 0) return 0
    const untilDueMs = nextDueMs === null ? POLL_MS : nextDueMs - bulks.redisNowMs()
    return Math.max(1, Math.min(POLL_MS, untilDueMs))
  }

  /** Picks for each team its work that has been due longest. */
  #roundOf(due: readonly BulkWork[]): BulkWork[] {
    const nowMs = this.#options.clock.monotonicMs()
    const isResting = (work: BulkWork) => (this.#failed.get(nameOf(work))?.untilMs ?? 0) > nowMs
    const round = new Map<string, BulkWork>()
    for (const work of due) {
      if (!round.has(work.team) && !isResting(work)) round.set(work.team, work)
    }
    return [...round.values()]
  }

  /** Answers false when another executor has the lock by now. */
  async #tend(work: BulkWork): Promise<boolean> {
    const { bulks, clock, places } = this.#options
    const release = await places.take()
    const startedAtMs = clock.monotonicMs()
    try {
      // What was done before it, and the wait for a place, may have outlasted the lock.
      if (!(await bulks.takeLock())) return false
      await bulks.tend(work)
      this.#failed.delete(nameOf(work))
    } catch (error) {
      this.#noteFailure(work, error)
    } finally {
      release()
    }
    await this.#rest((clock.monotonicMs() - startedAtMs) * REST_SHARE)
    return true
  }

  #noteFailure(work: BulkWork, error: unknown): void {
    const { bulks, clock, logger } = this.#options
    const { team, id } = work
    const nowMs = clock.monotonicMs()
    const failures = (this.#failed.get(nameOf(work))?.failures ?? 0) + 1
    const level = failures === 1 ? 'warn' : 'debug'
    logger[level]('A bulk cannot go on; retrying', { team, id, shard: bulks.shard, reason: reasonOf(error) })
    // A bulk that has gone since then is forgotten when the list is full.
    if (this.#failed.size >= FAILED_MAX) {
      for (const [name, { untilMs }] of this.#failed) if (untilMs <= nowMs) this.#failed.delete(name)
    }
    if (this.#failed.size >= FAILED_MAX) return
    const restMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (failures - 1))
    this.#failed.set(nameOf(work), { untilMs: nowMs + restMs, failures })
  }

  #rest(ms: number): Promise<void> {
    if (ms <= 0 || this.isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(Math.min(ms, RETRY_MS), resolve)
      this.#endRest = () => {
        cancel()
        resolve()
      }
    })
  }
}

function nameOf({ team, id, kind }: BulkWork): string {
  return `${team}/${id}/${kind}`
}
