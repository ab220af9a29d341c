/** Names and indexes from the root of a document: `['spec', 'retryDelays', 0]`. */
export type FieldPath = ReadonlyArray<string | number>

export interface FieldProblem {
  readonly path: FieldPath
  readonly reason: string
}

/** Formats a path as `spec.retryDelays[0]`. */
export function fieldName(path: FieldPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
