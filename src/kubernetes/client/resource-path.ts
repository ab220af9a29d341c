/** A kind as the API server serves it. */
export interface ResourceKind {
  /** `punctual.dev/v1alpha1`, or `v1` for the core group. */
  readonly apiVersion: string
  readonly kind: string
  /** As in paths: `httpqueues`. */
  readonly plural: string
}

/** Where the objects of a kind are. @param namespace null = those of all namespaces */
export function collectionPath({ apiVersion, plural }: ResourceKind, namespace: string | null): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return namespace === null
    ? `${root}/${plural}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

export function objectPath(
  kind: ResourceKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`
}
