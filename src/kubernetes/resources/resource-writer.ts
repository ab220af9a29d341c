import { ResourceApiError } from '../../domain/errors.ts'
import type {
  KubeObject,
  ObjectKey,
  ObjectMeta,
  ObjectRef,
  NewObject,
  ResourceWriter,
} from '../../ports/kubernetes.ts'
import { isFault } from '../client/api-errors.ts'
import { received } from '../client/received-object.ts'
import { listObjects } from '../informer/reflector-list.ts'
import { collectionPath, objectPath, type ResourceKind } from '../client/resource-path.ts'
import type { ApiRequest, Transport } from '../client/transport.ts'

export interface ResourceWriterOptions {
  readonly transport: Transport
  readonly kind: ResourceKind
  /** Who the fields we write belong to, as `managedFields` tell people: `punctual-controller`. */
  readonly fieldManager: string
  /** What is known already: `readAll` makes no second copy of what has not changed. */
  readonly known?: (key: ObjectKey) => KubeObject | undefined
}

/** The status has an owner of its own, so that an apply of it touches nothing else. */
const STATUS_MANAGER = 'punctual-status'

/** Every write names the `uid` it means; the API server refuses all but a status when another object has the name by now. */
export function createResourceWriter<T extends KubeObject>(
  options: ResourceWriterOptions,
): ResourceWriter<T> {
  const { transport, kind } = options
  const send = async (request: ApiRequest): Promise<T> =>
    received(await transport.request(request), kind) as T

  async function read(namespace: string, name: string): Promise<T | null> {
    try {
      return await send({ method: 'GET', path: objectPath(kind, { namespace, name }) })
    } catch (error) {
      if (isFault(error, 'not_found')) return null
      throw error
    }
  }

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
      throw new ResourceApiError('conflict', `${target.name} is another object by now and has got the status`)
    },
    setFinalizer: async (object, finalizer, present) => {
      const metadata = finalizerPatch(object.metadata, finalizer, present)
      return metadata === null ? object : send(mergePatch(options, object.metadata, { metadata }))
    },
    remove: async (target) => {
      try {
        await transport.request(removal(kind, target))
      } catch (error) {
        if (isFault(error, 'not_found')) return
        if (!isFault(error, 'conflict')) throw error
        // Most likely another object has the name by now, so that the one meant is gone.
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
  place: Pick<ObjectRef, 'namespace' | 'name'>,
  body: object,
): ApiRequest {
  const path = objectPath(kind, place)
  return { method: 'PATCH', path, query: { fieldManager }, contentType: 'application/merge-patch+json', body }
}

function statusApply(kind: ResourceKind, { namespace, name, uid }: ObjectRef, status: object): ApiRequest {
  return {
    method: 'PATCH',
    path: `${objectPath(kind, { namespace, name })}/status`,
    // The status is ours alone: whoever wrote it by hand is overruled.
    query: { fieldManager: STATUS_MANAGER, force: true },
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace, name, uid }, status },
  }
}

/** What to patch; null when it is so already. */
function finalizerPatch(
  { uid, resourceVersion, finalizers = [] }: ObjectMeta,
  finalizer: string,
  present: boolean,
): object | null {
  if (finalizers.includes(finalizer) === present) return null
  const others = finalizers.filter((one) => one !== finalizer)
  // A patch replaces the whole list: the version guards what others have put into it since.
  return { uid, resourceVersion, finalizers: present ? [...others, finalizer] : others }
}

function removal(kind: ResourceKind, target: ObjectRef): ApiRequest {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: target.uid } }
  return { method: 'DELETE', path: objectPath(kind, target), body }
}
