import type { KubeObject, ObjectKey, Informer } from '../../ports/kubernetes.ts'
import { ObjectStore, type Index } from './indexer.ts'
import type { ReflectorOptions } from './reflector-options.ts'
import { Reflector } from './reflector.ts'
import { unlessAborted } from '../client/unless-aborted.ts'

export interface ResourceViewOptions<T extends KubeObject> extends Omit<
  ReflectorOptions<T>,
  'sink' | 'namespace'
> {
  /** Only these, at least one, each listed and watched on its own, so that rights in them are enough; null = all. */
  readonly namespaces: readonly string[] | null
  /** By name, for `byIndex`. */
  readonly indexes: Readonly<Record<string, Index<T>>>
}

export interface LiveResourceView<T extends KubeObject> extends Informer<T> {
  start(): void
  /** Resolves when no request is under way; nothing is told from the call on. What is known stays readable. */
  stop(): Promise<void>
}

export function createInformer<T extends KubeObject>(options: ResourceViewOptions<T>): LiveResourceView<T> {
  const { namespaces, indexes, logger } = options
  const store = new ObjectStore<T>(logger, indexes)
  const scopes = namespaces === null ? [null] : [...new Set(namespaces)]
  const unlisted = new Set<string | null>(scopes)
  const synced = Promise.withResolvers<void>()
  const sink = {
    known: (key: ObjectKey) => store.get(key),
    replace: (namespace: string | null, objects: readonly T[]) => {
      store.replace(namespace, objects)
      if (unlisted.delete(namespace) && unlisted.size === 0) synced.resolve()
    },
    put: (object: T) => store.put(object),
    remove: (object: T) => store.remove(object),
  }
  const reflectors = scopes.map((namespace) => new Reflector<T>({ ...options, namespace, sink }))
  return {
    isSynced: () => unlisted.size === 0,
    whenSynced: (signal) => unlessAborted(synced.promise, signal),
    get: (key) => store.get(key),
    all: () => store.all(),
    byIndex: (index, value) => store.byIndex(index, value),
    onChange: (listener) => store.onChange(listener),
    start: () => {
      for (const reflector of reflectors) reflector.start()
    },
    stop: async () => {
      await Promise.all(reflectors.map((reflector) => reflector.stop()))
    },
  }
}
