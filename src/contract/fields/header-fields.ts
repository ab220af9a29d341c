import { forbiddenHeaderReason, invalidHeaderValue } from '../../domain/net/header-rules.ts'
import {
  HEADERS_MAX,
  HEADER_NAME_CHARACTERS_MAX,
  HEADER_VALUE_BYTES_MAX,
  TAGS_MAX,
  TAG_NAME_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
} from '../../domain/limits.ts'
import type { FieldErrors } from './field-errors.ts'
import { isJsonObject, isLongerThan, readText } from './field-rules.ts'
import {
  mustBeHeaderValue,
  mustBeObject,
  mustBeString,
  mustBeWellFormed,
  mustNotBeMoreBytes,
  mustNotHaveMoreItems,
  mustNotRepeat,
  namesMustBeBetween,
  refusedBecause,
} from './validation-texts.ts'

const NO_ENTRIES: Readonly<Record<string, string>> = Object.freeze({})

/** The request headers of a job, in the order and spelling given. */
export function readHeaders(errors: FieldErrors, value: unknown): Readonly<Record<string, string>> {
  const entries = readEntries(errors, 'headers', value, HEADERS_MAX, HEADER_NAME_CHARACTERS_MAX)
  if (entries.length === 0) return NO_ENTRIES
  const seen = new Set<string>()
  const headers: Array<[string, string]> = []
  for (const [name, given] of entries) {
    const problem = headerProblem(`headers.${name}`, name, given, seen)
    if (problem !== null) errors.add(`headers.${name}`, problem)
    else headers.push([name, given as string])
  }
  return Object.fromEntries(headers)
}

function headerProblem(field: string, name: string, value: unknown, seen: Set<string>): string | null {
  const reason = forbiddenHeaderReason(name)
  if (reason !== null) return refusedBecause(field, reason)
  const lower = name.toLowerCase()
  // Two spellings of one name would be two header lines whose meaning depends on the receiver.
  if (seen.has(lower)) return mustNotRepeat(field)
  seen.add(lower)
  if (typeof value !== 'string') return mustBeString(field)
  if (invalidHeaderValue(value)) return mustBeHeaderValue(field)
  // A valid value is ASCII: its length is its size in bytes.
  return value.length > HEADER_VALUE_BYTES_MAX ? mustNotBeMoreBytes(field, HEADER_VALUE_BYTES_MAX) : null
}

/** The labels of a job, for its owner's own use. */
export function readTags(errors: FieldErrors, value: unknown): Readonly<Record<string, string>> {
  const entries = readEntries(errors, 'tags', value, TAGS_MAX, TAG_NAME_CHARACTERS_MAX)
  if (entries.length === 0) return NO_ENTRIES
  const tags: Array<[string, string]> = []
  for (const [name, given] of entries) {
    const field = `tags.${name}`
    const text = readText(errors, field, given ?? null, TAG_VALUE_CHARACTERS_MAX)
    if (text !== null) tags.push([name, text])
  }
  return Object.fromEntries(tags)
}

/** The entries of an object whose size and names are within bounds; none when they are not. */
function readEntries(
  errors: FieldErrors,
  field: string,
  value: unknown,
  max: number,
  nameMax: number,
): Array<[string, unknown]> {
  if (value === undefined) return []
  if (!isJsonObject(value)) {
    errors.add(field, mustBeObject(field))
    return []
  }
  const entries = Object.entries(value)
  if (entries.length > max) {
    errors.add(field, mustNotHaveMoreItems(field, max))
    return []
  }
  for (const [name] of entries) {
    const problem = nameProblem(field, name, nameMax)
    if (problem !== null) {
      errors.add(field, problem)
      return []
    }
  }
  return entries
}

function nameProblem(field: string, name: string, max: number): string | null {
  if (name === '' || isLongerThan(name, max)) return namesMustBeBetween(field, max)
  return name.isWellFormed() ? null : mustBeWellFormed(field)
}
