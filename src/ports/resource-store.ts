/** The fields of `metav1.ObjectMeta` that we use. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** Opaque: compare for equality only. */
  readonly resourceVersion: string
  /** Incremented with every change of the spec; absent for kinds without a spec. */
  readonly generation?: number
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** The field manager that wrote the spec last; not a field of Kubernetes, but taken from `managedFields`. */
  readonly specManager?: string
  /** The field manager that applied the spec last, by `kubectl apply` or server-side: it has a manifest somewhere. */
  readonly specApplier?: string
}

/**
 * A resource in the shape of Kubernetes, whether it lies in an API server or in a folder; frozen. It may have fields that
 * we do not know.
 */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** Identifies one object. One that is recreated under the same name has a new `uid`. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function refOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): ObjectRef {
  return { apiVersion, kind, namespace, name, uid }
}

/** An object to create. */
export interface NewObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
    /** In a cluster alone, as the following. */
    readonly annotations?: Readonly<Record<string, string>>
    /** The object goes when all of these are gone. */
    readonly ownerReferences?: ReadonlyArray<Omit<ObjectRef, 'namespace'>>
  }
  /** Absent in a Secret. */
  readonly spec?: unknown
  /** Type of a Secret. */
  readonly type?: string
  /** The values of a Secret, as text. */
  readonly stringData?: Readonly<Record<string, string>>
}

/**
 * The resources of one kind: in the API server of a cluster, or in a folder of manifests. Whoever edits one reads and
 * writes it here and knows no more of where it lies. Every method throws ResourceApiError and writes all or nothing. A
 * write to an object that was deleted or recreated is `not_found` or `conflict` and does not change the new object.
 */
export interface ResourceStore<T extends KubeObject> {
  /** Reads the present state, not a copy that may lag; null when it does not exist. */
  read(namespace: string, name: string): Promise<T | null>
  /** All objects of a namespace, as `read` has them; empty when the namespace does not exist. */
  readAll(namespace: string): Promise<readonly T[]>
  /** `conflict` when the name is taken. */
  create(object: NewObject): Promise<T>
  /**
   * JSON merge patch of `spec`; null removes a field.
   * @param resourceVersion optimistic lock: `conflict` when the object has changed since; null = no lock
   */
  patchSpec(
    target: ObjectRef,
    spec: Readonly<Record<string, unknown>>,
    resourceVersion: string | null,
  ): Promise<T>
  /** Succeeds when it does not exist. */
  remove(target: ObjectRef): Promise<void>
}
