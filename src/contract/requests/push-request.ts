import { type JobRequest, METHODS } from '../../domain/jobs/job.ts'
import { DELAY_SECONDS_MAX, QUEUE_NAME_CHARACTERS_MAX, RUN_AT_DAYS_AHEAD_MAX } from '../../domain/limits.ts'
import type { FieldErrors } from '../fields/field-errors.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { readBoolean, readChoice, readInteger, readRequiredText, readUrl } from '../fields/field-rules.ts'
import { readHeaders, readTags } from '../fields/header-fields.ts'
import { fingerprintOf, readIdempotencyKey } from './idempotency-key.ts'
import { type BodyResult, readJsonBody } from '../fields/json-body.ts'
import { readCallbackEvents, readRetryDelays, readTimeoutSeconds } from '../fields/retry-fields.ts'
import { parseTimestamp } from './run-at.ts'
import {
  mustBeObject,
  mustBeString,
  mustBeTimestamp,
  mustNotBeLater,
  prohibits,
  required,
} from '../fields/validation-texts.ts'

/** The fields of `POST /api/jobs`, in the order errors are reported. */
export const PUSH_FIELDS: ReadonlySet<string> = new Set([
  'queue',
  'url',
  'method',
  'headers',
  'payload',
  'callback_url',
  'delay',
  'run_at',
  'timeout_seconds',
  'retry_delays',
  'retries_enabled',
  'tags',
  'callback_events',
])

/** A push that may go into the store, but for its team. */
export interface AcceptedPush {
  readonly queue: string
  readonly request: JobRequest
  readonly start: { readonly delaySeconds: number } | { readonly runAtMs: number }
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null
}

export interface PushContext {
  /** The `Idempotency-Key` header as received. */
  readonly idempotencyKey: string | undefined
  /** Unix ms; only bounds how far ahead `run_at` may be. */
  readonly nowMs: number
  /** The egress policy's answer about a literal address or a name; no DNS. */
  readonly isBlocked: (url: URL) => boolean
}

const DAY_MS = 86_400_000

/** Checks the body of `POST /api/jobs`. Never throws, whatever the bytes are. */
export function readPush(body: Buffer, context: PushContext): BodyResult<AcceptedPush> {
  return readJsonBody(body, PUSH_FIELDS, (fields, errors) => {
    const queue = readRequiredText(errors, 'queue', fields.value('queue'), QUEUE_NAME_CHARACTERS_MAX) ?? ''
    const { request, start } = readRequest(fields, errors, context)
    const key = readIdempotencyKey(errors, context.idempotencyKey)
    const idempotency =
      key === null || errors.count() > 0 ? null : { key, fingerprint: fingerprintOf(queue, request, start) }
    return { queue, request, start, idempotency }
  })
}

/** Evaluates the fields in the contract's order, which is the order of the errors. */
function readRequest(
  fields: FieldReader,
  errors: FieldErrors,
  context: PushContext,
): Pick<AcceptedPush, 'request' | 'start'> {
  const url = readTarget(fields, errors, context)
  const method = readChoice(errors, 'method', fields.value('method'), METHODS) ?? 'POST'
  const headers = readHeaders(errors, fields.value('headers'))
  const payload = readPayload(fields, errors)
  const callbackUrl = readUrl(errors, 'callback_url', fields.value('callback_url'), context.isBlocked)
  const start = readStart(fields, errors, context.nowMs)
  const request = {
    url,
    method,
    headers,
    payload,
    callbackUrl,
    timeoutSeconds: readTimeoutSeconds(errors, fields),
    retryDelays: readRetryDelays(errors, fields),
    retriesEnabled: readBoolean(errors, 'retries_enabled', fields.value('retries_enabled')),
    tags: readTags(errors, fields.value('tags')),
    callbackEvents: readCallbackEvents(errors, fields),
    successAssertions: null,
    cron: null,
  }
  return { request, start }
}

function readTarget(fields: FieldReader, errors: FieldErrors, context: PushContext): string {
  const value = fields.value('url')
  if (value === undefined || value === '') {
    errors.add('url', required('url'))
    return ''
  }
  return readUrl(errors, 'url', value, context.isBlocked) ?? ''
}

/** The exact source text, so that numbers keep their digits and fields their order. */
function readPayload(fields: FieldReader, errors: FieldErrors): string | null {
  const source = fields.source('payload')
  if (source === undefined) return null
  if (source.startsWith('{')) return source
  errors.add('payload', mustBeObject('payload'))
  return null
}

function readStart(fields: FieldReader, errors: FieldErrors, nowMs: number): AcceptedPush['start'] {
  const delay = fields.value('delay')
  const delaySeconds = readInteger(errors, 'delay', delay, 0, DELAY_SECONDS_MAX) ?? 0
  const runAt = fields.value('run_at')
  if (runAt === undefined) return { delaySeconds }
  const runAtMs = typeof runAt === 'string' ? parseTimestamp(runAt) : null
  if (delay !== undefined) errors.add('run_at', prohibits('run_at', 'delay'))
  else if (typeof runAt !== 'string') errors.add('run_at', mustBeString('run_at'))
  else if (runAtMs === null) errors.add('run_at', mustBeTimestamp('run_at'))
  else if (runAtMs > nowMs + RUN_AT_DAYS_AHEAD_MAX * DAY_MS) {
    errors.add('run_at', mustNotBeLater('run_at', RUN_AT_DAYS_AHEAD_MAX))
  } else return { runAtMs }
  return { delaySeconds }
}
