import {
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  YAMLError,
  type Document,
  type Node,
} from 'yaml'
import type { FieldPath } from '../schema/field-path.ts'
import { reasonOf } from '../../domain/errors.ts'

/** Parses YAML 1.2 with merge keys. Each document has its errors. */
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

/** A blank document is empty or has only comments. */
export function isBlank(document: Document): boolean {
  const { contents } = document
  return (
    document.errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))
  )
}

const LEADING_ZERO = /^[-+]?0[0-9]/

/** Finds whole numbers that YAML 1.1 reads as octal and YAML 1.2 as decimal, such as `010`. */
export function leadingZeros(of: Node): readonly FieldPath[] {
  const found: FieldPath[] = []
  visit(of, {
    Scalar: (key, scalar, ancestors) => {
      const isNumber = key !== 'key' && typeof scalar.value === 'number'
      if (isNumber && LEADING_ZERO.test(scalar.source ?? '')) found.push(pathOf([...ancestors, scalar]))
    },
  })
  return found
}

/** @param nodes from the outermost to the one that is asked for */
function pathOf(nodes: readonly unknown[]): FieldPath {
  return nodes.flatMap((node, at): FieldPath => {
    if (isPair(node)) return [String(isScalar(node.key) ? node.key.value : node.key)]
    return isSeq(node) ? [node.items.indexOf(nodes[at + 1])] : []
  })
}

/** The message of these errors quotes the text in the middle, so they have one of ours. */
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
