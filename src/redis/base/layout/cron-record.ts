import { hash } from 'node:crypto'
import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../../domain/crons/cron.ts'
import type { MissedTicks } from '../../../domain/crons/cron-tick.ts'
import { FAILURE_REASONS, METHODS } from '../../../domain/jobs/job.ts'
import type { CronOrigin, FailureReason, JobRequest, Method } from '../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../domain/jobs/queue-settings.ts'
import type { CronRun } from '../../../ports/crons.ts'
import { decodeAssertions, encodeAssertions, withoutTail, type EncodedAssertions } from './job-record.ts'
import { decodeRecorded, encodeRecorded } from './recorded-responses.ts'

/**
 * The format of crons in Redis. A definition is a JSON array without trailing defaults. The state, which the steps read
 * and change, and the records are described in lib/cron.lua and crons/tick/tick.lua.
 */

type Definition = [
  /** `team/name` */
  field: string,
  url: string,
  cronExpression: string,
  timeZone?: string | 0,
  /** 0 = the name. */
  displayName?: string | 0,
  payload?: string | 0,
  headers?: Record<string, string> | 0,
  method?: number,
  queue?: string | 0,
  callbackUrl?: string | 0,
  timeoutSeconds?: number,
  successAssertions?: EncodedAssertions | 0,
  forbids?: 0 | 1,
  missedRunPolicy?: number,
  startingDeadlineSeconds?: number,
  jitterSeconds?: number,
  alertThreshold?: number,
  signer?: string | 0,
  recordResponses?: number,
]

const MISSED_RUN_POLICIES = ['latest', 'skip', 'all'] as const
const POST = METHODS.indexOf('POST')
/** Elements of a definition whose default is not 0. */
const DEFAULTS: Readonly<Record<number, number>> = {
  7: POST,
  10: DEFAULT_CRON_SETTINGS.timeoutSeconds,
  16: DEFAULT_CRON_SETTINGS.alertThreshold,
}

/** Settings of a hidden queue. It has no retries, because the next tick is one; each run carries the cron's own settings. */
export const HIDDEN_QUEUE_SETTINGS: QueueSettings = Object.freeze({
  ...DEFAULT_QUEUE_SETTINGS,
  retriesEnabled: false,
})

/** A cron's state says whether it is active. */
export function encodeDefinition(place: { team: string; name: string }, cron: CronSettings): string {
  const definition: Definition = [
    `${place.team}/${place.name}`,
    cron.url,
    cron.cronExpression,
    cron.timeZone === DEFAULT_CRON_SETTINGS.timeZone ? 0 : cron.timeZone,
    cron.displayName === place.name ? 0 : cron.displayName,
    cron.payload ?? 0,
    Object.keys(cron.headers).length === 0 ? 0 : cron.headers,
    METHODS.indexOf(cron.method),
    cron.queue ?? 0,
    cron.callbackUrl ?? 0,
    cron.timeoutSeconds,
    cron.successAssertions.length === 0 ? 0 : encodeAssertions(cron.successAssertions),
    cron.concurrencyPolicy === 'forbid' ? 1 : 0,
    MISSED_RUN_POLICIES.indexOf(cron.missedRunPolicy),
    cron.startingDeadlineSeconds ?? 0,
    cron.jitterSeconds,
    cron.alertThreshold,
    cron.signer ?? 0,
    encodeRecorded(cron.recordResponses),
  ]
  return JSON.stringify(withoutTail(definition, (index) => DEFAULTS[index] ?? 0))
}

export interface DefinedCron {
  readonly team: string
  readonly name: string
  readonly settings: CronSettings
}

function decodeDefinition(text: string, isActive: boolean): DefinedCron {
  const [field, url, cronExpression, timeZone, displayName, payload, headers, method, queue, ...rest] =
    JSON.parse(text) as Definition
  const [callbackUrl, timeout, assertions, forbids, missed, deadline, jitter, threshold, ...last] = rest
  const [signer, recorded] = last
  const slash = field.indexOf('/')
  const name = field.slice(slash + 1)
  return {
    team: field.slice(0, slash),
    name,
    settings: {
      displayName: given(displayName) ?? name,
      url,
      method: METHODS[method ?? POST] as Method,
      headers: given(headers) ?? {},
      payload: given(payload),
      callbackUrl: given(callbackUrl),
      cronExpression,
      timeZone: given(timeZone) ?? DEFAULT_CRON_SETTINGS.timeZone,
      isActive,
      concurrencyPolicy: forbids === 1 ? 'forbid' : 'allow',
      missedRunPolicy: MISSED_RUN_POLICIES[missed ?? 0] ?? 'latest',
      startingDeadlineSeconds: given(deadline),
      jitterSeconds: jitter ?? 0,
      queue: given(queue),
      timeoutSeconds: timeout ?? DEFAULT_CRON_SETTINGS.timeoutSeconds,
      successAssertions: decodeAssertions(given(assertions) ?? []),
      alertThreshold: threshold ?? DEFAULT_CRON_SETTINGS.alertThreshold,
      signer: given(signer),
      recordResponses: decodeRecorded(recorded),
    },
  }
}

/** null when it is damaged. */
export function definitionIn(text: string, isActive: boolean): DefinedCron | null {
  try {
    const defined = decodeDefinition(text, isActive)
    const { url, cronExpression, timeZone, queue } = defined.settings
    const texts: unknown[] = [url, cronExpression, timeZone, queue ?? '']
    return texts.every((part) => typeof part === 'string') ? defined : null
  } catch {
    return null
  }
}

function given<T>(value: T | 0 | undefined): T | null {
  return value === 0 || value === undefined ? null : value
}

/** Distinguishes an edit of the schedule from any other edit. */
export function scheduleHash({ cronExpression, timeZone }: CronSettings): string {
  return hash('sha256', `${cronExpression}\n${timeZone}`, 'base64url').slice(0, 6)
}

/** The request of one run of a cron. */
export function requestOfRun(cron: CronSettings, mark: CronOrigin, callDepth = 0): JobRequest {
  const hasAssertions = cron.queue === null || cron.successAssertions.length > 0
  return {
    url: cron.url,
    method: cron.method,
    headers: cron.headers,
    payload: cron.payload,
    callbackUrl: cron.callbackUrl,
    callbackEvents: null,
    tags: {},
    timeoutSeconds: cron.timeoutSeconds,
    retryDelays: null,
    retriesEnabled: null,
    successAssertions: hasAssertions ? cron.successAssertions : null,
    ...(cron.recordResponses === 'all' ? {} : { recordResponses: cron.recordResponses }),
    cron: cron.signer === null ? mark : { ...mark, signer: cron.signer },
    ...(callDepth === 0 ? {} : { callDepth }),
  }
}

export interface CronStateRecord {
  readonly version: number
  readonly isActive: boolean
  readonly spreadMs: number
  /** Bytes of the definition. */
  readonly bytes: number
  readonly tickMs: number | null
  readonly running: number | null
  readonly failures: number
  readonly successMs: number | null
}

const STATE = /^\d+\|[\w-]{6}\|[01rp]\|\d+\|\d+\|\d*\|\d*\|\d+\|\d*$/

/** null when it is damaged. */
export function stateIn(text: string): CronStateRecord | null {
  return STATE.test(text) ? decodeState(text) : null
}

/** Reads a state from the reply of a step. */
export function decodeState(text: string): CronStateRecord {
  const [version, , active, spread, bytes, tick = '', running = '', failures, success = ''] = text.split('|')
  const numberOf = (part: string) => (part === '' ? null : Number(part))
  return {
    version: Number(version),
    // A cron that is about to move counts as it will in its new shard.
    isActive: active === '1' || active === 'r',
    spreadMs: Number(spread),
    bytes: Number(bytes),
    tickMs: numberOf(tick),
    running: numberOf(running),
    failures: Number(failures),
    successMs: numberOf(success),
  }
}

/** A cron's standing alert; see lib/cron.lua. */
export interface CronSaid {
  /** The failure that it has raised and that stands until a success; null = none. */
  readonly raised: { readonly reason: FailureReason; readonly isMuted: boolean } | null
  /** Failures in a row that are a failure of the cron. */
  readonly threshold: number
}

/** null when it is damaged. */
export function saidIn(text: string): CronSaid | null {
  const [, raised, reason, threshold] = /^([fm]?)\|(\w*)\|(\d+)\|[^|]*\|\[".*"\]$/s.exec(text) ?? []
  if (threshold === undefined || (raised === '') !== (reason === '')) return null
  if (reason !== '' && !FAILURE_REASONS.includes(reason as FailureReason)) return null
  return {
    raised: raised === '' ? null : { reason: reason as FailureReason, isMuted: raised === 'm' },
    threshold: Number(threshold),
  }
}

/** The name for people that a cron's standing alert has; null when it is damaged. */
export function saidNameIn(text: string): string | null {
  const [, title] = /\|(\[".*"\])$/s.exec(text) ?? []
  if (title === undefined) return null
  try {
    const [name] = JSON.parse(title) as unknown[]
    return typeof name === 'string' ? name : null
  } catch {
    return null
  }
}

/** The record of a run whose chain has not ended. */
export function runningRecord({ tickMs, isManual }: CronOrigin, rootId: number): string {
  return `${isManual ? 'R' : 'r'}|${tickMs}|${rootId}`
}

export function missedRecord({ lastMs, count }: MissedTicks): string {
  return `m|${lastMs}|${count}`
}

const RESULTS: Readonly<Record<string, CronRun['result']>> = {
  r: 'running',
  s: 'succeeded',
  f: 'failed',
  k: 'skipped',
  m: 'missed',
}

export function decodeRun(record: string): CronRun {
  const [kind = '', tick, last = '', reason = ''] = record.split('|')
  const result = RESULTS[kind.toLowerCase()] ?? 'missed'
  const isManual = kind !== kind.toLowerCase()
  return {
    scheduledAtMs: Number(tick),
    result,
    jobId: result === 'missed' || result === 'skipped' || last === '' ? null : Number(last),
    ...(FAILURE_REASONS.includes(reason as FailureReason) ? { failureReason: reason as FailureReason } : {}),
    ...(kind === 'k' && last === 'd' ? { cause: 'queue_draining' as const } : {}),
    isManual,
    ticks: result === 'missed' ? Number(last) : 1,
  }
}
