import { QUOTA_NAMES, type QuotaName, type TeamQuotas } from '../quotas.ts'
import type { AlertFacts } from './alert-message.ts'
import type { LimitReason } from './alert.ts'

const MINUTE_MS = 60_000
export const SATURATED_RAISE_MS = 5 * MINUTE_MS
export const SATURATED_CLEAR_MS = 2.5 * MINUTE_MS
export const GROWING_RAISE = 100
export const GROWING_CLEAR = 50
/** Dead letters that were added within this time count as growth. */
export const GROWING_WITHIN_MS = 60 * MINUTE_MS
/** Dead letters that will be purged within this time are expiring. */
export const EXPIRING_WITHIN_MS = 24 * 60 * MINUTE_MS
/** Parts of the memory that Redis may use. */
export const STORAGE_RAISE = 0.8
export const STORAGE_CLEAR = 0.75
/** Parts of a quota. */
export const QUOTA_RAISE = 0.8
export const QUOTA_CLEAR = 0.7

/** Result of one scan for one limit. */
export type LimitFinding =
  /** Level 2 is a quota that is used up, everything else is level 1. */
  | { readonly kind: 'over'; readonly level: 1 | 2 }
  /** Between the two bounds: a standing warning stands, and none is raised. */
  | { readonly kind: 'between' }
  | { readonly kind: 'clear' }

/** A warning that was raised and has not cleared. */
export interface StandingWarning {
  readonly level: number
  /** A maintenance window kept it from being sent. */
  readonly isMuted: boolean
}

/**
 * Decides what a finding changes. A warning is raised once, again at a higher level, and again when it still stands
 * after the window that muted it; otherwise only after it has cleared.
 */
export function warningChange(
  standing: StandingWarning | null,
  finding: LimitFinding,
  isMuted: boolean,
): 'raise' | 'clear' | null {
  if (finding.kind === 'clear') return standing === null ? null : 'clear'
  if (finding.kind === 'between') return null
  if (standing === null || finding.level > standing.level) return 'raise'
  return standing.isMuted && !isMuted ? 'raise' : null
}

export type QueueLimit = Exclude<LimitReason, 'storage_nearly_full' | 'quota_nearly_used'>
export const QUEUE_LIMITS = [
  'queue_saturated',
  'dead_letters_growing',
  'dead_letters_expiring',
] as const satisfies readonly QueueLimit[]

/** A queue at one moment. */
export interface QueueReading {
  readonly alertsEnabled: boolean
  readonly isActive: boolean
  /** null = unlimited. */
  readonly maxParallelism: number | null
  /** Slots of calls in flight, and of suspects that wait: they keep theirs. */
  readonly slotsTaken: number
  readonly ready: number
  /** Time for which the oldest ready job has been due; null = none is ready. */
  readonly oldestReadyMs: number | null
  /** Dead letters that were added within GROWING_WITHIN_MS and are still there. */
  readonly addedDeadLetters: number
  /** Dead letters that will be purged within EXPIRING_WITHIN_MS. */
  readonly expiringDeadLetters: number
}

const CLEAR: LimitFinding = Object.freeze({ kind: 'clear' })
const BETWEEN: LimitFinding = Object.freeze({ kind: 'between' })
const OVER: LimitFinding = Object.freeze({ kind: 'over', level: 1 })

export function judgeQueue(limit: QueueLimit, queue: QueueReading): LimitFinding {
  if (!queue.alertsEnabled) return CLEAR
  switch (limit) {
    case 'queue_saturated':
      return judgeWaiting(queue)
    case 'dead_letters_growing':
      return judgeValue(queue.addedDeadLetters, { raiseFrom: GROWING_RAISE, clearBelow: GROWING_CLEAR })
    case 'dead_letters_expiring':
      return queue.expiringDeadLetters > 0 ? OVER : CLEAR
  }
}

/**
 * Judges a queue by its oldest ready job: between two calls a slot is free for a moment, so a free slot alone does not
 * mean that the trouble is over.
 */
function judgeWaiting({ isActive, maxParallelism, slotsTaken, oldestReadyMs }: QueueReading): LimitFinding {
  if (!isActive || maxParallelism === null || oldestReadyMs === null) return CLEAR
  if (oldestReadyMs < SATURATED_CLEAR_MS) return CLEAR
  return slotsTaken >= maxParallelism && oldestReadyMs > SATURATED_RAISE_MS ? OVER : BETWEEN
}

function judgeValue(
  value: number,
  { raiseFrom, clearBelow }: { raiseFrom: number; clearBelow: number },
): LimitFinding {
  if (value >= raiseFrom) return OVER
  return value < clearBelow ? CLEAR : BETWEEN
}

/** How full a Redis is. */
export interface Storage {
  /** Memory that counts. */
  readonly usedBytes: number
  /** 0 = no limit. */
  readonly maxBytes: number
}

export function judgeStorage({ usedBytes, maxBytes }: Storage): LimitFinding {
  if (maxBytes === 0) return CLEAR
  const part = usedBytes / maxBytes
  if (part > STORAGE_RAISE) return OVER
  return part < STORAGE_CLEAR ? CLEAR : BETWEEN
}

/** @param limit null = unlimited; 0 allows nothing, which nobody needs to be warned of */
export function judgeQuota(used: number, limit: number | null): LimitFinding {
  if (limit === null || limit === 0 || used < limit * QUOTA_CLEAR) return CLEAR
  if (used >= limit) return { kind: 'over', level: 2 }
  return used >= limit * QUOTA_RAISE ? OVER : BETWEEN
}

export interface QuotaFinding {
  readonly name: QuotaName
  readonly used: number
  readonly limit: number | null
  readonly finding: LimitFinding
}

export function judgeQuotas(
  usage: Readonly<Record<QuotaName, number>>,
  quotas: TeamQuotas,
): readonly QuotaFinding[] {
  return QUOTA_NAMES.map((name) => {
    const [used, limit] = [usage[name], quotas[name]]
    return { name, used, limit, finding: judgeQuota(used, limit) }
  })
}

/** Facts of a warning at the time it was raised; limit-message.ts makes a sentence of them. */
export function queueLimitFacts(limit: QueueLimit, queue: QueueReading): AlertFacts {
  switch (limit) {
    case 'queue_saturated':
      return [queue.maxParallelism ?? 0, queue.ready, queue.oldestReadyMs ?? 0]
    case 'dead_letters_growing':
      return [queue.addedDeadLetters]
    case 'dead_letters_expiring':
      return [queue.expiringDeadLetters]
  }
}

export function storageFacts({ usedBytes, maxBytes }: Storage): AlertFacts {
  return [usedBytes, maxBytes]
}

/** @param quotas those that reached a level in the same scan */
export function quotaFacts(quotas: readonly QuotaFinding[]): AlertFacts {
  return quotas.flatMap(({ name, used, limit }) => [name, used, limit ?? 0])
}
