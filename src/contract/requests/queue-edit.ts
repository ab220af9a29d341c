import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { DLQ_RETENTION_DAYS, MAX_PARALLELISM_MAX, QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { readAssertions } from '../fields/assertion-fields.ts'
import { readCircuitBreaker, readRateLimit } from '../fields/flow-fields.ts'
import { type BodyResult, type JsonFields, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import {
  readCallbackEvents,
  readNoRetryStatuses,
  readRecordedResponses,
  readRetryDelays,
  readRetryJitter,
  readTimeoutSeconds,
} from '../fields/retry-fields.ts'
import { cannotChange } from '../fields/validation-texts.ts'

/** The fields of a new queue and of an edit, where `name` is among them so that its refusal says why. */
const QUEUE_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'is_active',
  'is_draining',
  'timeout_seconds',
  'retries_enabled',
  'retry_delays',
  'no_retry_statuses',
  'retry_jitter_percent',
  'success_assertions',
  'alerts_enabled',
  'max_parallelism',
  'rate_limit',
  'respect_retry_after',
  'circuit_breaker',
  'dlq_retention_days',
  'callback_events',
  'record_responses',
  'strict_parallelism',
])

/** null means absent, except for these settings, which it ends; by their names in the domain. */
const ENDED_BY_NULL: Readonly<Record<string, string>> = {
  maxParallelism: 'max_parallelism',
  rateLimit: 'rate_limit',
  circuitBreaker: 'circuit_breaker',
}

/** No longer than a value of the audit log, which keeps it. */
export const STOP_REASON_CHARACTERS_MAX = 200
const STOP_FIELDS: ReadonlySet<string> = new Set(['reason'])

/** Checks the body of a pause or a drain. Never throws. */
export function readQueueStop(body: RequestBody): BodyResult<{ readonly reason: string | null }> {
  return readJsonBody(body, STOP_FIELDS, (fields) => ({
    reason: fields.text('reason', STOP_REASON_CHARACTERS_MAX),
  }))
}

/** Checks the body of an edit. Only fields that were given are in the result. Never throws. */
export function readQueueEdit(body: RequestBody): BodyResult<Partial<QueueSettings>> {
  return readJsonBody(body, QUEUE_FIELDS, (fields) => {
    if (fields.value('name') !== undefined) fields.refuse('name', cannotChange)
    return readSettings(fields)
  })
}

/** A queue that is to be made. */
export interface NewQueue {
  readonly name: string
  /** Those that were given. */
  readonly settings: Partial<QueueSettings>
}

/** Checks the body of `POST /api/queues`. Never throws. */
export function readNewQueue(body: RequestBody): BodyResult<NewQueue> {
  return readJsonBody(body, QUEUE_FIELDS, (fields) => ({
    name: fields.requiredText('name', QUEUE_NAME_CHARACTERS_MAX) ?? '',
    settings: readSettings(fields),
  }))
}

function readSettings(fields: JsonFields): Partial<QueueSettings> {
  const given = {
    isActive: fields.boolean('is_active'),
    isDraining: fields.boolean('is_draining'),
    timeoutSeconds: readTimeoutSeconds(fields),
    retriesEnabled: fields.boolean('retries_enabled'),
    retryDelays: readRetryDelays(fields),
    noRetryStatuses: readNoRetryStatuses(fields),
    retryJitterPercent: readRetryJitter(fields),
    successAssertions: readAssertions(fields),
    alertsEnabled: fields.boolean('alerts_enabled'),
    maxParallelism: fields.integer('max_parallelism', 1, MAX_PARALLELISM_MAX),
    rateLimit: readRateLimit(fields),
    respectRetryAfter: fields.boolean('respect_retry_after'),
    circuitBreaker: readCircuitBreaker(fields),
    dlqRetentionDays: fields.choice('dlq_retention_days', DLQ_RETENTION_DAYS),
    callbackEvents: readCallbackEvents(fields),
    recordResponses: readRecordedResponses(fields),
    strictParallelism: fields.boolean('strict_parallelism'),
  }
  const isGiven = (name: string, value: unknown): boolean => {
    const endedBy = ENDED_BY_NULL[name]
    return value !== null || (endedBy !== undefined && fields.has(endedBy))
  }
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => isGiven(name, value)))
}
