/** A kind of object, as the API server serves it. */
export interface ResourceKind {
  /** `punctual.dev/v1alpha1`, or `v1` for the core group. */
  readonly apiVersion: string
  readonly kind: string
  /** The plural in URL paths: `httpqueues`. */
  readonly plural: string
}

export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

/** The path of all objects of a kind. @param namespace null = in all namespaces */
export function collectionPath({ apiVersion, plural }: ResourceKind, namespace: string | null): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return namespace === null
    ? `${root}/${plural}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

export function objectPath(kind: ResourceKind, { namespace, name }: NamespacedName): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`
}
