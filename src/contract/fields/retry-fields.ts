import type { CallbackEvents } from '../../domain/jobs/queue-settings.ts'
import {
  RETRY_DELAY_SECONDS_MAX,
  RETRY_DELAY_SECONDS_MIN,
  RETRY_DELAYS_MAX,
  TIMEOUT_SECONDS_MAX,
  TIMEOUT_SECONDS_MIN,
} from '../../domain/limits.ts'
import { type FieldReader, MappedFields } from './field-reader.ts'
import { mustBeArray, mustHaveItemsBetween } from './validation-texts.ts'

const CALLBACK_EVENTS: readonly CallbackEvents[] = ['terminal', 'every_attempt']

export function readTimeoutSeconds(fields: FieldReader): number | null {
  return fields.integer('timeout_seconds', TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX)
}

export function readCallbackEvents(fields: FieldReader): CallbackEvents | null {
  return fields.choice('callback_events', CALLBACK_EVENTS)
}

export function readRetryDelays(fields: FieldReader): readonly number[] | null {
  const field = 'retry_delays'
  const value = fields.value(field)
  if (value === undefined) return null
  if (!Array.isArray(value)) return fields.refuse(field, mustBeArray)
  if (value.length < 1 || value.length > RETRY_DELAYS_MAX) {
    return fields.refuse(field, (path) => mustHaveItemsBetween(path, 1, RETRY_DELAYS_MAX))
  }
  const delays: readonly unknown[] = value
  // A null item is not absent: it is no integer.
  const items = new MappedFields(fields.errors, (index) => delays[Number(index)] ?? null, `${field}.`)
  return delays.flatMap(
    (_, index) => items.integer(String(index), RETRY_DELAY_SECONDS_MIN, RETRY_DELAY_SECONDS_MAX) ?? [],
  )
}
