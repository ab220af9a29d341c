import { isScalar, LineCounter, parseAllDocuments, YAMLError, type Document } from 'yaml'
import { reasonOf } from '../../domain/errors.ts'

/** Parses YAML 1.2 with merge keys. Each document carries its errors. */
export function parseManifest(text: string): {
  readonly documents: readonly Document[]
  readonly lines: LineCounter
} {
  const lines = new LineCounter()
  // The library would print warnings that quote the text.
  const quiet = { prettyErrors: false, logLevel: 'error' } as const
  const parsed = parseAllDocuments(text, { ...quiet, lineCounter: lines, merge: true })
  return { documents: Array.isArray(parsed) ? parsed : [], lines }
}

/** Whether a document is empty or has only comments. */
export function isBlank(document: Document): boolean {
  const { contents } = document
  return (
    document.errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))
  )
}

/** Errors that quote the text before the end of their message. */
const UNQUOTED: Readonly<Record<string, string>> = {
  BAD_DIRECTIVE: 'Unknown directive',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  TAG_RESOLVE_FAILED: 'Unresolved tag',
}

/** The message of an error without the quoted text, which may be a secret. */
export function faultText(fault: unknown): string {
  const unquoted = fault instanceof YAMLError ? UNQUOTED[fault.code] : undefined
  return unquoted ?? reasonOf(fault).replace(/(?<=\S): .*$/s, '')
}
