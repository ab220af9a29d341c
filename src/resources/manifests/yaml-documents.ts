import { isScalar, LineCounter, parseAllDocuments, YAMLError } from 'yaml'
import type { Document } from 'yaml'
import { reasonOf } from '../../domain/errors.ts'

/** The documents of a file, faults included, and where its lines begin. YAML 1.2, with merge keys. */
export function parseManifest(text: string): {
  readonly documents: readonly Document[]
  readonly lines: LineCounter
} {
  const lines = new LineCounter()
  // What the library would say by itself, past the log, quotes the text.
  const quiet = { prettyErrors: false, logLevel: 'error' } as const
  const parsed = parseAllDocuments(text, { ...quiet, lineCounter: lines, merge: true })
  return { documents: Array.isArray(parsed) ? parsed : [], lines }
}

/** Nothing between two lines of hyphens, or only comments. */
export function isBlank(document: Document): boolean {
  const { contents } = document
  return (
    document.errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))
  )
}

/** Faults whose messages quote the text, and not at their end. */
const UNQUOTED: Readonly<Record<string, string>> = {
  BAD_DIRECTIVE: 'Unknown directive',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  TAG_RESOLVE_FAILED: 'Unresolved tag',
}

/** What the library found wrong, without the text that it quotes: that may be a secret. */
export function faultText(fault: unknown): string {
  const unquoted = fault instanceof YAMLError ? UNQUOTED[fault.code] : undefined
  return unquoted ?? reasonOf(fault).replace(/(?<=\S): .*$/s, '')
}
