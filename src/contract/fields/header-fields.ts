import {
  HEADER_NAME_CHARACTERS_MAX,
  HEADER_VALUE_BYTES_MAX,
  HEADERS_MAX,
  TAG_NAME_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
} from '../../domain/limits.ts'
import { forbiddenHeaderReason, invalidHeaderValue } from '../../domain/net/header-rules.ts'
import { type FieldReader, isJsonObject, isLongerThan, MappedFields } from './field-reader.ts'
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

type TextMap = Readonly<Record<string, string>>

const NO_ENTRIES: TextMap = Object.freeze({})

/** The request headers of a job, in the order and spelling given. */
export function readHeaders(fields: FieldReader): TextMap {
  const entries = readEntries(fields, 'headers', { max: HEADERS_MAX, nameMax: HEADER_NAME_CHARACTERS_MAX })
  if (entries.length === 0) return NO_ENTRIES
  const seen = new Set<string>()
  const headers: Array<[string, string]> = []
  for (const [name, given] of entries) {
    const field = `headers.${name}`
    const problem = headerProblem(field, name, given, seen)
    if (problem !== null) fields.errors.add(field, problem)
    else headers.push([name, given as string])
  }
  return Object.fromEntries(headers)
}

function headerProblem(field: string, name: string, value: unknown, seen: Set<string>): string | null {
  const reason = forbiddenHeaderReason(name)
  if (reason !== null) return refusedBecause(field, reason)
  const lower = name.toLowerCase()
  // Two spellings of one name are two header lines, and which one counts depends on the receiver.
  if (seen.has(lower)) return mustNotRepeat(field)
  seen.add(lower)
  if (typeof value !== 'string') return mustBeString(field)
  if (invalidHeaderValue(value)) return mustBeHeaderValue(field)
  // A valid value is ASCII: its length is its size in bytes.
  return value.length > HEADER_VALUE_BYTES_MAX ? mustNotBeMoreBytes(field, HEADER_VALUE_BYTES_MAX) : null
}

/** The labels of a job, for its owner's use. */
export function readTags(fields: FieldReader): TextMap {
  const entries = readEntries(fields, 'tags', { max: TAGS_MAX, nameMax: TAG_NAME_CHARACTERS_MAX })
  if (entries.length === 0) return NO_ENTRIES
  const values = new Map(entries)
  const tags = new MappedFields(fields.errors, (name) => values.get(name) ?? null, 'tags.')
  return Object.fromEntries(
    entries.flatMap(([name]) => {
      const text = tags.text(name, TAG_VALUE_CHARACTERS_MAX)
      return text === null ? [] : [[name, text]]
    }),
  )
}

interface EntryBounds {
  readonly max: number
  /** Characters of a name. */
  readonly nameMax: number
}

/** The entries of an object; none when their number or a name is out of bounds. */
function readEntries(fields: FieldReader, field: string, bounds: EntryBounds): Array<[string, unknown]> {
  const value = fields.value(field)
  if (value === undefined) return []
  const entries = isJsonObject(value) ? Object.entries(value) : null
  const problem = entries === null ? mustBeObject(field) : entriesProblem(field, entries, bounds)
  if (problem === null) return entries ?? []
  fields.errors.add(field, problem)
  return []
}

function entriesProblem(
  field: string,
  entries: ReadonlyArray<[string, unknown]>,
  { max, nameMax }: EntryBounds,
): string | null {
  if (entries.length > max) return mustNotHaveMoreItems(field, max)
  for (const [name] of entries) {
    if (name === '' || isLongerThan(name, nameMax)) return namesMustBeBetween(field, nameMax)
    if (!name.isWellFormed()) return mustBeWellFormed(field)
  }
  return null
}
