import {
  type CallbackEvents,
  RECORDED_RESPONSES,
  type RecordedResponses,
} from '../../domain/jobs/queue-settings.ts'
import {
  NO_RETRY_STATUSES_MAX,
  RETRY_DELAY_SECONDS_MAX,
  RETRY_DELAY_SECONDS_MIN,
  RETRY_DELAYS_MAX,
  RETRY_JITTER_PERCENT_MAX,
  TIMEOUT_SECONDS_MAX,
  TIMEOUT_SECONDS_MIN,
} from '../../domain/limits.ts'
import { type FieldReader, MappedFields } from './field-reader.ts'
import { mustBeArray, mustHaveItemsBetween, mustNotHaveMoreItems, mustNotRepeat } from './validation-texts.ts'

/** Others are no failures, or such that a retry never follows. */
const NO_RETRY_STATUS_MIN = 400
const NO_RETRY_STATUS_MAX = 599
const CALLBACK_EVENTS: readonly CallbackEvents[] = ['terminal', 'every_attempt']

export function readTimeoutSeconds(fields: FieldReader): number | null {
  return fields.integer('timeout_seconds', TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX)
}

export function readCallbackEvents(fields: FieldReader): CallbackEvents | null {
  return fields.choice('callback_events', CALLBACK_EVENTS)
}

export function readRecordedResponses(fields: FieldReader): RecordedResponses | null {
  return fields.choice('record_responses', RECORDED_RESPONSES)
}

export function readRetryDelays(fields: FieldReader): readonly number[] | null {
  return readIntegers(fields, 'retry_delays', {
    items: [1, RETRY_DELAYS_MAX],
    values: [RETRY_DELAY_SECONDS_MIN, RETRY_DELAY_SECONDS_MAX],
  })
}

export function readNoRetryStatuses(fields: FieldReader): readonly number[] | null {
  const field = 'no_retry_statuses'
  const statuses = readIntegers(fields, field, {
    items: [0, NO_RETRY_STATUSES_MAX],
    values: [NO_RETRY_STATUS_MIN, NO_RETRY_STATUS_MAX],
  })
  statuses?.forEach((status, index) => {
    if (statuses.indexOf(status) < index) fields.refuse(`${field}.${index}`, mustNotRepeat)
  })
  return statuses
}

export function readRetryJitter(fields: FieldReader): number | null {
  return fields.integer('retry_jitter_percent', 0, RETRY_JITTER_PERCENT_MAX)
}

interface ListBounds {
  /** The fewest and the most items. */
  readonly items: readonly [number, number]
  /** The least and the greatest value of an item. */
  readonly values: readonly [number, number]
}

/** A list with an item that is wrong, which is reported, is answered without it. */
function readIntegers(
  fields: FieldReader,
  field: string,
  { items: [fewest, most], values: [least, greatest] }: ListBounds,
): readonly number[] | null {
  const value = fields.value(field)
  if (value === undefined) return null
  if (!Array.isArray(value)) return fields.refuse(field, mustBeArray)
  if (value.length > most && fewest === 0) {
    return fields.refuse(field, (path) => mustNotHaveMoreItems(path, most))
  }
  if (value.length < fewest || value.length > most) {
    return fields.refuse(field, (path) => mustHaveItemsBetween(path, fewest, most))
  }
  const given: readonly unknown[] = value
  // A null item is not absent: it is no integer.
  const items = new MappedFields(fields.errors, (index) => given[Number(index)] ?? null, `${field}.`)
  return given.flatMap((_, index) => items.integer(String(index), least, greatest) ?? [])
}
