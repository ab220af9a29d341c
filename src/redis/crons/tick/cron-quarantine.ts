import type { Engine } from '../../base/engine/engine.ts'

type Sinks = Pick<Engine, 'logger' | 'metrics'>

/** Team and name are left out when they cannot be read. */
export interface CronId {
  readonly cronId: number
  readonly team?: string
  readonly name?: string
}

interface QuarantinedCron {
  readonly dueMs: number
  readonly reason: string
  readonly sinceMs: number
}

/** An edit can repair a cron without moving its next tick; it is noticed after this time. */
const QUARANTINE_MS = 60_000
const QUARANTINED_MAX = 10_000

/**
 * Crons of a shard that cannot be ticked, because their records are damaged, a newer version wrote them, or our own code
 * throws over them. Each is logged and counted once, and left out for a while. A cron that is due at another time by now was repaired by an edit or ticked by another
 * version. Owns which crons these are, why, and since when.
 */
export class CronQuarantine {
  readonly #sinks: Sinks
  readonly #nowMs: () => number
  readonly #crons = new Map<number, QuarantinedCron>()
  #isFull = false

  /** @param nowMs in Redis time */
  constructor(sinks: Sinks, nowMs: () => number) {
    this.#sinks = sinks
    this.#nowMs = nowMs
  }

  /** Quarantined crons; a list leaves out at most this many. */
  get size(): number {
    return this.#crons.size
  }

  has(cronId: number, dueMs: number): boolean {
    const cron = this.#crons.get(cronId)
    return cron?.dueMs === dueMs && this.#isWithin(cron, QUARANTINE_MS)
  }

  /** Answers false when the quarantine is full. */
  add(cron: CronId, dueMs: number, reason: string): boolean {
    const { cronId } = cron
    const { logger, metrics } = this.#sinks
    const known = this.#crons.get(cronId)
    if (known === undefined && !this.#hasRoom()) return false
    if (known?.reason !== reason) {
      metrics.setAside('cron')
      logger.error('A cron cannot be ticked', { ...cron, reason })
    }
    this.#crons.set(cronId, { dueMs, reason, sinceMs: this.#nowMs() })
    return true
  }

  #isWithin({ sinceMs }: QuarantinedCron, periodMs: number): boolean {
    return Math.abs(this.#nowMs() - sinceMs) < periodMs
  }

  #hasRoom(): boolean {
    if (this.#crons.size >= QUARANTINED_MAX) this.#forgetOld()
    const wasFull = this.#isFull
    this.#isFull = this.#crons.size >= QUARANTINED_MAX
    if (this.#isFull && !wasFull) {
      this.#sinks.logger.error('Crons that cannot be ticked hold up others', { crons: this.#crons.size })
    }
    return !this.#isFull
  }

  /** Forgets the crons that were not found damaged again. */
  #forgetOld(): void {
    for (const [cronId, cron] of this.#crons) {
      if (!this.#isWithin(cron, 2 * QUARANTINE_MS)) this.#crons.delete(cronId)
    }
  }
}
