import { reasonOf } from '../../domain/errors.ts'

/** Names and indexes from the root of a document: `['spec', 'retryDelays', 0]`. */
export type FieldPath = ReadonlyArray<string | number>

export interface FieldProblem {
  readonly path: FieldPath
  readonly reason: string
}

/**
 * Answers the problem of a field, if it has one. A judge that throws has found one too, so that one field cannot stop
 * the others.
 * @param judge answers the end of a sentence; null = nothing is wrong
 */
export function problemAt(path: FieldPath, judge: () => string | null): readonly FieldProblem[] {
  let reason: string | null
  try {
    reason = judge()
  } catch (error) {
    reason = `cannot be evaluated: ${reasonOf(error)}.`
  }
  return reason === null ? [] : [{ path, reason }]
}

/** Formats a path as `spec.retryDelays[0]`. */
export function fieldName(path: FieldPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
