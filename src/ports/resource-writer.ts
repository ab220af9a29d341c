import type { KubeObject, ObjectRef } from './kube-object.ts'

/** A new object as we ask for it. */
export interface NewObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: unknown
}

/**
 * Writes to objects of one kind. Every method throws ResourceApiError; nothing is half-written. A write to an object
 * whose `uid` is another by now is `not_found` or `conflict`, never a write to its successor; but see `applyStatus`.
 */
export interface ResourceWriter<T extends KubeObject> {
  /** Asks the API server itself, not the copy. null when there is none. */
  read(namespace: string, name: string): Promise<T | null>
  /** All objects of a namespace, asked of the API server itself; empty also where there is no such namespace. */
  readAll(namespace: string): Promise<readonly T[]>
  /** `conflict` when one of that name exists. */
  create(object: NewObject): Promise<T>
  /**
   * Changes some fields of `spec` by JSON merge patch, null removes one.
   * @param resourceVersion refused as `conflict` when it is another by now; null = whatever it is
   */
  patchSpec(
    target: ObjectRef,
    spec: Readonly<Record<string, unknown>>,
    resourceVersion: string | null,
  ): Promise<T>
  /**
   * Server-side apply of the whole status under our field manager. Kubernetes asks for no `uid` here: a successor of the
   * same name gets this status, the call is a `conflict`, and the successor's own turn puts it right.
   */
  applyStatus(target: ObjectRef, status: object): Promise<T>
  /** Adds or removes one finalizer of ours and leaves those of others; no write when it is so already. */
  setFinalizer(object: T, finalizer: string, present: boolean): Promise<T>
  /** Fine when it is gone already. */
  remove(target: ObjectRef): Promise<void>
}
