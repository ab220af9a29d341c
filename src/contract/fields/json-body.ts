import { isUtf8 } from 'node:buffer'
import { createFieldErrors, type FieldErrors, singleProblem, type ValidationProblem } from './field-errors.ts'
import {
  createFieldReader,
  type FieldReader,
  refuseUnknownFields,
  UNKNOWN_FIELDS_NAMED_MAX,
} from './field-reader.ts'
import { describePosition, scanJsonObject } from './json-members.ts'
import { mustNotRepeat } from './validation-texts.ts'

/** Fields that repeat one before: the later counts, but nobody's body has a hundred thousand of them. */
const REPEATED_FIELDS_MAX = 100

/** What becomes of a body: a checked value, 400 with a sentence, or 422. */
export type BodyResult<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'malformed'; readonly error: string }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }

/**
 * Reads a JSON object from the bytes of a body. `read` checks the known fields in the contract's order and answers
 * null when it reported something; the unknown ones are reported after it.
 */
export function readJsonBody<T>(
  body: Buffer,
  known: ReadonlySet<string>,
  read: (fields: FieldReader, errors: FieldErrors) => T,
): BodyResult<T> {
  const text = body.toString('utf8')
  if (!isUtf8(body)) {
    return {
      kind: 'malformed',
      error: `Malformed UTF-8 at ${describePosition(text, text.indexOf('\ufffd'))}.`,
    }
  }
  const scan = scanJsonObject(text, seenEnough(known))
  if (scan.kind === 'stopped') {
    return { kind: 'invalid', problem: problemOfStart(scan, known) }
  }
  if (scan.kind !== 'object') {
    const where = describePosition(text, scan.position)
    const error =
      scan.kind === 'other'
        ? `The body must be a JSON object, at ${where}.`
        : `Malformed JSON at ${where}${scan.position === text.length ? ': the body ends early' : ''}.`
    return { kind: 'malformed', error }
  }
  const errors = createFieldErrors()
  const value = read(createFieldReader(text, scan.members, errors), errors)
  refuseUnknownFields(scan.members.keys(), known, errors)
  const problem = errors.problem()
  return problem === null ? { kind: 'valid', value } : { kind: 'invalid', problem }
}

/** Whether a body is refused by what was read of it: the rest would only cost. */
function seenEnough(known: ReadonlySet<string>): (name: string, isRepeated: boolean) => boolean {
  let unknown = 0
  let repeated = 0
  return (name, isRepeated) => {
    if (isRepeated) repeated += 1
    else if (!known.has(name)) unknown += 1
    return unknown > UNKNOWN_FIELDS_NAMED_MAX || repeated > REPEATED_FIELDS_MAX
  }
}

/** Of what was not read nothing is said: a field that is required may stand in it. */
function problemOfStart(
  { members, name }: { readonly members: ReadonlyMap<string, unknown>; readonly name: string },
  known: ReadonlySet<string>,
): ValidationProblem {
  const errors = createFieldErrors()
  refuseUnknownFields(members.keys(), known, errors)
  return errors.problem() ?? singleProblem(name, mustNotRepeat(name))
}
