import { JSON_DEPTH_MAX } from '../domain/limits.ts'
import type { FieldErrors } from './field-errors.ts'
import { type JsonMember, memberValue } from './json-members.ts'
import { mustNotBeDeeper, unknownField } from './validation-texts.ts'

/** Unknown fields named in one answer; a body may hold tens of thousands. */
const UNKNOWN_FIELDS_NAMED_MAX = 20
const UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX = 100

/** Reads the fields of one JSON body. `null` counts as absent. */
export interface FieldReader {
  /** The value; undefined when absent, null, or nested too deep (which is reported). */
  value(field: string): unknown
  /** Whether the body has the field, even as null. */
  has(field: string): boolean
  /** The exact source text of the value, not parsed; undefined as for `value`. */
  source(field: string): string | undefined
}

export function createFieldReader(
  text: string,
  members: ReadonlyMap<string, JsonMember>,
  errors: FieldErrors,
): FieldReader {
  const find = (field: string): JsonMember | undefined => {
    const member = members.get(field)
    if (member === undefined || member.depth <= JSON_DEPTH_MAX) return member
    errors.add(field, mustNotBeDeeper(field, JSON_DEPTH_MAX))
    return undefined
  }
  return {
    value: (field) => {
      const member = find(field)
      return member === undefined ? undefined : (memberValue(text, member) ?? undefined)
    },
    has: (field) => members.has(field),
    source: (field) => {
      const member = find(field)
      const source = member === undefined ? 'null' : text.slice(member.start, member.end)
      return source === 'null' ? undefined : source
    },
  }
}

/** Reports fields that are not in `known`; called last, so that they stand last. */
export function refuseUnknownFields(
  names: Iterable<string>,
  known: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  let named = 0
  for (const name of names) {
    if (known.has(name)) continue
    const shown = shorten(name)
    errors.add(shown, unknownField(shown))
    named += 1
    if (named === UNKNOWN_FIELDS_NAMED_MAX) return
  }
}

function shorten(name: string): string {
  return name.length <= UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX
    ? name.toWellFormed()
    : `${name.slice(0, UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX).toWellFormed()}…`
}
