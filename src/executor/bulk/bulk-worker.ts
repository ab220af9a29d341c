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
/** After a fault of Redis, and for a piece that failed; each further failure in a row doubles it. */
const RETRY_MS = 2_000
const RETRY_MS_MAX = 60_000
/** Of the time that a piece took. */
const REST_SHARE = 1 / 4
/** Pieces that failed and are left alone for a while. */
const FAILED_MAX = 1_000

/**
 * Works off the bulks of one shard: a round takes one piece of each team, so that a team with many bulks holds up no
 * other, and rests after each for a quarter of the time it took, so that pushes and claims find the shard idle even when every
 * shard of a Redis has a bulk. Owns
 * its loop and which pieces have just failed. `stop` waits for the piece in progress; another executor goes on behind it.
 */
export class BulkWorker extends PollLoop {
  readonly #options: BulkWorkerOptions
  /** By piece: until when it is left alone, monotonic ms, and how often it has failed in a row. */
  readonly #failed = new Map<string, { readonly untilMs: number; readonly failures: number }>()
  /** Cuts short what the loop waits for within a poll. */
  #endRest: () => void = () => undefined

  constructor(options: BulkWorkerOptions) {
    const { bulks, clock, loops } = options
    super({ clock, turns: loops.of('bulk', bulks.shard), retryMs: RETRY_MS })
    this.#options = options
  }

  override async stop(): Promise<void> {
    const stopped = super.stop()
    this.#endRest()
    await stopped
  }

  protected override async poll(): Promise<number> {
    const { bulks } = this.#options
    const { work, nextDueMs } = await bulks.due()
    const round = this.#roundOf(work)
    for (const piece of round) {
      if (this.isStopped) return 0
      if (!(await this.#tend(piece))) break
    }
    if (round.length > 0) return 0
    const untilDueMs = nextDueMs === null ? POLL_MS : nextDueMs - bulks.redisNowMs()
    return Math.max(1, Math.min(POLL_MS, untilDueMs))
  }

  /** Of each team the piece that is due longest. */
  #roundOf(work: readonly BulkWork[]): BulkWork[] {
    const nowMs = this.#options.clock.monotonicMs()
    const isResting = (piece: BulkWork) => (this.#failed.get(nameOf(piece))?.untilMs ?? 0) > nowMs
    const round = new Map<string, BulkWork>()
    for (const piece of work) {
      if (!round.has(piece.team) && !isResting(piece)) round.set(piece.team, piece)
    }
    return [...round.values()]
  }

  /** Answers false when another executor has the turn by now. */
  async #tend(piece: BulkWork): Promise<boolean> {
    const { bulks, clock, places } = this.#options
    const release = await places.take()
    const startedAtMs = clock.monotonicMs()
    try {
      // What was done before it, and the wait for a place, may have outlasted the turn.
      if (!(await bulks.takeTurn())) return false
      await bulks.tend(piece)
      this.#failed.delete(nameOf(piece))
    } catch (error) {
      this.#noteFailure(piece, error)
    } finally {
      release()
    }
    await this.#rest((clock.monotonicMs() - startedAtMs) * REST_SHARE)
    return true
  }

  #noteFailure(piece: BulkWork, error: unknown): void {
    const { bulks, clock, logger } = this.#options
    const { team, id } = piece
    const nowMs = clock.monotonicMs()
    const failures = (this.#failed.get(nameOf(piece))?.failures ?? 0) + 1
    const level = failures === 1 ? 'warn' : 'debug'
    logger[level]('A bulk cannot go on; retrying', { team, id, shard: bulks.shard, reason: reasonOf(error) })
    // A bulk that has gone since then is forgotten when the list is full.
    if (this.#failed.size >= FAILED_MAX) {
      for (const [name, { untilMs }] of this.#failed) if (untilMs <= nowMs) this.#failed.delete(name)
    }
    if (this.#failed.size >= FAILED_MAX) return
    const restMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (failures - 1))
    this.#failed.set(nameOf(piece), { untilMs: nowMs + restMs, failures })
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
