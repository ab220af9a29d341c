import { ResourceApiError } from '../../../src/domain/errors.ts'
import type { ObjectKey, Informer, ResourceWriter } from '../../../src/ports/kubernetes.ts'
import type { KubeObject, ObjectRef, NewObject } from '../../../src/ports/resource-store.ts'

interface Stored extends KubeObject {
  readonly spec: unknown
  readonly status?: unknown
}

/** The objects of one kind, as an API server keeps them and as an informer that is never behind has them. */
export interface MemoryKind<T extends KubeObject> {
  readonly informer: Pick<Informer<T>, 'isSynced' | 'get' | 'all' | 'byIndex'>
  readonly writer: ResourceWriter<T>
  /** What was written, oldest first: `status shop/emails`. */
  readonly writes: string[]
  /** Puts an object as its owner does; the next one is a second younger. */
  put(key: ObjectKey, spec: unknown, metadata?: Partial<KubeObject['metadata']>): T
  /** Deletes as its owner does: with a finalizer it stays, with a deletionTimestamp. */
  delete(key: ObjectKey): void
  /** Removes it despite its finalizers. */
  force(key: ObjectKey): void
  get(key: ObjectKey): T | undefined
}

export const MADE_AT_MS = Date.parse('2026-11-21T09:00:00Z')

/** @param onEffect called before and after each write */
export function createMemoryKind<T extends KubeObject>(options: {
  kind: string
  indexes: Readonly<Record<string, (object: T) => string>>
  defaults?: object
  onEffect?: (when: 'before' | 'after') => void
}): MemoryKind<T> {
  const objects = new Map<ObjectKey, Stored>()
  const writes: string[] = []
  let version = 0

  const asT = (stored: Stored) => stored as unknown as T
  const keyOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`
  const stored = (key: ObjectKey, object: Omit<Stored, 'apiVersion' | 'kind'>): T => {
    version += 1
    const metadata = { ...object.metadata, resourceVersion: String(version) }
    const whole = { ...object, apiVersion: 'punctual.dev/v1alpha1', kind: options.kind, metadata }
    const isLetGo = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0
    if (isLetGo) objects.delete(key)
    else objects.set(key, whole)
    return asT(whole)
  }
  const effect = <R>(what: string, run: () => R): Promise<R> =>
    Promise.try(() => {
      options.onEffect?.('before')
      const answer = run()
      writes.push(what)
      options.onEffect?.('after')
      return answer
    })
  const known = (target: ObjectRef): Stored => {
    const found = objects.get(keyOf(target))
    if (found?.metadata.uid !== target.uid) throw new ResourceApiError('not_found', `no ${target.name}`)
    return found
  }
  const put: MemoryKind<T>['put'] = (key, spec, metadata = {}) => {
    const [namespace = '', name = ''] = key.split('/')
    const former = objects.get(key)
    const created = { uid: `uid-${version + 1}`, generation: 0, creationTimestamp: timeOf(objects.size) }
    const meta = { ...created, resourceVersion: '', ...former?.metadata, ...metadata, name, namespace }
    return stored(key, {
      ...former,
      metadata: { ...meta, generation: (meta.generation ?? 0) + 1 },
      spec: mergedSpec({ ...options.defaults, ...(former?.spec as object | undefined), ...(spec as object) }),
    })
  }

  const writer: ResourceWriter<T> = {
    read: async (namespace, name) => {
      const found = objects.get(`${namespace}/${name}`)
      return found === undefined ? null : asT(found)
    },
    readAll: async (namespace) =>
      [...objects.values()].filter(({ metadata }) => metadata.namespace === namespace).map(asT),
    create: ({ metadata, spec }: NewObject) =>
      effect(`create ${keyOf(metadata)}`, () => {
        if (objects.has(keyOf(metadata))) throw new ResourceApiError('conflict', 'it exists')
        return put(keyOf(metadata), spec, metadata)
      }),
    patchSpec: (target, spec, lock) =>
      effect(`spec ${keyOf(target)}`, () => {
        const { metadata } = known(target)
        if (lock !== null && metadata.resourceVersion !== lock)
          throw new ResourceApiError('conflict', 'the object has been modified')
        return put(keyOf(target), spec)
      }),
    applyStatus: (target, status) =>
      effect(`status ${keyOf(target)}`, () => stored(keyOf(target), { ...known(target), status })),
    setFinalizer: async (object, finalizer, present) => {
      const held = object.metadata.finalizers ?? []
      if (held.includes(finalizer) === present) return object
      const finalizers = present ? [...held, finalizer] : held.filter((one) => one !== finalizer)
      return effect(`${present ? 'hold' : 'release'} ${keyOf(object.metadata)}`, () => {
        const found = known({ ...object, ...object.metadata })
        return stored(keyOf(object.metadata), { ...found, metadata: { ...found.metadata, finalizers } })
      })
    },
    remove: (target) => effect(`remove ${keyOf(target)}`, () => markDeleted(keyOf(target))),
  }
  const markDeleted = (key: ObjectKey): void => {
    const found = objects.get(key)
    if (found === undefined) return
    stored(key, { ...found, metadata: { ...found.metadata, deletionTimestamp: timeOf(60) } })
  }
  return {
    informer: {
      isSynced: () => true,
      get: (key) => writerCopy(objects.get(key)),
      all: () => [...objects.values()].map(asT),
      byIndex: (index, value) =>
        [...objects.values()].map(asT).filter((object) => options.indexes[index]?.(object) === value),
    },
    writer,
    writes,
    put,
    delete: markDeleted,
    force: (key) => void objects.delete(key),
    get: (key) => writerCopy(objects.get(key)),
  }

  function writerCopy(found: Stored | undefined): T | undefined {
    return found === undefined ? undefined : asT(found)
  }
}

/** As after a merge patch, in which null removes a field. */
function mergedSpec(spec: object): object {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null))
}

/** RFC 3339, some seconds after the first. */
export function timeOf(seconds: number): string {
  return new Date(MADE_AT_MS + seconds * 1000).toISOString().replace('.000Z', 'Z')
}
