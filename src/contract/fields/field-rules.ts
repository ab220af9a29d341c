import { isCallableHost } from '../../domain/net/host-name.ts'
import { URL_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { FieldErrors } from './field-errors.ts'
import {
  mustBeBetween,
  mustBeBoolean,
  mustBeInteger,
  mustBeString,
  mustBeUrl,
  mustBeWellFormed,
  mustNotBeBlocked,
  mustNotBeLonger,
  mustNotCarryCredentials,
  required,
  selectedInvalid,
} from './validation-texts.ts'

/**
 * One rule a function: the checked value, or null when it is absent or wrong; what is wrong is reported once.
 * `undefined` means absent.
 */

/** Lengths count Unicode code points, which are never more than UTF-16 units and never less than half of them. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  if (text.length > max * 2) return true
  let points = 0
  for (const _ of text) points += 1
  return points > max
}

export function readRequiredText(
  errors: FieldErrors,
  field: string,
  value: unknown,
  max: number,
): string | null {
  if (value === undefined || value === '') {
    errors.add(field, required(field))
    return null
  }
  return readText(errors, field, value, max)
}

export function readText(errors: FieldErrors, field: string, value: unknown, max: number): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string') {
    errors.add(field, mustBeString(field))
  } else if (!value.isWellFormed()) {
    errors.add(field, mustBeWellFormed(field))
  } else if (isLongerThan(value, max)) {
    errors.add(field, mustNotBeLonger(field, max))
  } else {
    return value
  }
  return null
}

/**
 * Integers are integers: `"300"` and `1.5` are refused; `1.0` and `1e2` are integers, as JSON Schema has it.
 */
export function readInteger(
  errors: FieldErrors,
  field: string,
  value: unknown,
  min: number,
  max: number,
): number | null {
  if (value === undefined) return null
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    errors.add(field, mustBeInteger(field))
  } else if (value < min || value > max) {
    errors.add(field, mustBeBetween(field, min, max))
  } else {
    return value === 0 ? 0 : value
  }
  return null
}

export function readBoolean(errors: FieldErrors, field: string, value: unknown): boolean | null {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value
  errors.add(field, mustBeBoolean(field))
  return null
}

/** One of a closed set. */
export function readChoice<T extends string | number>(
  errors: FieldErrors,
  field: string,
  value: unknown,
  choices: readonly T[],
): T | null {
  if (value === undefined) return null
  const chosen = choices.find((choice) => choice === value)
  if (chosen !== undefined) return chosen
  errors.add(field, selectedInvalid(field))
  return null
}

/** A JSON object, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `http://` or `https://` and the start of a host: WHATWG's parser would also take `http:host` and `http:\\host`. */
const URL_START = /^https?:\/\/[^/?#]/i
/** What WHATWG's parser strips or turns into `/` without a word: C0 controls, spaces, DEL, backslashes. */
// oxlint-disable-next-line no-control-regex
const URL_REFUSED = /[\u0000-\u0020\u007f\\]/

/** @param isBlocked the egress policy's answer about a literal address or a name; no DNS */
export function readUrl(
  errors: FieldErrors,
  field: string,
  value: unknown,
  isBlocked: (url: URL) => boolean,
): string | null {
  const text = readText(errors, field, value, URL_CHARACTERS_MAX)
  if (text === null) return null
  const url = URL_START.test(text) && !URL_REFUSED.test(text) ? URL.parse(text) : null
  // Nothing listens on port 0, and no client connects to it.
  if (url === null || !isCallableHost(url.hostname) || url.port === '0') {
    errors.add(field, mustBeUrl(field))
  } else if (url.username !== '' || url.password !== '' || (text.includes('@') && carriesUserinfo(text))) {
    errors.add(field, mustNotCarryCredentials(field))
  } else if (isBlocked(url)) {
    errors.add(field, mustNotBeBlocked(field))
  } else {
    return text
  }
  return null
}

/** `http://@host` and `http://:@host` parse to empty credentials. */
function carriesUserinfo(text: string): boolean {
  const authority = text.slice(text.indexOf('//') + 2)
  const end = authority.search(/[/?#]/)
  return (end === -1 ? authority : authority.slice(0, end)).includes('@')
}
