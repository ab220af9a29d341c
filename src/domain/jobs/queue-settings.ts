import type { SuccessAssertion } from './assertion.ts'
import { NO_FLOW, type FlowSettings } from './flow.ts'

/** When a chain's callback goes out: at its terminal state, or after every attempt. */
export type CallbackEvents = 'terminal' | 'every_attempt'

/** What call records keep of responses: headers and body, or nothing but the status. */
export const RECORDED_RESPONSES = ['all', 'none'] as const
export type RecordedResponses = (typeof RECORDED_RESPONSES)[number]

/** The settings that a chain keeps from its first job, even if the queue is edited later (contract, rule 4). */
export interface ChainSettings {
  /** Whole call, DNS to last body byte: 1–300 s. */
  readonly timeoutSeconds: number
  readonly retriesEnabled: boolean
  /** 1–10 delays of 1–86400 s; their count is the number of retries. */
  readonly retryDelays: readonly number[]
  /** At most 20 statuses of 400–599 after which no retry follows. */
  readonly noRetryStatuses: readonly number[]
  /** Each delay is lengthened at random by up to this part of it: 0–100. */
  readonly retryJitterPercent: number
  /** At most 10. All must hold, in addition to a 2xx status. */
  readonly successAssertions: readonly SuccessAssertion[]
  readonly alertsEnabled: boolean
  readonly dlqRetentionDays: 3 | 7 | 14 | 30
  readonly callbackEvents: CallbackEvents
  readonly recordResponses: RecordedResponses
}

/** A queue's settings: those that a chain keeps, and those that every claim or end reads. */
export interface QueueSettings extends ChainSettings, FlowSettings {
  /** false = paused: no new claims, calls in flight end normally. */
  readonly isActive: boolean
  /** true = the queue takes no new jobs; what it has runs off, with retries and callbacks. */
  readonly isDraining: boolean
  /** Calls in flight at once; null = unlimited. */
  readonly maxParallelism: number | null
  /** Stored, without effect yet: to keep the slot of a lost executor until its call must have ended. */
  readonly strictParallelism: boolean
}

/** The settings of a queue made by a push or a cron's run. The Lua steps rely on its being active and unlimited. */
export const DEFAULT_QUEUE_SETTINGS: QueueSettings = Object.freeze({
  isActive: true,
  isDraining: false,
  timeoutSeconds: 30,
  retriesEnabled: true,
  retryDelays: Object.freeze([60, 1800, 10_800]),
  noRetryStatuses: Object.freeze([]),
  retryJitterPercent: 0,
  successAssertions: Object.freeze([]),
  alertsEnabled: false,
  maxParallelism: null,
  dlqRetentionDays: 14,
  callbackEvents: 'terminal',
  recordResponses: 'all',
  strictParallelism: false,
  ...NO_FLOW,
})
