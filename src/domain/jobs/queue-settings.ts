import type { SuccessAssertion } from './assertion.ts'

/** When a chain's callback goes out: at its terminal state, or after every attempt. */
export type CallbackEvents = 'terminal' | 'every_attempt'

/** The settings a chain keeps from its first job, whatever is edited later (contract, rule 4). */
export interface ChainSettings {
  /** Whole call, DNS to last body byte: 1–300 s. */
  readonly timeoutSeconds: number
  readonly retriesEnabled: boolean
  /** 1–10 delays of 1–86400 s; their count is the number of retries. */
  readonly retryDelays: readonly number[]
  /** At most 10; all must hold, beside a 2xx status. */
  readonly successAssertions: readonly SuccessAssertion[]
  readonly alertsEnabled: boolean
  readonly dlqRetentionDays: 3 | 7 | 14 | 30
  readonly callbackEvents: CallbackEvents
}

/** A queue's settings: those a chain keeps, and those read live at every claim. */
export interface QueueSettings extends ChainSettings {
  /** false = paused: no new claims, calls in flight end normally. */
  readonly isActive: boolean
  /** Calls in flight at once; null = unlimited. */
  readonly maxParallelism: number | null
  /** Stored for a later issue: keep the slot of a lost executor until its call must have ended. */
  readonly strictParallelism: boolean
}

/** What a queue has that a push or a cron's run makes. The steps know that it is active and has no limit. */
export const DEFAULT_QUEUE_SETTINGS: QueueSettings = Object.freeze({
  isActive: true,
  timeoutSeconds: 30,
  retriesEnabled: true,
  retryDelays: Object.freeze([60, 1800, 10_800]),
  successAssertions: Object.freeze([]),
  alertsEnabled: false,
  maxParallelism: null,
  dlqRetentionDays: 14,
  callbackEvents: 'terminal',
  strictParallelism: false,
})
