import { pause } from '../../domain/pause.ts'
import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ObjectKey } from '../../ports/kubernetes.ts'
import { inTurns } from './namespace-order.ts'

export interface StatusRoundsParts {
  /** All there are, once each. */
  keys(): readonly ObjectKey[]
  /** Reads how these stand now. @returns those whose status says otherwise, in the same order */
  news(keys: readonly ObjectKey[]): Promise<readonly ObjectKey[]>
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly onRound?: () => void
  /** What the log says when Redis does not answer. */
  readonly failure: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Rounds over all that has a status, for as long as the signal says. A round reads all of it, then puts what has changed
 * in line, a few a second, each read once more just before: a status that waits for its write does not get old. What a
 * round has no time for waits for the next, before what has changed since; namespaces take turns, so that one of which
 * very much has changed does not hold up the others.
 */
export interface StatusSync {
  run(signal: AbortSignal): Promise<void>
}

/** From the begin of one round to the begin of the next. */
export const ROUND_EVERY_MS = 15_000
/** Changed statuses that are put in line per second, so that ten thousand are not a flood for the API server. */
export const STATUS_WRITES_PER_SECOND = 50
const WRITES_PER_ROUND = (ROUND_EVERY_MS / 1_000) * STATUS_WRITES_PER_SECOND
/** However long a round has taken. */
const REST_MS_MIN = 1_000
/** Read at once. */
const READ_BATCH_MAX = 1_000
/** Redis was away for so many rounds in a row: everything gets a turn, and says so. */
const ROUNDS_AWAY_MAX = 4

export function createStatusSync(parts: StatusRoundsParts): StatusSync {
  return new Rounds(parts)
}

class Rounds implements StatusSync {
  readonly #parts: StatusRoundsParts
  /** What is still to be put in line, the longest waiting of each namespace first. */
  #waiting: readonly ObjectKey[] = []
  #roundsAway = 0

  constructor(parts: StatusRoundsParts) {
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, onRound } = this.#parts
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs()
      try {
        await this.#round(signal)
        this.#roundsAway = 0
        onRound?.()
      } catch (error) {
        await this.#noteAway(error, signal)
      }
      const tookMs = clock.monotonicMs() - startedMs
      await pause(clock, Math.max(REST_MS_MIN, ROUND_EVERY_MS - tookMs), signal)
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { keys, news } = this.#parts
    const all = keys()
    const changed = new Set<ObjectKey>()
    for (let begin = 0; begin < all.length && !signal.aborted; begin += READ_BATCH_MAX) {
      for (const key of await news(all.slice(begin, begin + READ_BATCH_MAX))) changed.add(key)
    }
    const late = this.#waiting.filter((key) => changed.has(key))
    this.#waiting = inTurns(new Set([...late, ...changed]))
    await this.#enqueueSlowly(news, signal)
  }

  /** As many as there is time for in a round. */
  async #enqueueSlowly(choose: StatusRoundsParts['news'], signal: AbortSignal): Promise<void> {
    const { clock, enqueue } = this.#parts
    for (let taken = 0; taken < WRITES_PER_ROUND && this.#waiting.length > 0;) {
      if (taken > 0) await pause(clock, 1_000, signal)
      if (signal.aborted) return
      const batch = this.#waiting.slice(0, STATUS_WRITES_PER_SECOND)
      for (const key of await choose(batch)) enqueue(key)
      this.#waiting = this.#waiting.slice(batch.length)
      taken += batch.length
    }
  }

  /** One turn each tells it; their next ones follow by themselves until Redis answers. */
  async #noteAway(error: unknown, signal: AbortSignal): Promise<void> {
    const { logger, failure, keys } = this.#parts
    this.#roundsAway += 1
    logger[this.#roundsAway === 1 ? 'warn' : 'debug'](failure, { reason: reasonOf(error) })
    if (this.#roundsAway === ROUNDS_AWAY_MAX) this.#waiting = inTurns(keys())
    if (this.#roundsAway >= ROUNDS_AWAY_MAX) await this.#enqueueSlowly(async (batch) => batch, signal)
  }
}
