import { isOutage, reasonOf } from './errors.ts'
import { LruCache } from './lru-cache.ts'

/** Kinds of things that are set aside when our own code throws over them; a label of a metric. */
export const SET_ASIDE_KINDS = [
  'window',
  'cron',
  'limit_warning',
  'bulk_job',
  'channel',
  'statistics',
  /** A token, or the settings of a team. */
  'settings',
  /** An executor, queue or part of the upkeep of a shard. */
  'upkeep',
] as const

export type SetAsideKind = (typeof SET_ASIDE_KINDS)[number]

/** Things that are remembered as told. */
const LOGGED_MAX = 1_000

interface Sinks {
  readonly logger: { error(message: string, fields: Record<string, unknown>): void }
  readonly metrics: { setAside(kind: SetAsideKind): void }
}

/**
 * Leaves out what our own code throws over, so that it stops nothing but itself. Owns what was told: each thing is
 * counted and logged once for each reason, however often it is met.
 */
export class SetAside {
  readonly #kind: SetAsideKind
  readonly #sinks: Sinks
  /** Last reason logged for each thing, so that the same one is not logged again. */
  readonly #logged = new LruCache<string, string>(LOGGED_MAX)

  constructor(kind: SetAsideKind, sinks: Sinks) {
    this.#kind = kind
    this.#sinks = sinks
  }

  /** @param thing what identifies it, such as team and name */
  note(thing: Record<string, string | number>, defect: unknown): void {
    const reason = reasonOf(defect)
    const key = JSON.stringify(thing)
    if (this.#logged.get(key) === reason) return
    this.#logged.set(key, reason)
    this.#sinks.metrics.setAside(this.#kind)
    const fields = { kind: this.#kind, ...thing, reason }
    this.#sinks.logger.error('Something was set aside because of a defect; all else goes on', fields)
  }

  /** Answers what `judge` does; `otherwise` if it throws because of a defect. Throws outages. */
  try<T, U>(thing: Record<string, string | number>, judge: () => T, otherwise: U): T | U {
    try {
      return judge()
    } catch (error) {
      if (isOutage(error)) throw error
      this.note(thing, error)
      return otherwise
    }
  }
}
