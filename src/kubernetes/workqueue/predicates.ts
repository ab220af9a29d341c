import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../ports/resource-store.ts'

/**
 * Tells whether a change triggers a reconcile: of the spec, of labels or annotations, a deletion, or a finalizer that
 * was removed. A change of the status alone does not, for most often it is our own.
 */
export function needsReconcile(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  const [was, is] = [before.metadata, after.metadata]
  return (
    was.uid !== is.uid ||
    specVersionOf(before) !== specVersionOf(after) ||
    was.deletionTimestamp !== is.deletionTimestamp ||
    hasLost(was.finalizers, is.finalizers) ||
    !isDeepStrictEqual(was.labels ?? {}, is.labels ?? {}) ||
    !isDeepStrictEqual(was.annotations ?? {}, is.annotations ?? {})
  )
}

/** A kind without a generation, such as a Secret, has no status that could change alone. */
function specVersionOf({ metadata }: KubeObject): number | string {
  return metadata.generation ?? metadata.resourceVersion
}

/** An added finalizer needs no reconcile, least of all ours: the reconcile that added it is still running. */
function hasLost(before: readonly string[] = [], after: readonly string[] = []): boolean {
  return before.some((finalizer) => !after.includes(finalizer))
}
