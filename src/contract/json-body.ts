import { isUtf8 } from 'node:buffer'
import { createFieldErrors, type FieldErrors, type ValidationProblem } from './field-errors.ts'
import { createFieldReader, type FieldReader, refuseUnknownFields } from './field-reader.ts'
import { describePosition, scanJsonObject } from './json-members.ts'

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
  const scan = scanJsonObject(text)
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
