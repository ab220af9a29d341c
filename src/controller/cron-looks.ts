import { reasonOf } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { CronCensus, CronState } from '../ports/cron-store.ts'
import type { ObjectKey } from '../ports/kube-object.ts'
import type { Logger } from '../ports/logger.ts'
import type { ResourceView } from '../ports/resource-view.ts'
import { placeOfKey } from '../resources/queue-owner.ts'
import { isCronNews } from './cron-status.ts'
import { keyOf, type HttpCron } from './kinds.ts'
import { pause } from '../domain/pause.ts'

export interface CronLooksParts {
  readonly view: Pick<ResourceView<HttpCron>, 'all' | 'get'>
  readonly census: Pick<CronCensus, 'look'>
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Looks at all crons with a resource, round after round. It writes nothing: a cron that is no more as its status says
 * gets a turn of the reconciler, which is the one writer of the status.
 */
export interface CronLooks {
  /** As looked at last; null when it was not yet. */
  of(key: ObjectKey): CronState | null
  run(signal: AbortSignal): Promise<void>
}

/** From the end of one round to the begin of the next. */
export const LOOK_EVERY_MS = 15_000
/** Changed statuses that are put in line per second, so that ten thousand are not a flood for the API server. */
export const LOOK_WRITES_PER_SECOND = 50
/** Crons looked at at once. */
const LOOK_BATCH_MAX = 1_000
/** Redis was away for so many rounds in a row: every cron gets a turn, and says so. */
const ROUNDS_AWAY_MAX = 4

export function createCronLooks(parts: CronLooksParts): CronLooks {
  return new Looks(parts)
}

class Looks implements CronLooks {
  readonly #parts: CronLooksParts
  #seen = new Map<ObjectKey, CronState>()
  #roundsAway = 0

  constructor(parts: CronLooksParts) {
    this.#parts = parts
  }

  of(key: ObjectKey): CronState | null {
    return this.#seen.get(key) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal)
        this.#roundsAway = 0
      } catch (error) {
        await this.#noteAway(error, signal)
      }
      await pause(this.#parts.clock, LOOK_EVERY_MS, signal)
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { view, census } = this.#parts
    const keys = this.#keys()
    const seen = new Map<ObjectKey, CronState>()
    for (let begin = 0; begin < keys.length && !signal.aborted; begin += LOOK_BATCH_MAX) {
      const batch = keys.slice(begin, begin + LOOK_BATCH_MAX)
      const states = await census.look(batch.map(placeOfKey))
      for (const [index, key] of batch.entries()) {
        const state = states[index]
        if (state !== null && state !== undefined) seen.set(key, state)
      }
    }
    this.#seen = seen
    const changed = keys.filter((key) => {
      const state = seen.get(key)
      return state !== undefined && isCronNews(view.get(key)?.status, state)
    })
    await this.#enqueueSlowly(changed, signal)
  }

  #keys(): readonly ObjectKey[] {
    return [...this.#parts.view.all()].map(keyOf)
  }

  async #enqueueSlowly(keys: readonly ObjectKey[], signal: AbortSignal): Promise<void> {
    for (const [index, key] of keys.entries()) {
      if (index > 0 && index % LOOK_WRITES_PER_SECOND === 0) await pause(this.#parts.clock, 1_000, signal)
      if (signal.aborted) return
      this.#parts.enqueue(key)
    }
  }

  /** One turn each tells it; their next ones follow by themselves until Redis answers. */
  async #noteAway(error: unknown, signal: AbortSignal): Promise<void> {
    this.#roundsAway += 1
    const log = this.#roundsAway === 1 ? 'warn' : 'debug'
    this.#parts.logger[log]('Crons could not be looked at', { reason: reasonOf(error) })
    if (this.#roundsAway === ROUNDS_AWAY_MAX) await this.#enqueueSlowly(this.#keys(), signal)
  }
}
