import { parseCronExpression } from '../../domain/crons/cron-expression.ts'
import {
  ALERT_THRESHOLD_MAX,
  type ConcurrencyPolicy,
  CRON_NAME_CHARACTERS_MAX,
  CRON_PAYLOAD_CHARACTERS_MAX,
  type CronSettings,
  DEFAULT_CRON_SETTINGS,
  JITTER_SECONDS_MAX,
  STARTING_DEADLINE_SECONDS_MAX,
} from '../../domain/crons/cron.ts'
import type { MissedRunPolicy } from '../../domain/crons/cron-tick.ts'
import { timeZoneProblem } from '../../domain/crons/zone-problem.ts'
import { METHODS } from '../../domain/jobs/job.ts'
import { QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { readAssertions } from '../fields/assertion-fields.ts'
import { type FieldReader, type IsBlocked, isLongerThan } from '../fields/field-reader.ts'
import { readHeaders } from '../fields/header-fields.ts'
import { type BodyResult, type JsonFields, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import { readRecordedResponses, readTimeoutSeconds } from '../fields/retry-fields.ts'
import {
  CRON_EXPRESSION_REQUIRED,
  mustBeStringOrObject,
  mustBeTimestamp,
  mustBeWellFormed,
  mustNotBeLonger,
  refusedAs,
} from '../fields/validation-texts.ts'
import { readIdempotencyKey } from '../fields/idempotency-key.ts'
import { parseTimestamp } from './run-at.ts'

/** The fields of `POST /api/crons`, in the order errors are reported. */
export const CRON_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'url',
  'method',
  'headers',
  'payload',
  'callback_url',
  'cron_expression',
  'timeout_seconds',
  'alert_threshold',
  'success_assertions',
  'is_active',
  'time_zone',
  'concurrency_policy',
  'missed_run_policy',
  'starting_deadline_seconds',
  'jitter_seconds',
  'queue',
  'record_responses',
])
const PREVIEW_FIELDS: ReadonlySet<string> = new Set(['cron_expression', 'time_zone', 'count', 'after'])

const CONCURRENCY_POLICIES: readonly ConcurrencyPolicy[] = ['allow', 'forbid']
const MISSED_RUN_POLICIES: readonly MissedRunPolicy[] = ['latest', 'skip', 'all']
export const PREVIEW_TICKS_MAX = 100
export const PREVIEW_TICKS_DEFAULT = 5
const TIME_CHARACTERS_MAX = 64

export interface CronContext {
  readonly isBlocked: IsBlocked
}

export interface NewCronContext extends CronContext {
  /** The `Idempotency-Key` header as received. */
  readonly idempotencyKey: string | undefined
}

export interface NewCron {
  readonly settings: CronSettings
  /** The idempotency key. */
  readonly key: string | null
}

export interface CronPreviewQuery {
  readonly cronExpression: string
  readonly timeZone: string
  readonly count: number
  /** The moment whose next ticks are asked for, Unix ms; null = now. */
  readonly afterMs: number | null
}

/** Checks the body of `POST /api/crons`. Never throws. */
export function readNewCron(body: RequestBody, context: NewCronContext): BodyResult<NewCron> {
  return readJsonBody(body, CRON_FIELDS, (fields) => {
    const settings = {
      ...DEFAULT_CRON_SETTINGS,
      // Empty only after a reported mistake, and then the value is not used.
      displayName: '',
      url: '',
      cronExpression: '',
      ...readSettings(fields, context, true),
    }
    return { settings, key: readIdempotencyKey(fields.errors, context.idempotencyKey) }
  })
}

/**
 * Checks the body of `PATCH /api/crons/{cron_id}`. Only fields that were given are in the result. `null` removes an
 * optional setting and counts as absent elsewhere. Never throws.
 */
export function readCronEdit(body: RequestBody, context: CronContext): BodyResult<Partial<CronSettings>> {
  return readJsonBody(body, CRON_FIELDS, (fields) => {
    const given = readSettings(fields, context, false)
    const removed = Object.entries(REMOVABLE).filter(
      ([field, setting]) => fields.has(field) && given[setting] === undefined,
    )
    return { ...given, ...Object.fromEntries(removed.map(([, setting]) => [setting, null])) }
  })
}

/** Checks the body of `POST /api/crons/preview`. Never throws. */
export function readCronPreview(body: RequestBody): BodyResult<CronPreviewQuery> {
  return readJsonBody(body, PREVIEW_FIELDS, (fields) => ({
    cronExpression: readExpression(fields) ?? '',
    timeZone: readTimeZone(fields) ?? DEFAULT_CRON_SETTINGS.timeZone,
    count: fields.integer('count', 1, PREVIEW_TICKS_MAX) ?? PREVIEW_TICKS_DEFAULT,
    afterMs: readAfter(fields),
  }))
}

function readAfter(fields: FieldReader): number | null {
  const field = 'after'
  const text = fields.text(field, TIME_CHARACTERS_MAX)
  return text === null ? null : (parseTimestamp(text) ?? fields.refuse(field, mustBeTimestamp))
}

/** Fields that null removes, and their settings. */
const REMOVABLE = {
  payload: 'payload',
  callback_url: 'callbackUrl',
  starting_deadline_seconds: 'startingDeadlineSeconds',
  queue: 'queue',
} as const satisfies Readonly<Record<string, keyof CronSettings>>

/**
 * Reads the fields in the contract's order, which is the order of the errors.
 * @param isNew whether the required fields must be given
 */
function readSettings(fields: JsonFields, { isBlocked }: CronContext, isNew: boolean): Partial<CronSettings> {
  const isNeeded = (field: string): boolean => isNew || fields.value(field) !== undefined
  const given = {
    displayName: isNeeded('name') ? fields.requiredText('name', CRON_NAME_CHARACTERS_MAX) : null,
    url: isNeeded('url') ? fields.requiredUrl('url', isBlocked) : null,
    method: fields.choice('method', METHODS),
    headers: fields.value('headers') === undefined ? null : readHeaders(fields, !isNew),
    payload: readPayload(fields),
    callbackUrl: fields.url('callback_url', isBlocked),
    cronExpression: isNeeded('cron_expression') ? readExpression(fields) : null,
    timeoutSeconds: readTimeoutSeconds(fields),
    alertThreshold: fields.integer('alert_threshold', 1, ALERT_THRESHOLD_MAX),
    successAssertions: readAssertions(fields),
    isActive: fields.boolean('is_active'),
    timeZone: readTimeZone(fields),
    concurrencyPolicy: fields.choice('concurrency_policy', CONCURRENCY_POLICIES),
    missedRunPolicy: fields.choice('missed_run_policy', MISSED_RUN_POLICIES),
    startingDeadlineSeconds: fields.integer('starting_deadline_seconds', 1, STARTING_DEADLINE_SECONDS_MAX),
    jitterSeconds: fields.integer('jitter_seconds', 0, JITTER_SECONDS_MAX),
    queue:
      fields.value('queue') === undefined ? null : fields.requiredText('queue', QUEUE_NAME_CHARACTERS_MAX),
    recordResponses: readRecordedResponses(fields),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

/** A string is sent as it is, an object as its exact source text. */
function readPayload(fields: JsonFields): string | null {
  const field = 'payload'
  const source = fields.source(field)
  if (source === undefined) return null
  const value = source.startsWith('{') ? source : fields.value(field)
  if (typeof value !== 'string') return fields.refuse(field, mustBeStringOrObject)
  if (!value.isWellFormed()) return fields.refuse(field, mustBeWellFormed)
  if (!isLongerThan(value, CRON_PAYLOAD_CHARACTERS_MAX)) return value
  return fields.refuse(field, (path) => mustNotBeLonger(path, CRON_PAYLOAD_CHARACTERS_MAX))
}

/** A missing or empty one is a mistake too. */
export function readExpression(fields: FieldReader): string | null {
  const field = 'cron_expression'
  const value = fields.value(field)
  if (value === undefined || value === '') return fields.refuse(field, () => CRON_EXPRESSION_REQUIRED)
  const text = fields.text(field, Infinity)
  const expression = text === null ? null : parseCronExpression(text)
  if (expression === null || !('problem' in expression)) return text
  return fields.refuse(field, (path) => refusedAs(path, expression.problem))
}

export function readTimeZone(fields: FieldReader): string | null {
  const text = fields.text('time_zone', Infinity)
  const problem = text === null ? null : timeZoneProblem(text)
  return problem === null ? text : fields.refuse('time_zone', (path) => refusedAs(path, problem))
}
