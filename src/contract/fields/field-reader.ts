import { JSON_DEPTH_MAX } from '../../domain/limits.ts'
import type { FieldErrors } from './field-errors.ts'
import { type JsonMember, memberValue } from './json-members.ts'
import {
  moreUnknownFields,
  mustNotBeDeeper,
  mustNotHoldMoreValues,
  unknownField,
} from './validation-texts.ts'

/** Unknown fields named in one answer; a body may hold tens of thousands. */
export const UNKNOWN_FIELDS_NAMED_MAX = 20
const UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX = 100
/**
 * Values in a field that is looked into, nested ones included. Many more than any field may have, so that the rules of
 * a field say what is wrong with it; what holds hundreds of thousands is not even built.
 */
const FIELD_VALUES_MAX = 256

/** Reads the fields of one JSON body. `null` counts as absent. */
export interface FieldReader {
  /** The value; undefined when absent, null, nested too deep or of too many values (which is reported). */
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
      if (member === undefined) return undefined
      if (member.values <= FIELD_VALUES_MAX) return memberValue(text, member) ?? undefined
      errors.add(field, mustNotHoldMoreValues(field, FIELD_VALUES_MAX))
      return undefined
    },
    has: (field) => members.has(field),
    source: (field) => {
      const member = find(field)
      const source = member === undefined ? 'null' : text.slice(member.start, member.end)
      return source === 'null' ? undefined : source
    },
  }
}

/**
 * Reports names that are not in `known`; called last, so that they stand last.
 * @param prefix the path of the object that has them, with a full stop
 */
export function refuseUnknownFields(
  names: Iterable<string>,
  known: ReadonlySet<string>,
  errors: FieldErrors,
  prefix = '',
): void {
  let named = 0
  let last = ''
  for (const name of names) {
    if (known.has(name)) continue
    if (named === UNKNOWN_FIELDS_NAMED_MAX) {
      errors.add(last, moreUnknownFields(named))
      return
    }
    last = prefix + shorten(name)
    errors.add(last, unknownField(last))
    named += 1
  }
}

function shorten(name: string): string {
  return name.length <= UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX
    ? name.toWellFormed()
    : `${name.slice(0, UNKNOWN_FIELD_SHOWN_CHARACTERS_MAX).toWellFormed()}…`
}
