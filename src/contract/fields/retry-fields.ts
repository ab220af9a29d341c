import {
  RETRY_DELAYS_MAX,
  RETRY_DELAY_SECONDS_MAX,
  RETRY_DELAY_SECONDS_MIN,
  TIMEOUT_SECONDS_MAX,
  TIMEOUT_SECONDS_MIN,
} from '../../domain/limits.ts'
import type { CallbackEvents } from '../../domain/jobs/queue-settings.ts'
import type { FieldErrors } from './field-errors.ts'
import type { FieldReader } from './field-reader.ts'
import { readChoice, readInteger } from './field-rules.ts'
import { mustBeArray, mustHaveItemsBetween } from './validation-texts.ts'

/** The settings a job and a queue have in common. */

const CALLBACK_EVENTS: readonly CallbackEvents[] = ['terminal', 'every_attempt']

export function readTimeoutSeconds(errors: FieldErrors, fields: FieldReader): number | null {
  const field = 'timeout_seconds'
  return readInteger(errors, field, fields.value(field), TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX)
}

export function readCallbackEvents(errors: FieldErrors, fields: FieldReader): CallbackEvents | null {
  return readChoice(errors, 'callback_events', fields.value('callback_events'), CALLBACK_EVENTS)
}

export function readRetryDelays(errors: FieldErrors, fields: FieldReader): readonly number[] | null {
  const field = 'retry_delays'
  const value = fields.value(field)
  if (value === undefined) return null
  if (!Array.isArray(value)) {
    errors.add(field, mustBeArray(field))
    return null
  }
  if (value.length < 1 || value.length > RETRY_DELAYS_MAX) {
    errors.add(field, mustHaveItemsBetween(field, 1, RETRY_DELAYS_MAX))
    return null
  }
  const items: readonly unknown[] = value
  const delays: number[] = []
  for (const [index, item] of items.entries()) {
    // A null item is not an absent one: it is no integer.
    const delay = readInteger(
      errors,
      `${field}.${index}`,
      item ?? null,
      RETRY_DELAY_SECONDS_MIN,
      RETRY_DELAY_SECONDS_MAX,
    )
    if (delay !== null) delays.push(delay)
  }
  return delays
}
