import { isScalar, LineCounter, parseAllDocuments } from 'yaml'
import type { Document } from 'yaml'

/** The documents of a file, faults included, and where its lines begin. YAML 1.2, with merge keys. */
export function parseManifest(text: string): {
  readonly documents: readonly Document[]
  readonly lines: LineCounter
} {
  const lines = new LineCounter()
  const parsed = parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false })
  return { documents: Array.isArray(parsed) ? parsed : [], lines }
}

/** Nothing between two lines of hyphens, or only comments. */
export function isBlank(document: Document): boolean {
  const { contents } = document
  return (
    document.errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))
  )
}
