import { LruCache } from './lru-cache.ts'

const LINE_EVERY_MS = 60_000
/** Kinds that are told apart; of more, those that came longest ago count as new when they come again. */
const KINDS_MAX = 1_000

interface KnownKind {
  /** Faults since the last line. */
  count: number
  loggedAtMs: number
}

/**
 * Decides when a fault is logged that may come thousands of times a second: the first of its kind at once, then one line
 * a minute, with the count.
 */
export class LogGate {
  readonly #kinds = new LruCache<string, KnownKind>(KINDS_MAX)

  /** Notes one fault. Answers how many the line stands for; 0 = it is not logged. */
  pass(kind: string, nowMs: number): number {
    const known = this.#kinds.get(kind)
    if (known === undefined) {
      this.#kinds.set(kind, { count: 0, loggedAtMs: nowMs })
      return 1
    }
    known.count += 1
    if (nowMs - known.loggedAtMs < LINE_EVERY_MS) return 0
    const { count } = known
    known.count = 0
    known.loggedAtMs = nowMs
    return count
  }
}
