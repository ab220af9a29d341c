import type { RequestChange } from '../../../domain/jobs/job-copy.ts'
import { type JobRequest, METHODS } from '../../../domain/jobs/job.ts'
import type { HeaderSecret } from '../../../domain/secrets/header-secret.ts'
import {
  type HeaderChange,
  withContentType,
  withHeaderSecrets,
} from '../../../domain/secrets/secret-values.ts'
import {
  DELAY_SECONDS_MAX,
  QUEUE_NAME_CHARACTERS_MAX,
  RUN_AT_DAYS_AHEAD_MAX,
} from '../../../domain/limits.ts'
import type { IsBlocked } from '../../fields/field-reader.ts'
import { readHeaders, readHeaderSecrets, readTags } from '../../fields/header-fields.ts'
import { type BodyResult, type JsonFields, readJsonBody, type RequestBody } from '../../fields/json-body.ts'
import { readCallbackEvents, readRetryDelays, readTimeoutSeconds } from '../../fields/retry-fields.ts'
import { mustBeString, mustBeTimestamp, mustNotBeLater, prohibits } from '../../fields/validation-texts.ts'
import { fingerprintOf, readIdempotencyKey } from '../../fields/idempotency-key.ts'
import { CONTENT_FIELDS, readContent, readContentType } from './push-content.ts'
import { parseTimestamp } from '../run-at.ts'

/** The fields of `POST /api/jobs`, in the order errors are reported. */
export const PUSH_FIELDS: ReadonlySet<string> = new Set([
  'queue',
  'url',
  'method',
  'headers',
  'header_secrets',
  'payload',
  'body',
  'body_encoding',
  'content_type',
  'callback_url',
  'delay',
  'run_at',
  'timeout_seconds',
  'retry_delays',
  'retries_enabled',
  'tags',
  'callback_events',
])

/** A checked push, without its team. */
export interface AcceptedPush {
  readonly queue: string
  readonly request: JobRequest
  readonly start: { readonly delaySeconds: number } | { readonly runAtMs: number }
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null
}

export interface PushContext {
  /** The `Idempotency-Key` header as received. */
  readonly idempotencyKey: string | undefined
  /** Unix ms, from which `run_at` is bounded. */
  readonly nowMs: number
  readonly isBlocked: IsBlocked
  /** The team's. */
  readonly headerSecrets: readonly HeaderSecret[]
  /** URLs of this request that were found good: the jobs of a batch often share one. Absent = none is remembered. */
  readonly acceptedUrls?: Set<string>
}

const DAY_MS = 86_400_000

/** Checks the body of `POST /api/jobs`. Never throws. */
export function readPush(body: RequestBody, context: PushContext): BodyResult<AcceptedPush> {
  return readJsonBody(body, PUSH_FIELDS, (fields) =>
    readPushFields(fields, context, () => readIdempotencyKey(fields.errors, context.idempotencyKey)),
  )
}

/** @param readKey reports a wrong key */
export function readPushFields(
  fields: JsonFields,
  context: Omit<PushContext, 'idempotencyKey'>,
  readKey: () => string | null,
): AcceptedPush {
  const queue = fields.requiredText('queue', QUEUE_NAME_CHARACTERS_MAX) ?? ''
  const { request, start } = readRequest(fields, context)
  const key = readKey()
  const idempotency =
    key === null || fields.errors.count > 0
      ? null
      : { key, fingerprint: fingerprintOf(queue, request, start) }
  return { queue, request, start, idempotency }
}

/** Reads the fields in the contract's order, which is the order of the errors. */
function readRequest(
  fields: JsonFields,
  { isBlocked, headerSecrets, acceptedUrls, nowMs }: Omit<PushContext, 'idempotencyKey'>,
): Pick<AcceptedPush, 'request' | 'start'> {
  const url = fields.requiredUrl('url', isBlocked, acceptedUrls) ?? ''
  const method = fields.choice('method', METHODS) ?? 'POST'
  const given = readHeaders(fields)
  const fromSecrets = readHeaderSecrets(fields, { headerSecrets, url, headers: given })
  const { payload, bodyEncoding } = readContent(fields)
  const contentType = readContentType(fields, [...Object.keys(given), ...Object.keys(fromSecrets)])
  const headers = withContentType(withHeaderSecrets(given, fromSecrets), contentType)
  const callbackUrl = fields.url('callback_url', isBlocked, acceptedUrls)
  const start = readStart(fields, nowMs)
  const request = {
    url,
    method,
    headers,
    payload,
    ...(bodyEncoding !== null && { bodyEncoding }),
    callbackUrl,
    timeoutSeconds: readTimeoutSeconds(fields),
    retryDelays: readRetryDelays(fields),
    retriesEnabled: fields.boolean('retries_enabled'),
    tags: readTags(fields),
    callbackEvents: readCallbackEvents(fields),
    successAssertions: null,
    cron: null,
  }
  return { request, start }
}

/** Fields of a job that are to differ in its copy; only those that were given. */
export interface JobChange {
  readonly queue?: string
  readonly request: Omit<RequestChange, 'headers'>
  readonly headers: HeaderChange
  readonly start?: AcceptedPush['start']
}

/** The fields of `POST /api/jobs/{job_id}/replay`: the new job is in the same queue, and due now. */
const REPLAY_FIELDS: ReadonlySet<string> = PUSH_FIELDS.difference(new Set(['queue', 'delay', 'run_at']))

/** Checks the fields that are to differ in a copy of a job, as a push does. null removes an optional one. Never throws. */
export function readJobChange(
  body: RequestBody,
  kind: 'replay' | 'duplicate',
  context: Omit<PushContext, 'idempotencyKey'>,
): BodyResult<JobChange> {
  const known = kind === 'replay' ? REPLAY_FIELDS : PUSH_FIELDS
  return readJsonBody(body, known, (fields) => {
    const hasStart = fields.has('delay') || fields.has('run_at')
    return {
      ...(fields.has('queue')
        ? { queue: fields.requiredText('queue', QUEUE_NAME_CHARACTERS_MAX) ?? '' }
        : {}),
      ...readRequestChange(fields, context),
      ...(hasStart && kind === 'duplicate' ? { start: readStart(fields, context.nowMs) } : {}),
    }
  })
}

function readRequestChange(
  fields: JsonFields,
  { isBlocked, headerSecrets }: Pick<PushContext, 'isBlocked' | 'headerSecrets'>,
): Pick<JobChange, 'request' | 'headers'> {
  const given = <T>(field: string, key: string, read: () => T) => (fields.has(field) ? { [key]: read() } : {})
  const start = {
    ...given('url', 'url', () => fields.requiredUrl('url', isBlocked) ?? ''),
    ...given('method', 'method', () => fields.choice('method', METHODS) ?? 'POST'),
  }
  const values = fields.has('headers') ? readHeaders(fields, true) : undefined
  const secrets = fields.has('header_secrets')
    ? readHeaderSecrets(fields, { headerSecrets, url: null, headers: values ?? {} })
    : undefined
  const rest = {
    ...(CONTENT_FIELDS.some((field) => fields.has(field)) ? readContent(fields) : {}),
    ...given('callback_url', 'callbackUrl', () => fields.url('callback_url', isBlocked)),
    ...given('timeout_seconds', 'timeoutSeconds', () => readTimeoutSeconds(fields)),
    ...given('retry_delays', 'retryDelays', () => readRetryDelays(fields)),
    ...given('retries_enabled', 'retriesEnabled', () => fields.boolean('retries_enabled')),
    ...given('tags', 'tags', () => readTags(fields)),
    ...given('callback_events', 'callbackEvents', () => readCallbackEvents(fields)),
  }
  const contentType = readContentType(fields, [...Object.keys(values ?? {}), ...Object.keys(secrets ?? {})])
  return { request: { ...start, ...rest }, headers: { values, secrets, contentType } }
}

function readStart(fields: JsonFields, nowMs: number): AcceptedPush['start'] {
  const delaySeconds = fields.integer('delay', 0, DELAY_SECONDS_MAX) ?? 0
  const runAt = fields.value('run_at')
  if (runAt === undefined) return { delaySeconds }
  const runAtMs = typeof runAt === 'string' ? parseTimestamp(runAt) : null
  if (fields.value('delay') !== undefined) fields.refuse('run_at', (path) => prohibits(path, 'delay'))
  else if (typeof runAt !== 'string') fields.refuse('run_at', mustBeString)
  else if (runAtMs === null) fields.refuse('run_at', mustBeTimestamp)
  else if (runAtMs > nowMs + RUN_AT_DAYS_AHEAD_MAX * DAY_MS) {
    fields.refuse('run_at', (path) => mustNotBeLater(path, RUN_AT_DAYS_AHEAD_MAX))
  } else return { runAtMs }
  return { delaySeconds }
}
