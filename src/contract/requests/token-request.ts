import { SCOPES } from '../../domain/access/permission.ts'
import {
  TOKEN_QUEUES_MAX,
  TOKEN_RATE_MAX,
  type RateLimit,
  type TokenTerms,
} from '../../domain/access/token-terms.ts'
import { QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { type FieldReader, isJsonObject, MappedFields } from '../fields/field-reader.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import { refuseUnknownFields } from '../fields/unknown-fields.ts'
import {
  mustBeArray,
  mustBeObject,
  mustBeTimestamp,
  mustHaveItemsBetween,
  refusedAs,
  required,
} from '../fields/validation-texts.ts'
import { parseTimestamp } from './run-at.ts'

/** The fields of `POST /api/tokens`, in the order errors are reported. */
export const TOKEN_FIELDS = ['name', 'description', 'scopes', 'queues', 'expires_at', 'rate_limit'] as const
const RATE_FIELDS: ReadonlySet<string> = new Set(['requests_per_second', 'burst'])
const NAME_CHARACTERS_MAX = 63
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const DESCRIPTION_CHARACTERS_MAX = 255
const TIME_CHARACTERS_MAX = 64
/** The year 9999: what comes after has more digits. */
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

export interface GivenToken {
  readonly name: string
  readonly description: string | null
  readonly terms: TokenTerms
}

/** Checks the body of `POST /api/tokens`. Never throws. */
export function readNewToken(body: RequestBody, nowMs: number): BodyResult<GivenToken> {
  return readJsonBody(body, new Set(TOKEN_FIELDS), (fields) => ({
    name: readName(fields) ?? '',
    description: fields.text('description', DESCRIPTION_CHARACTERS_MAX),
    terms: {
      scopes: readList(fields, 'scopes', SCOPES.length, (item, path) => item.choice(path, SCOPES)) ?? [],
      queues: readList(fields, 'queues', TOKEN_QUEUES_MAX, (item, path) =>
        item.requiredText(path, QUEUE_NAME_CHARACTERS_MAX),
      ),
      expiresAtMs: readExpiry(fields, nowMs),
      rateLimit: readRate(fields),
    },
  }))
}

function readName(fields: FieldReader): string | null {
  const name = fields.requiredText('name', NAME_CHARACTERS_MAX)
  if (name === null || NAME.test(name)) return name
  return fields.refuse('name', (path) =>
    refusedAs(path, 'must consist of lower-case letters, digits and -, and must not begin or end with -.'),
  )
}

/** Items that are wrong are left out, once they are reported; each of the others once. */
function readList<T>(
  fields: FieldReader,
  field: string,
  max: number,
  read: (item: FieldReader, path: string) => T | null,
): readonly T[] | null {
  const value = fields.value(field)
  if (value === undefined) return null
  if (!Array.isArray(value)) return fields.refuse(field, mustBeArray)
  if (value.length === 0 || value.length > max) {
    return fields.refuse(field, (path) => mustHaveItemsBetween(path, 1, max))
  }
  const items: readonly unknown[] = value
  const item = new MappedFields(fields.errors, (path) => items[Number(path)] ?? '', `${field}.`)
  return [...new Set(items.flatMap((_, index) => read(item, String(index)) ?? []))]
}

function readExpiry(fields: FieldReader, nowMs: number): number | null {
  const text = fields.text('expires_at', TIME_CHARACTERS_MAX)
  if (text === null) return null
  const unixMs = parseTimestamp(text)
  if (unixMs === null || unixMs > TIME_MAX_MS) return fields.refuse('expires_at', mustBeTimestamp)
  if (unixMs > nowMs) return unixMs
  return fields.refuse('expires_at', (path) => refusedAs(path, 'must be in the future.'))
}

function readRate(fields: FieldReader): RateLimit | null {
  const value = fields.value('rate_limit')
  if (value === undefined) return null
  if (!isJsonObject(value)) return fields.refuse('rate_limit', mustBeObject)
  const prefix = 'rate_limit.'
  const item = new MappedFields(fields.errors, (field) => value[field] ?? undefined, prefix)
  const requestsPerSecond = item.integer('requests_per_second', 1, TOKEN_RATE_MAX)
  if (item.value('requests_per_second') === undefined) item.refuse('requests_per_second', required)
  const burst = item.integer('burst', 1, TOKEN_RATE_MAX)
  refuseUnknownFields(fields.errors, { names: Object.keys(value), known: RATE_FIELDS, prefix })
  return requestsPerSecond === null ? null : { requestsPerSecond, burst: burst ?? requestsPerSecond }
}
