/** What Kubernetes writes about every object; fields we do not use are kept off. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** Opaque; equal only for the very same version. */
  readonly resourceVersion: string
  /** Rises with every change of the spec; absent for kinds without one. */
  readonly generation?: number
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** An object as the API server answers it, fields unknown to us included; frozen. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** Names one object of one life: after delete-and-recreate the `uid` is another. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** `namespace/name`. */
export type ObjectKey = string
