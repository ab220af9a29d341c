import { createHash } from 'node:crypto'
import type { JobRequest } from '../../domain/jobs/job.ts'
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { FieldErrors } from '../fields/field-errors.ts'
import { mustBeVisibleAscii, mustNotBeLonger, required } from '../fields/validation-texts.ts'

/** The field of a 422 about the header. */
export const IDEMPOTENCY_FIELD = 'idempotency_key'

/** At least one character, none of them a space. */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/
/** RFC 9651 §3.3.3: visible characters and spaces; `\"` and `\\` are the only escapes. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * Reads an `Idempotency-Key` header: a structured-field string as the draft has it (`"k1"`), or bare as most
 * clients send it (`k1`); both name the same key. null when absent or wrong (then it is reported).
 */
export function readIdempotencyKey(errors: FieldErrors, header: string | undefined): string | null {
  if (header === undefined) return null
  const key = unquote(header.trim())
  if (key === '') errors.add(IDEMPOTENCY_FIELD, required(IDEMPOTENCY_FIELD))
  else if (!VISIBLE_ASCII.test(key)) errors.add(IDEMPOTENCY_FIELD, mustBeVisibleAscii(IDEMPOTENCY_FIELD))
  else if (key.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    errors.add(IDEMPOTENCY_FIELD, mustNotBeLonger(IDEMPOTENCY_FIELD, IDEMPOTENCY_KEY_CHARACTERS_MAX))
  } else return key
  return null
}

function unquote(header: string): string {
  const quoted = QUOTED.exec(header)
  return quoted === null ? header : (quoted[1] ?? '').replaceAll(/\\(["\\])/g, '$1')
}

/**
 * SHA-256 of what the request asks for, so that white space, the order of fields, headers and tags and defaults written
 * out make no other request: clients write maps in an order of chance. The payload counts by its exact source text.
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
    inOrder(request.headers),
    request.payload,
    request.callbackUrl,
    request.callbackEvents,
    inOrder(request.tags),
    request.timeoutSeconds,
    request.retryDelays,
    request.retriesEnabled,
    start,
  ])
  return createHash('sha256').update(canonical).digest('base64url')
}

function inOrder(map: Readonly<Record<string, string>>): Array<[string, string]> {
  return Object.entries(map).toSorted(([left], [right]) => (left < right ? -1 : 1))
}
