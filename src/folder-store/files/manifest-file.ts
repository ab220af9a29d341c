import type { ManifestReader, ReadResource } from '../../resources/manifests/manifest-reader.ts'
import { identityOf, type ManifestProblem } from '../../resources/resource.ts'

/** What a scan found under a file name. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  /** The file is too large, is no text, or may not be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface GoodVersion {
  readonly text: string
  readonly resources: readonly ReadResource[]
}

/** Content that differs from the good version and is accepted once it has been stable for long enough. */
interface Candidate {
  readonly content: Content
  readonly sinceMs: number
  readonly resources: readonly ReadResource[]
  readonly problems: readonly ManifestProblem[]
}

/** One file of the folder. Its good version stays applied until a candidate is accepted. */
export interface ManifestFile {
  readonly file: string
  /** Unix ms, as far as the file system knows. Of two resources with one name the older wins. */
  readonly madeAtMs: number
  readonly good: GoodVersion | null
  readonly candidate: Candidate | null
}

/** A file counts as written once it has not changed for this long. */
export const SETTLE_MS = 250
/** A resource counts as deleted once it has been missing for this long. */
export const ABSENCE_MS = 2_000

/** Takes what a scan has found for the file's candidate. */
export function observe(
  known: ManifestFile,
  content: Content,
  nowMs: number,
  reader: ManifestReader,
): ManifestFile {
  const { good, candidate } = known
  if (content.kind === 'text' ? content.text === good?.text : content.kind === 'absent' && good === null) {
    return candidate === null ? known : { ...known, candidate: null }
  }
  if (candidate !== null && isSameContent(candidate.content, content)) return known
  return { ...known, candidate: { content, sinceMs: nowMs, ...readContent(known, content, reader) } }
}

/**
 * Accepts the candidate when it is valid and has been stable for long enough.
 * @param isFirst whether this is the first scan after a start, when no file is expected to be half-written
 * @returns `file`: null = it was deleted; `dueInMs`: when to scan again, null = nothing waits
 */
export function settle(
  known: ManifestFile,
  nowMs: number,
  isFirst: boolean,
): { readonly file: ManifestFile | null; readonly dueInMs: number | null } {
  const { good, candidate } = known
  if (candidate === null) return { file: good === null ? null : known, dueInMs: null }
  if (candidate.problems.length > 0) return { file: known, dueInMs: null }
  const waitMs = losesResources(good, candidate.resources) ? ABSENCE_MS : isFirst ? 0 : SETTLE_MS
  const dueInMs = candidate.sinceMs + waitMs - nowMs
  if (dueInMs > 0) return { file: known, dueInMs }
  if (candidate.content.kind !== 'text') return { file: null, dueInMs: null }
  const accepted = { text: candidate.content.text, resources: candidate.resources }
  return { file: { ...known, good: accepted, candidate: null }, dueInMs: null }
}

/** Lists the problems of the candidate, unless it may still be half-written. */
export function problemsOf(known: ManifestFile, nowMs: number): readonly ManifestProblem[] {
  const { candidate } = known
  return candidate === null || nowMs - candidate.sinceMs < SETTLE_MS ? [] : candidate.problems
}

function readContent(
  { file, good }: ManifestFile,
  content: Content,
  reader: ManifestReader,
): { readonly resources: readonly ReadResource[]; readonly problems: readonly ManifestProblem[] } {
  if (content.kind === 'text') return reader.read(file, content.text, good?.resources)
  if (content.kind === 'absent') return { resources: [], problems: [] }
  return {
    resources: [],
    problems: [{ file, document: null, item: null, line: null, field: null, reason: content.reason }],
  }
}

/** Tells whether a resource would be deleted. A half-written file may lack only some of its documents or items. */
function losesResources(good: GoodVersion | null, resources: readonly ReadResource[]): boolean {
  const kept = new Set(resources.map(({ resource }) => identityOf(resource)))
  return good?.resources.some(({ resource }) => !kept.has(identityOf(resource))) === true
}

function isSameContent(left: Content, right: Content): boolean {
  if (left.kind === 'text') return right.kind === 'text' && left.text === right.text
  if (left.kind === 'absent') return right.kind === 'absent'
  return right.kind === 'unreadable' && left.reason === right.reason
}
