import { ResourceApiError } from '../../domain/errors.ts'
import type {
  KubeObject,
  ObjectKey,
  ObjectMeta,
  ObjectRef,
  NewObject,
  ResourceWriter,
} from '../../ports/kubernetes.ts'
import { ignoreNotFound, isFault } from '../client/api-errors.ts'
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
  /** Owns the fields we write, as `managedFields` shows: `punctual-controller`. */
  readonly fieldManager: string
  /** Finds the informer's copy, which `readAll` reuses for objects that have not changed. */
  readonly known?: (key: ObjectKey) => KubeObject | undefined
}

/** A separate manager, so that applying the status removes no other field of ours. */
const STATUS_FIELD_MANAGER = 'punctual-status'

/** Writes carry the `uid` as a precondition: if the object was recreated, the API server rejects all but a status. */
export function createResourceWriter<T extends KubeObject>(
  options: ResourceWriterOptions,
): ResourceWriter<T> {
  const { transport, kind } = options
  const send = async (request: ApiRequest): Promise<T> =>
    received(await transport.request(request), kind) as T

  const read = (namespace: string, name: string): Promise<T | null> =>
    ignoreNotFound(send({ method: 'GET', path: objectPath(kind, { namespace, name }) }))

  return {
    read,
    readAll: async (namespace) => {
      const { objects } = await listObjects({ ...options, namespace }, new AbortController().signal)
      return objects as readonly T[]
    },
    create: (object) => send(creation(options, object)),
    patchSpec: (target, spec, resourceVersion) => {
      const version = resourceVersion === null ? {} : { resourceVersion }
      return send(mergePatch(options, target, { metadata: { uid: target.uid, ...version }, spec }))
    },
    applyStatus: async (target, status) => {
      const applied = await send(statusApply(kind, target, status))
      if (applied.metadata.uid === target.uid) return applied
      throw new ResourceApiError(
        'conflict',
        `${target.name} was recreated, and the new object has got the status`,
      )
    },
    setFinalizer: async (object, finalizer, present) => {
      const metadata = finalizerPatch(object.metadata, finalizer, present)
      return metadata === null ? object : send(mergePatch(options, object.metadata, { metadata }))
    },
    remove: async (target) => {
      try {
        await ignoreNotFound(transport.request(removal(kind, target)))
      } catch (error) {
        if (!isFault(error, 'conflict')) throw error
        // Most likely it was recreated, so the object we meant is deleted.
        const present = await read(target.namespace, target.name)
        if (present?.metadata.uid === target.uid) throw error
      }
    },
  }
}

function creation({ kind, fieldManager }: ResourceWriterOptions, object: NewObject): ApiRequest {
  return {
    method: 'POST',
    path: collectionPath(kind, object.metadata.namespace),
    query: { fieldManager },
    body: { apiVersion: kind.apiVersion, kind: kind.kind, ...object },
  }
}

function mergePatch(
  { kind, fieldManager }: ResourceWriterOptions,
  name: NamespacedName,
  body: object,
): ApiRequest {
  return { method: 'PATCH', path: objectPath(kind, name), query: { fieldManager }, patchType: 'merge', body }
}

function statusApply(kind: ResourceKind, { namespace, name, uid }: ObjectRef, status: object): ApiRequest {
  return {
    method: 'PATCH',
    path: `${objectPath(kind, { namespace, name })}/status`,
    // The status is ours alone: overrule manual edits.
    query: { fieldManager: STATUS_FIELD_MANAGER, force: true },
    patchType: 'apply',
    body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace, name, uid }, status },
  }
}

/** The metadata to patch; null when there is nothing to change. */
function finalizerPatch(
  { uid, resourceVersion, finalizers = [] }: ObjectMeta,
  finalizer: string,
  present: boolean,
): object | null {
  if (finalizers.includes(finalizer) === present) return null
  const others = finalizers.filter((one) => one !== finalizer)
  // A merge patch replaces the whole list: the optimistic lock protects finalizers that others have added since.
  return { uid, resourceVersion, finalizers: present ? [...others, finalizer] : others }
}

function removal(kind: ResourceKind, target: ObjectRef): ApiRequest {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: target.uid } }
  return { method: 'DELETE', path: objectPath(kind, target), body }
}
