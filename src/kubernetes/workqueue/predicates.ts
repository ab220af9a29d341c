import type { KubeObject } from '../../ports/kubernetes.ts'

/**
 * Whether a change gives a reconciler something to do: of the spec, of what people write into the metadata, or of the
 * object's life. A new status alone, which is most often our own, does not.
 */
export function needsReconcile(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  const [was, is] = [before.metadata, after.metadata]
  return (
    was.uid !== is.uid ||
    specVersionOf(before) !== specVersionOf(after) ||
    was.deletionTimestamp !== is.deletionTimestamp ||
    hasLost(was.finalizers, is.finalizers) ||
    !isSameRecord(was.labels, is.labels) ||
    !isSameRecord(was.annotations, is.annotations)
  )
}

/** Kinds without a generation, such as Secrets, have no status that could change alone. */
function specVersionOf({ metadata }: KubeObject): number | string {
  return metadata.generation ?? metadata.resourceVersion
}

/** One that is new asks for nothing, least of all our own: its turn is under way. */
function hasLost(before: readonly string[] = [], after: readonly string[] = []): boolean {
  return before.some((finalizer) => !after.includes(finalizer))
}

function isSameRecord(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
