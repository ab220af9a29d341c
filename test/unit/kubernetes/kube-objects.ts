import type { ObjectKey, Informer } from '../../../src/ports/kubernetes.ts'
import type { KubeObject, ObjectMeta } from '../../../src/ports/resource-store.ts'

/** An HttpQueue `default/q` by default. */
export function kubeObject(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    metadata: {
      name: 'q',
      namespace: 'default',
      uid: 'uid-1',
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T09:00:00Z',
      ...metadata,
    },
  }
}

/** An informer whose objects the test sets. */
export interface SettableInformer extends Informer<KubeObject> {
  sync(): void
  /** undefined removes it. */
  set(key: ObjectKey, object: KubeObject | undefined): void
  readonly listeners: number
}

export function createSettableInformer(): SettableInformer {
  const objects = new Map<ObjectKey, KubeObject>()
  const listeners = new Set<Parameters<Informer<KubeObject>['onChange']>[0]>()
  const synced = Promise.withResolvers<void>()
  let isSynced = false
  return {
    get listeners() {
      return listeners.size
    },
    sync: () => {
      isSynced = true
      synced.resolve()
    },
    set: (key, object) => {
      const before = objects.get(key)
      if (object === undefined) objects.delete(key)
      else objects.set(key, object)
      for (const listener of listeners) listener(key, before, object)
    },
    isSynced: () => isSynced,
    whenSynced: async (signal) => {
      const aborted = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => aborted.resolve(), { once: true })
      await Promise.race([synced.promise, aborted.promise])
    },
    get: (key) => objects.get(key),
    all: () => objects.values(),
    byIndex: () => [],
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
