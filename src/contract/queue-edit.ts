import type { SuccessAssertion } from '../domain/assertion.ts'
import {
  ASSERTION_TEXT_CHARACTERS_MAX,
  DLQ_RETENTION_DAYS,
  MAX_PARALLELISM_MAX,
  SUCCESS_ASSERTIONS_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../domain/limits.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { FieldErrors } from './field-errors.ts'
import type { FieldReader } from './field-reader.ts'
import { isJsonObject, readBoolean, readChoice, readInteger, readRequiredText } from './field-rules.ts'
import { type BodyResult, readJsonBody } from './json-body.ts'
import { readCallbackEvents, readRetryDelays, readTimeoutSeconds } from './retry-fields.ts'
import {
  cannotChange,
  mustBeArray,
  mustBeObject,
  mustNotHaveMoreItems,
  required,
  unknownField,
} from './validation-texts.ts'

/** The fields of `PATCH /api/queues/{queue_id}`; `name` is known so that its refusal can say why. */
const QUEUE_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'is_active',
  'timeout_seconds',
  'retries_enabled',
  'retry_delays',
  'success_assertions',
  'alerts_enabled',
  'max_parallelism',
  'dlq_retention_days',
  'callback_events',
  'strict_parallelism',
])

const ASSERTION_TYPES = ['status_code_equals', 'body_contains', 'response_time_under_ms'] as const
const STATUS_MIN = 100
const STATUS_MAX = 599

/** Checks the body of an edit; only fields that were given are in the result. Never throws. */
export function readQueueEdit(body: Buffer): BodyResult<Partial<QueueSettings>> {
  return readJsonBody(body, QUEUE_FIELDS, (fields, errors) => {
    if (fields.value('name') !== undefined) errors.add('name', cannotChange('name'))
    const flag = (field: string): boolean | null => readBoolean(errors, field, fields.value(field))
    const given = {
      isActive: flag('is_active'),
      timeoutSeconds: readTimeoutSeconds(errors, fields),
      retriesEnabled: flag('retries_enabled'),
      retryDelays: readRetryDelays(errors, fields),
      successAssertions: readAssertions(errors, fields.value('success_assertions')),
      alertsEnabled: flag('alerts_enabled'),
      ...readMaxParallelism(errors, fields),
      dlqRetentionDays: readChoice(
        errors,
        'dlq_retention_days',
        fields.value('dlq_retention_days'),
        DLQ_RETENTION_DAYS,
      ),
      callbackEvents: readCallbackEvents(errors, fields),
      strictParallelism: flag('strict_parallelism'),
    }
    // null = not given, but for the one setting whose null means something.
    return Object.fromEntries(
      Object.entries(given).filter(([name, value]) => value !== null || name === 'maxParallelism'),
    )
  })
}

/** Here null is a value: unlimited. */
function readMaxParallelism(
  errors: FieldErrors,
  fields: FieldReader,
): Partial<Pick<QueueSettings, 'maxParallelism'>> {
  const field = 'max_parallelism'
  if (!fields.has(field)) return {}
  return { maxParallelism: readInteger(errors, field, fields.value(field), 1, MAX_PARALLELISM_MAX) }
}

function readAssertions(errors: FieldErrors, value: unknown): SuccessAssertion[] | null {
  const field = 'success_assertions'
  if (value === undefined) return null
  if (!Array.isArray(value)) {
    errors.add(field, mustBeArray(field))
    return null
  }
  if (value.length > SUCCESS_ASSERTIONS_MAX) {
    errors.add(field, mustNotHaveMoreItems(field, SUCCESS_ASSERTIONS_MAX))
    return null
  }
  const items: readonly unknown[] = value
  return items.flatMap((item, index) => readAssertion(errors, `${field}.${index}`, item) ?? [])
}

function readAssertion(errors: FieldErrors, field: string, item: unknown): SuccessAssertion | null {
  if (!isJsonObject(item)) {
    errors.add(field, mustBeObject(field))
    return null
  }
  const assertion = readTypedValue(errors, field, item)
  for (const name of Object.keys(item)) {
    if (name !== 'type' && name !== 'value') errors.add(`${field}.${name}`, unknownField(`${field}.${name}`))
  }
  return assertion
}

function readTypedValue(
  errors: FieldErrors,
  field: string,
  item: Readonly<Record<string, unknown>>,
): SuccessAssertion | null {
  const given = item['type'] ?? undefined
  if (given === undefined || given === '') errors.add(`${field}.type`, required(`${field}.type`))
  const type = given === '' ? null : readChoice(errors, `${field}.type`, given, ASSERTION_TYPES)
  if (type === null) return null
  const at = `${field}.value`
  const value = item['value'] ?? undefined
  if (type === 'body_contains') {
    const text = readRequiredText(errors, at, value, ASSERTION_TEXT_CHARACTERS_MAX)
    return text === null ? null : { type, value: text }
  }
  const [min, max] =
    type === 'status_code_equals' ? [STATUS_MIN, STATUS_MAX] : [1, TIMEOUT_SECONDS_MAX * 1000]
  if (value === undefined || value === '') errors.add(at, required(at))
  const number = value === '' ? null : readInteger(errors, at, fromDigits(value), min, max)
  return number === null ? null : { type, value: number }
}

/** A number may be given as a string of digits (decisions, queue settings). */
function fromDigits(value: unknown): unknown {
  return typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value
}
