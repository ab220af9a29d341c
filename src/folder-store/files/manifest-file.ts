import type { ManifestReader, ReadResource } from '../../resources/manifests/manifest-reader.ts'
import { identityOf } from '../../resources/resource.ts'
import type { ManifestProblem } from '../../resources/resource.ts'

/** What lies in the folder under a name now. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  /** There, but too large, not text, or closed to us. */
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface GoodVersion {
  readonly text: string
  readonly resources: readonly ReadResource[]
}

/** Content that differs from the good version and waits to have been the same for long enough. */
interface Candidate {
  readonly content: Content
  readonly sinceMs: number
  readonly resources: readonly ReadResource[]
  readonly problems: readonly ManifestProblem[]
}

/** One file of the folder. The good version is in force, whatever lies there meanwhile. */
export interface ManifestFile {
  readonly file: string
  /** When the file was made, as far as can be told, in Unix ms: of two resources of one name the older wins. */
  readonly madeAtMs: number
  readonly good: GoodVersion | null
  readonly candidate: Candidate | null
}

/** A file that is being written must have been still for this long. */
export const SETTLE_MS = 250
/** Nothing is deleted that has not been gone for this long. */
export const ABSENCE_MS = 2_000

/** Takes note of what lies there now. */
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
 * Puts the candidate in force when it is valid and has been there for long enough.
 * @param isFirst the first look after a start: nobody is taken to be writing right now
 * @returns null when the file is deleted; `dueInMs` is when to look again, null when nothing waits
 */
export function settle(
  known: ManifestFile,
  nowMs: number,
  isFirst: boolean,
): { readonly file: ManifestFile | null; readonly dueInMs: number | null } {
  const { good, candidate } = known
  if (candidate === null) return { file: good === null ? null : known, dueInMs: null }
  const isFaulty = candidate.problems.length > 0
  if (isFaulty) return { file: known, dueInMs: null }
  const waitMs = isLosing(good, candidate.resources) ? ABSENCE_MS : isFirst ? 0 : SETTLE_MS
  const dueInMs = candidate.sinceMs + waitMs - nowMs
  if (dueInMs > 0) return { file: known, dueInMs }
  if (candidate.content.kind !== 'text') return { file: null, dueInMs: null }
  const accepted = { text: candidate.content.text, resources: candidate.resources }
  return { file: { ...known, good: accepted, candidate: null }, dueInMs: null }
}

/** Problems worth telling: those of a file that may still be half-written are not. */
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
    problems: [{ file, document: null, line: null, field: null, reason: content.reason }],
  }
}

/** Whether something that is in force would be gone. A document alone can be lost when a file is half-written. */
function isLosing(good: GoodVersion | null, resources: readonly ReadResource[]): boolean {
  const kept = new Set(resources.map(({ resource }) => identityOf(resource)))
  return good?.resources.some(({ resource }) => !kept.has(identityOf(resource))) === true
}

function isSameContent(left: Content, right: Content): boolean {
  if (left.kind === 'text') return right.kind === 'text' && left.text === right.text
  if (left.kind === 'absent') return right.kind === 'absent'
  return right.kind === 'unreadable' && left.reason === right.reason
}
