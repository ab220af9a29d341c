import { ResourceApiError, isFault } from '../../domain/errors.ts'
import type { ObjectKey, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject, NewObject, ObjectRef } from '../../ports/resource-store.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { received } from '../client/received-object.ts'
import {
  collectionPath,
  objectPath,
  type NamespacedName,
  type ResourceKind,
} from '../client/resource-path.ts'
import type { ApiRequest, Transport } from '../client/transport.ts'
import { listObjects } from '../informer/reflector-list.ts'

export interface ResourceWriterOptions {
  readonly transport: Transport
  readonly kind: ResourceKind
  /** The owner of the fields we write, as `managedFields` shows it: `punctual-controller`. */
  readonly fieldManager: string
  /** Finds the informer's copy, which `readAll` reuses for objects that have not changed. */
  readonly known?: (key: ObjectKey) => KubeObject | undefined
}

/** The status has its own manager, so that applying it removes no other field of ours. */
const STATUS_FIELD_MANAGER = 'punctual-status'

/**
 * Writes carry the `uid` as a precondition: if the object was recreated, the API server rejects them all, except for a
 * status.
 */
export class ApiResourceWriter<T extends KubeObject> implements ResourceWriter<T> {
  readonly #options: ResourceWriterOptions

  constructor(options: ResourceWriterOptions) {
    this.#options = options
  }

  read(namespace: string, name: string): Promise<T | null> {
    const path = objectPath(this.#options.kind, { namespace, name })
    return ignoreNotFound(this.#send({ method: 'GET', path }))
  }

  async readAll(namespace: string): Promise<readonly T[]> {
    const { objects } = await listObjects({ ...this.#options, namespace }, new AbortController().signal)
    return objects as readonly T[]
  }

  create(object: NewObject): Promise<T> {
    const { kind, fieldManager } = this.#options
    return this.#send({
      method: 'POST',
      path: collectionPath(kind, object.metadata.namespace),
      query: { fieldManager },
      body: { apiVersion: kind.apiVersion, kind: kind.kind, ...object },
    })
  }

  patchSpec(
    target: ObjectRef,
    spec: Readonly<Record<string, unknown>>,
    resourceVersion: string | null,
  ): Promise<T> {
    const version = resourceVersion === null ? {} : { resourceVersion }
    return this.#mergePatch(target, { metadata: { uid: target.uid, ...version }, spec })
  }

  /** As `patchSpec`, and takes an annotation away. */
  withoutAnnotation(
    target: ObjectRef,
    annotation: string,
    spec: Readonly<Record<string, unknown>>,
  ): Promise<T> {
    return this.#mergePatch(target, {
      metadata: { uid: target.uid, annotations: { [annotation]: null } },
      spec,
    })
  }

  /** Whatever has the name by now. Needs no right to read it. Succeeds when it does not exist. */
  async removeNamed(namespace: string, name: string): Promise<void> {
    const { transport, kind } = this.#options
    const path = objectPath(kind, { namespace, name })
    await ignoreNotFound(transport.request({ method: 'DELETE', path }))
  }

  async applyStatus({ namespace, name, uid }: ObjectRef, status: object): Promise<T> {
    const { kind } = this.#options
    const applied = await this.#send({
      method: 'PATCH',
      path: `${objectPath(kind, { namespace, name })}/status`,
      // The status is ours alone, so manual edits of it are overruled.
      query: { fieldManager: STATUS_FIELD_MANAGER, force: true },
      patchType: 'apply',
      body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace, name, uid }, status },
    })
    if (applied.metadata.uid === uid) return applied
    throw new ResourceApiError('conflict', `${name} was recreated, and the new object has got the status`)
  }

  async setFinalizer(object: T, finalizer: string, present: boolean): Promise<T> {
    const { uid, resourceVersion, finalizers: before = [] } = object.metadata
    if (before.includes(finalizer) === present) return object
    const others = before.filter((one) => one !== finalizer)
    const finalizers = present ? [...others, finalizer] : others
    // A merge patch replaces the whole list: the optimistic lock protects finalizers that others have added since.
    return this.#mergePatch(object.metadata, { metadata: { uid, resourceVersion, finalizers } })
  }

  async remove(target: ObjectRef): Promise<void> {
    const { transport, kind } = this.#options
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: target.uid } }
    try {
      await ignoreNotFound(transport.request({ method: 'DELETE', path: objectPath(kind, target), body }))
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      // Most likely the object was created again, so the one we meant is deleted.
      const present = await this.read(target.namespace, target.name)
      if (present?.metadata.uid === target.uid) throw error
    }
  }

  #mergePatch(target: NamespacedName, body: object): Promise<T> {
    const { kind, fieldManager } = this.#options
    const path = objectPath(kind, target)
    return this.#send({ method: 'PATCH', path, query: { fieldManager }, patchType: 'merge', body })
  }

  async #send(request: ApiRequest): Promise<T> {
    const { transport, kind } = this.#options
    return received(await transport.request(request), kind) as T
  }
}
