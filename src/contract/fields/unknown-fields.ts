import type { FieldErrors } from './field-errors.ts'
import { moreUnknownFields, unknownField } from './validation-texts.ts'

/** Unknown fields named in one answer; a body may have tens of thousands. */
export const UNKNOWN_FIELDS_NAMED_MAX = 20
const SHOWN_CHARACTERS_MAX = 100

interface GivenFields {
  readonly names: Iterable<string>
  readonly known: ReadonlySet<string>
  /** The path of the object they are in, with a trailing dot. */
  readonly prefix?: string
}

/** Reports names that are not known. Called last, so that they are listed last. */
export function refuseUnknownFields(errors: FieldErrors, { names, known, prefix = '' }: GivenFields): void {
  let named = 0
  let last = ''
  for (const name of names) {
    if (known.has(name)) continue
    if (named === UNKNOWN_FIELDS_NAMED_MAX) return errors.add(last, moreUnknownFields(named))
    last = prefix + shorten(name)
    errors.add(last, unknownField(last))
    named += 1
  }
}

function shorten(name: string): string {
  return name.length <= SHOWN_CHARACTERS_MAX
    ? name.toWellFormed()
    : `${name.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…`
}
