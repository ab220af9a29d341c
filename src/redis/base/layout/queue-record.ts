import { createHash } from 'node:crypto'
import type { CircuitBreaker, FlowSettings, Throttle } from '../../../domain/jobs/flow.ts'
import type { ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import { decodeAssertions, encodeAssertions, type EncodedAssertions } from './job-record.ts'
import { decodeRecorded, encodeRecorded } from './recorded-responses.ts'

/** Chain settings as frozen in `set`, and their name, which is the hash of their content. */
export function encodeSettings(settings: ChainSettings): { hash: string; json: string } {
  const { noRetryStatuses, retryJitterPercent, recordResponses } = settings
  // Settings that have none of them keep the hash that they had before there were these.
  const recorded = encodeRecorded(recordResponses)
  const added = noRetryStatuses.length > 0 || retryJitterPercent > 0 || recorded > 0
  const json = JSON.stringify([
    settings.timeoutSeconds,
    settings.retriesEnabled,
    settings.retryDelays,
    encodeAssertions(settings.successAssertions),
    settings.alertsEnabled,
    settings.dlqRetentionDays,
    settings.callbackEvents,
    ...(added ? [noRetryStatuses, retryJitterPercent] : []),
    ...(recorded > 0 ? [recorded] : []),
  ])
  return { hash: hashOf(json), json }
}

/** null when they are damaged, because the name is not their hash. */
export function settingsIn(hash: string, json: string): ChainSettings | null {
  return hashOf(json) === hash ? decodeSettings(json) : null
}

function hashOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 11)
}

type SettingsTuple = [
  timeoutSeconds: number,
  retriesEnabled: boolean,
  retryDelays: number[],
  assertions: EncodedAssertions,
  alertsEnabled: boolean,
  dlqRetentionDays: ChainSettings['dlqRetentionDays'],
  callbackEvents: ChainSettings['callbackEvents'],
  noRetryStatuses?: number[],
  retryJitterPercent?: number,
  recordResponses?: number,
]

export function decodeSettings(json: string): ChainSettings {
  const [timeoutSeconds, retriesEnabled, retryDelays, assertions, alertsEnabled, dlqRetentionDays, ...rest] =
    JSON.parse(json) as SettingsTuple
  const [events, noRetryStatuses = [], retryJitterPercent = 0, recorded] = rest
  return {
    timeoutSeconds,
    retriesEnabled,
    retryDelays,
    noRetryStatuses,
    retryJitterPercent,
    successAssertions: decodeAssertions(assertions),
    alertsEnabled,
    dlqRetentionDays,
    callbackEvents: events,
    recordResponses: decodeRecorded(recorded),
  }
}

/** The text of `flow` in the hash of a queue, which base/ring/flow.lua describes; '' = nothing is set. */
export function encodeFlow({ rateLimit, respectRetryAfter, circuitBreaker }: FlowSettings): string {
  if (rateLimit === null && !respectRetryAfter && circuitBreaker === null) return ''
  const rate = rateLimit === null ? ['', ''] : [rateLimit.limit, rateLimit.periodSeconds * 1000]
  return [...rate, respectRetryAfter ? 1 : '', ...breakerParts(circuitBreaker)].join('|')
}

function breakerParts(breaker: CircuitBreaker | null): ReadonlyArray<number | ''> {
  if (breaker === null) return ['', '', '', '']
  const { failurePercent, minCalls, windowSeconds, openSeconds } = breaker
  return [failurePercent, minCalls, windowSeconds * 1000, openSeconds * 1000]
}

/** What is damaged counts as not set, as it does in the steps. */
export function decodeFlow(text: string): FlowSettings {
  const parts = FLOW.exec(text) ?? []
  const [limit, period, respects, percent, calls, window, open] = parts.slice(1).map((part) => part ?? '')
  return {
    rateLimit:
      isSet(limit, period) && Number(limit) > 0 && Number(period) > 0
        ? { limit: Number(limit), periodSeconds: Number(period) / 1000 }
        : null,
    respectRetryAfter: respects === '1',
    circuitBreaker: isSet(percent, calls, window, open)
      ? {
          failurePercent: Number(percent),
          minCalls: Number(calls),
          windowSeconds: Number(window) / 1000,
          openSeconds: Number(open) / 1000,
        }
      : null,
  }
}

const FLOW = /^(\d*)\|(\d*)\|(1?)\|(\d*)\|(\d*)\|(\d*)\|(\d*)$/

function isSet(...parts: ReadonlyArray<string | undefined>): boolean {
  return parts.every((part) => part !== undefined && part !== '')
}

/** What has come of the flow of a queue. Times are Redis time, Unix ms. */
export interface FlowState {
  /** When the rate lets the next job begin; 0 = at once. */
  readonly nextBeginMs: number
  /** Until when the target wants to be left alone. */
  readonly askedMs: number
  /** Until when the breaker is open. */
  readonly openMs: number
  /** How often it has opened in a row. */
  readonly opened: number
  /** The id of the job that tries the target, `w` = one may; '' = none has to. */
  readonly probe: string
}

const STATE = /^(\d*)\|(\d*)\|(\d*)\|(\d*)\|(w|\d*)(?:\|\d*){5}$/

/** null = there is none, or it is damaged, which counts as none. */
export function decodeFlowState(text: string): FlowState | null {
  const [whole, nextBegin, asked, open, opened, probe = ''] = STATE.exec(text) ?? []
  if (whole === undefined) return null
  return {
    nextBeginMs: Number(nextBegin) / 1000,
    askedMs: Number(asked),
    openMs: Number(open),
    opened: Number(opened),
    probe,
  }
}

/** The active flag of a throttled queue. */
export const THROTTLED = '2'
/** The member of the near set at whose time a throttled queue is looked after. No job has the id 0. */
export function throttleMark(localId: string): string {
  return `${localId}|0`
}

/** @param active the active flag of the queue @param state the text of `flowState` */
export function throttleOf(active: string, state: string, nowMs: number): Throttle | null {
  const { nextBeginMs, askedMs, openMs, opened, probe } = decodeFlowState(state) ?? NOTHING
  if (active !== '1' && active !== THROTTLED) return null
  if (/^\d+$/.test(probe))
    return { reason: opened > 0 ? 'circuit_open' : 'target_asks_to_wait', untilMs: null }
  // Without a job that waits a queue is not marked as throttled, though its next job may not begin.
  const stopMs = Math.max(askedMs, openMs)
  if (active === '1' && stopMs <= nowMs) return null
  const beginMs = Math.ceil(nextBeginMs)
  if (beginMs >= stopMs) return { reason: 'rate_limited', untilMs: beginMs }
  return { reason: openMs > askedMs ? 'circuit_open' : 'target_asks_to_wait', untilMs: stopMs }
}

const NOTHING: FlowState = { nextBeginMs: 0, askedMs: 0, openMs: 0, opened: 0, probe: '' }
