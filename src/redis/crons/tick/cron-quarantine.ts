import type { Logger } from '../../../ports/runtime.ts'

/**
 * Crons of a shard that cannot be ticked: their records are damaged, or a newer version wrote them. Each is told of
 * once, and left out for a while as if it were not there. One that is listed for another time by now was ticked by
 * another version, or mended by an edit. Owns: which crons, why, and until when.
 */
export interface CronsAside {
  /** How many there are at most among those listed. */
  readonly size: number
  has(cronId: number, dueMs: number): boolean
  /** Answers false when it cannot be remembered. */
  add(cronId: number, dueMs: number, reason: string): boolean
}

interface AsideCron {
  readonly dueMs: number
  readonly reason: string
  readonly sinceMs: number
}

/** An edit may mend a cron and leave its next tick as it is: so late it is found. */
const ASIDE_MS = 60_000
const ASIDE_MAX = 10_000

/** @param nowMs by Redis time */
export function createCronsAside(logger: Logger, nowMs: () => number): CronsAside {
  const aside = new Map<number, AsideCron>()
  let isFull = false

  function isWithin({ sinceMs }: AsideCron, periodMs: number): boolean {
    return Math.abs(nowMs() - sinceMs) < periodMs
  }

  /** Those that were not found again when they were looked at. */
  function forgetOld(): void {
    for (const [cronId, cron] of aside) if (!isWithin(cron, 2 * ASIDE_MS)) aside.delete(cronId)
  }

  function hasRoom(): boolean {
    if (aside.size >= ASIDE_MAX) forgetOld()
    const wasFull = isFull
    isFull = aside.size >= ASIDE_MAX
    if (isFull && !wasFull) logger.error('Crons that cannot be ticked hold up others', { crons: aside.size })
    return !isFull
  }

  return {
    get size() {
      return aside.size
    },
    has: (cronId, dueMs) => {
      const cron = aside.get(cronId)
      return cron?.dueMs === dueMs && isWithin(cron, ASIDE_MS)
    },
    add: (cronId, dueMs, reason) => {
      const known = aside.get(cronId)
      if (known === undefined && !hasRoom()) return false
      if (known?.reason !== reason) logger.error('A cron cannot be ticked', { cronId, reason })
      aside.set(cronId, { dueMs, reason, sinceMs: nowMs() })
      return true
    },
  }
}
