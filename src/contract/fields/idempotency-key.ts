import { createHash } from 'node:crypto'
import type { JobRequest } from '../../domain/jobs/job.ts'
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '../../domain/limits.ts'
import { FieldErrors, singleProblem, type ValidationProblem } from './field-errors.ts'
import type { FieldReader } from './field-reader.ts'
import {
  alreadyUsed,
  mustBeString,
  mustBeVisibleAscii,
  mustNotBeLonger,
  required,
} from './validation-texts.ts'

const FIELD = 'idempotency_key'

/** The answer to a key that was used with another request. */
export const IDEMPOTENCY_CONFLICT = singleProblem(FIELD, alreadyUsed(FIELD))

/** At least one character and no space. */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/
/** RFC 9651 §3.3.3: visible characters and spaces; `\"` and `\\` are the only escapes. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * Reads an `Idempotency-Key` header: a structured-field string as in the draft (`"k1"`), or bare as most clients send it
 * (`k1`); both are the same key. null when it is absent, or wrong, which is reported.
 */
export function readIdempotencyKey(errors: FieldErrors, header: string | undefined): string | null {
  if (header === undefined) return null
  return checkedKey(errors, unquote(header.trim()))
}

/** Reads the field `idempotency_key` of an item of a batch. null as for the header. */
export function readKeyField(fields: FieldReader): string | null {
  const value = fields.value(FIELD)
  if (value === undefined || value === '') return null
  return typeof value === 'string' ? checkedKey(fields.errors, value) : fields.refuse(FIELD, mustBeString)
}

function checkedKey(errors: FieldErrors, key: string): string | null {
  if (key === '') errors.add(FIELD, required(FIELD))
  else if (!VISIBLE_ASCII.test(key)) errors.add(FIELD, mustBeVisibleAscii(FIELD))
  else if (key.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    errors.add(FIELD, mustNotBeLonger(FIELD, IDEMPOTENCY_KEY_CHARACTERS_MAX))
  } else return key
  return null
}

/** The key in the header; null without one; the problem with a wrong one. */
export function keyOfHeader(header: string | undefined): string | null | ValidationProblem {
  const errors = new FieldErrors()
  const key = readIdempotencyKey(errors, header)
  return errors.problem() ?? key
}

function unquote(header: string): string {
  const quoted = QUOTED.exec(header)
  return quoted === null ? header : (quoted[1] ?? '').replaceAll(/\\(["\\])/g, '$1')
}

/**
 * SHA-256 of what a request asks for. White space, explicit defaults and the order of fields, headers and tags make no
 * difference, as clients write maps in any order. The payload counts by its exact source text.
 */
export function fingerprintOf(
  queue: string,
  request: JobRequest,
  start: { readonly delaySeconds: number } | { readonly runAtMs: number },
): string {
  const canonical = JSON.stringify([
    queue,
    request.url,
    request.method,
    sorted(request.headers),
    typeof request.bodyEncoding === 'string' ? [request.bodyEncoding, request.payload] : request.payload,
    request.callbackUrl,
    request.callbackEvents,
    sorted(request.tags),
    request.timeoutSeconds,
    request.retryDelays,
    request.retriesEnabled,
    start,
  ])
  return createHash('sha256').update(canonical).digest('base64url')
}

function sorted(map: Readonly<Record<string, string>>): Array<[string, string]> {
  return Object.entries(map).toSorted(([left], [right]) => (left < right ? -1 : 1))
}
