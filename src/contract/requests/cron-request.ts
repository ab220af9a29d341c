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
  timeZoneProblem,
} from '../../domain/crons/cron.ts'
import type { MissedRunPolicy } from '../../domain/crons/cron-tick.ts'
import { METHODS } from '../../domain/jobs/job.ts'
import { QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { readAssertions } from '../fields/assertion-fields.ts'
import type { FieldErrors } from '../fields/field-errors.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import {
  isLongerThan,
  readBoolean,
  readChoice,
  readInteger,
  readRequiredText,
  readText,
  readUrl,
} from '../fields/field-rules.ts'
import { readHeaders } from '../fields/header-fields.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { type BodyResult, readJsonBody } from '../fields/json-body.ts'
import { readTimeoutSeconds } from '../fields/retry-fields.ts'
import {
  CRON_EXPRESSION_REQUIRED,
  mustBeStringOrObject,
  mustBeWellFormed,
  mustNotBeLonger,
  refusedAs,
  required,
} from '../fields/validation-texts.ts'

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
])
const PREVIEW_FIELDS: ReadonlySet<string> = new Set(['cron_expression', 'time_zone', 'count'])

const CONCURRENCY_POLICIES: readonly ConcurrencyPolicy[] = ['allow', 'forbid']
const MISSED_RUN_POLICIES: readonly MissedRunPolicy[] = ['latest', 'skip', 'all']
export const PREVIEW_TICKS_MAX = 100
export const PREVIEW_TICKS_DEFAULT = 5

export interface CronContext {
  /** The egress policy's answer about a literal address or a name; no DNS. */
  readonly isBlocked: (url: URL) => boolean
}

export interface NewCronContext extends CronContext {
  /** The `Idempotency-Key` header as received. */
  readonly idempotencyKey: string | undefined
}

export interface NewCron {
  readonly settings: CronSettings
  /** null = without one. */
  readonly key: string | null
}

export interface CronPreviewQuery {
  readonly cronExpression: string
  readonly timeZone: string
  readonly count: number
}

/** Checks the body of `POST /api/crons`. Never throws. */
export function readNewCron(body: Buffer, context: NewCronContext): BodyResult<NewCron> {
  return readJsonBody(body, CRON_FIELDS, (fields, errors) => {
    const settings = {
      ...DEFAULT_CRON_SETTINGS,
      // Empty only where a mistake was reported, and then nothing of it is used.
      ...{ displayName: '', url: '', cronExpression: '' },
      ...readSettings(fields, errors, context, true),
    }
    return { settings, key: readIdempotencyKey(errors, context.idempotencyKey) }
  })
}

/**
 * Checks the body of `PATCH /api/crons/{cron_id}`; only fields that were given are in the result. `null` takes away
 * what a cron can be without, and counts as absent elsewhere. Never throws.
 */
export function readCronEdit(body: Buffer, context: CronContext): BodyResult<Partial<CronSettings>> {
  return readJsonBody(body, CRON_FIELDS, (fields, errors) => {
    const given = readSettings(fields, errors, context, false)
    const removed = Object.entries(REMOVABLE).filter(
      ([field, setting]) => fields.has(field) && given[setting] === undefined,
    )
    return { ...given, ...Object.fromEntries(removed.map(([, setting]) => [setting, null])) }
  })
}

/** Checks the body of `POST /api/crons/preview`. Never throws. */
export function readCronPreview(body: Buffer): BodyResult<CronPreviewQuery> {
  return readJsonBody(body, PREVIEW_FIELDS, (fields, errors) => ({
    cronExpression: readExpression(errors, fields.value('cron_expression')) ?? '',
    timeZone: readTimeZone(errors, fields.value('time_zone')) ?? DEFAULT_CRON_SETTINGS.timeZone,
    count: readInteger(errors, 'count', fields.value('count'), 1, PREVIEW_TICKS_MAX) ?? PREVIEW_TICKS_DEFAULT,
  }))
}

/** Fields that a cron can be without → the setting. */
const REMOVABLE = {
  payload: 'payload',
  callback_url: 'callbackUrl',
  starting_deadline_seconds: 'startingDeadlineSeconds',
  queue: 'queue',
} as const satisfies Readonly<Record<string, keyof CronSettings>>

/** The settings given, in the contract's order, which is the order of the errors. */
function readSettings(
  fields: FieldReader,
  errors: FieldErrors,
  { isBlocked }: CronContext,
  isNew: boolean,
): Partial<CronSettings> {
  /** What a cron cannot be without; an edit need not give it. */
  const needed = (field: string, read: (value: unknown) => string | null): string | null => {
    const value = fields.value(field)
    return value === undefined && !isNew ? null : read(value)
  }
  const integer = (field: string, min: number, max: number): number | null =>
    readInteger(errors, field, fields.value(field), min, max)
  const choice = <T extends string>(field: string, choices: readonly T[]): T | null =>
    readChoice(errors, field, fields.value(field), choices)
  const given = {
    displayName: needed('name', (value) => readRequiredText(errors, 'name', value, CRON_NAME_CHARACTERS_MAX)),
    url: needed('url', (value) => readTarget(errors, value, isBlocked)),
    method: choice('method', METHODS),
    headers: readGivenHeaders(errors, fields.value('headers')),
    payload: readPayload(fields, errors),
    callbackUrl: readUrl(errors, 'callback_url', fields.value('callback_url'), isBlocked),
    cronExpression: needed('cron_expression', (value) => readExpression(errors, value)),
    timeoutSeconds: readTimeoutSeconds(errors, fields),
    alertThreshold: integer('alert_threshold', 1, ALERT_THRESHOLD_MAX),
    successAssertions: readAssertions(errors, fields.value('success_assertions')),
    isActive: readBoolean(errors, 'is_active', fields.value('is_active')),
    timeZone: readTimeZone(errors, fields.value('time_zone')),
    concurrencyPolicy: choice('concurrency_policy', CONCURRENCY_POLICIES),
    missedRunPolicy: choice('missed_run_policy', MISSED_RUN_POLICIES),
    startingDeadlineSeconds: integer('starting_deadline_seconds', 1, STARTING_DEADLINE_SECONDS_MAX),
    jitterSeconds: integer('jitter_seconds', 0, JITTER_SECONDS_MAX),
    queue: readQueue(errors, fields.value('queue')),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

function readTarget(errors: FieldErrors, value: unknown, isBlocked: (url: URL) => boolean): string | null {
  if (value === undefined || value === '') {
    errors.add('url', required('url'))
    return null
  }
  return readUrl(errors, 'url', value, isBlocked)
}

function readGivenHeaders(errors: FieldErrors, value: unknown): Readonly<Record<string, string>> | null {
  return value === undefined ? null : readHeaders(errors, value)
}

/** A text is sent as it is, an object as its exact source text. */
function readPayload(fields: FieldReader, errors: FieldErrors): string | null {
  const field = 'payload'
  const source = fields.source(field)
  if (source === undefined) return null
  const value = source.startsWith('{') ? source : fields.value(field)
  if (typeof value !== 'string') errors.add(field, mustBeStringOrObject(field))
  else if (!value.isWellFormed()) errors.add(field, mustBeWellFormed(field))
  else if (isLongerThan(value, CRON_PAYLOAD_CHARACTERS_MAX)) {
    errors.add(field, mustNotBeLonger(field, CRON_PAYLOAD_CHARACTERS_MAX))
  } else return value
  return null
}

function readExpression(errors: FieldErrors, value: unknown): string | null {
  const field = 'cron_expression'
  if (value === undefined || value === '') {
    errors.add(field, CRON_EXPRESSION_REQUIRED)
    return null
  }
  const text = readText(errors, field, value, Infinity)
  const expression = text === null ? null : parseCronExpression(text)
  if (expression === null || !('problem' in expression)) return text
  errors.add(field, refusedAs(field, expression.problem))
  return null
}

function readTimeZone(errors: FieldErrors, value: unknown): string | null {
  const field = 'time_zone'
  const text = readText(errors, field, value, Infinity)
  const problem = text === null ? null : timeZoneProblem(text)
  if (problem === null) return text
  errors.add(field, refusedAs(field, problem))
  return null
}

function readQueue(errors: FieldErrors, value: unknown): string | null {
  if (value === undefined) return null
  return readRequiredText(errors, 'queue', value, QUEUE_NAME_CHARACTERS_MAX)
}
