import { DEFAULT_CIRCUIT_BREAKER, type CircuitBreaker, type RateLimit } from '../../domain/jobs/flow.ts'
import {
  BREAKER_MIN_CALLS_MAX,
  BREAKER_OPEN_SECONDS_MAX,
  BREAKER_WINDOW_SECONDS_MAX,
  RATE_LIMIT_MAX,
  RATE_PERIOD_SECONDS_MAX,
} from '../../domain/limits.ts'
import { type FieldReader, isJsonObject, MappedFields } from './field-reader.ts'
import { refuseUnknownFields } from './unknown-fields.ts'
import { mustBeObject, required } from './validation-texts.ts'

const RATE_LIMIT_FIELDS: ReadonlySet<string> = new Set(['limit', 'period_seconds'])
const BREAKER_FIELDS: ReadonlySet<string> = new Set([
  'failure_percent',
  'min_calls',
  'window_seconds',
  'open_seconds',
])

/** Both of its fields must be given. */
export function readRateLimit(fields: FieldReader): RateLimit | null {
  return readObject(fields, 'rate_limit', {
    known: RATE_LIMIT_FIELDS,
    read: (item) => {
      const limit = requiredInteger(item, 'limit', RATE_LIMIT_MAX)
      const periodSeconds = requiredInteger(item, 'period_seconds', RATE_PERIOD_SECONDS_MAX)
      return limit === null || periodSeconds === null ? null : { limit, periodSeconds }
    },
  })
}

/** What is left out has its default, whatever the queue had before. */
export function readCircuitBreaker(fields: FieldReader): CircuitBreaker | null {
  const defaults = DEFAULT_CIRCUIT_BREAKER
  return readObject(fields, 'circuit_breaker', {
    known: BREAKER_FIELDS,
    read: (item) => ({
      failurePercent: item.integer('failure_percent', 1, 100) ?? defaults.failurePercent,
      minCalls: item.integer('min_calls', 1, BREAKER_MIN_CALLS_MAX) ?? defaults.minCalls,
      windowSeconds: item.integer('window_seconds', 1, BREAKER_WINDOW_SECONDS_MAX) ?? defaults.windowSeconds,
      openSeconds: item.integer('open_seconds', 1, BREAKER_OPEN_SECONDS_MAX) ?? defaults.openSeconds,
    }),
  })
}

interface ObjectShape<T> {
  readonly known: ReadonlySet<string>
  readonly read: (item: FieldReader) => T
}

function readObject<T>(fields: FieldReader, field: string, { known, read }: ObjectShape<T>): T | null {
  const value = fields.value(field)
  if (value === undefined) return null
  if (!isJsonObject(value)) return fields.refuse(field, mustBeObject)
  const { errors } = fields
  const prefix = `${field}.`
  const item = read(new MappedFields(errors, (name) => value[name] ?? undefined, prefix))
  refuseUnknownFields(errors, { names: Object.keys(value), known, prefix })
  return item
}

function requiredInteger(item: FieldReader, field: string, max: number): number | null {
  return item.value(field) === undefined ? item.refuse(field, required) : item.integer(field, 1, max)
}
