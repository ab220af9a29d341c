/** Names and indexes from the top of a document: `['spec', 'retryDelays', 0]`. */
export type FieldPath = ReadonlyArray<string | number>

/** What is wrong with one field of one document. */
export interface FieldProblem {
  readonly path: FieldPath
  readonly reason: string
}

/** `spec.retryDelays[0]`, as people write it. */
export function fieldName(path: FieldPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
