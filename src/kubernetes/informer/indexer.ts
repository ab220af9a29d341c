import { reasonOf } from '../../domain/errors.ts'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Logger } from '../../ports/runtime.ts'

/**
 * Index functions by the name of the index. Each must be pure, and answers the values under which an object is found.
 */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>

interface Index<T> {
  readonly valuesOf: (object: T) => readonly string[]
  readonly objects: Map<string, Map<ObjectKey, T>>
}

type Listener<T> = Parameters<Informer<T & KubeObject>['onChange']>[0]

/**
 * Keeps the objects of one kind, by key and by index, and tells listeners of their changes. All its objects are frozen.
 * It tolerates events that come twice or late: an older version never replaces a newer one.
 */
export class Indexer<T extends KubeObject> {
  readonly #logger: Logger
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes: ReadonlyMap<string, Index<T>>
  readonly #listeners = new Set<Listener<T>>()

  constructor(logger: Logger, indexes: IndexFunctions<T>) {
    this.#logger = logger
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, objects: new Map() }]),
    )
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  all(): Iterable<T> {
    return this.#objects.values()
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`there is no index ${name}`)
    return [...(index.objects.get(value)?.values() ?? [])]
  }

  onChange(listener: Listener<T>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Adds or updates an object, unless a newer version is known. */
  put(object: T): void {
    const known = this.#objects.get(keyOf(object))
    const isLate =
      known !== undefined && isOlder(object.metadata.resourceVersion, known.metadata.resourceVersion)
    if (!isLate) this.#set(object)
  }

  /** @param object the last state of an object that was deleted */
  delete({ metadata }: T): void {
    const key = keyOf({ metadata })
    const known = this.#objects.get(key)
    if (known === undefined) return
    const isRecreated = metadata.uid !== known.metadata.uid
    if (isRecreated && isOlder(metadata.resourceVersion, known.metadata.resourceVersion)) return
    this.#change(key, known, undefined)
  }

  /**
   * Takes a full list: known objects that are missing from it were deleted while nobody watched. Older versions count
   * too, for the API server may have been restored from a backup.
   * @param namespace the only one that was listed; null = all were
   */
  replace(namespace: string | null, objects: readonly T[]): void {
    const listed = new Set(objects.map(keyOf))
    const deleted = [...this.#objects].filter(
      ([key, { metadata }]) => !listed.has(key) && (namespace === null || metadata.namespace === namespace),
    )
    for (const [key, known] of deleted) this.#change(key, known, undefined)
    for (const object of objects) this.#set(object)
  }

  /** Takes over what another copy has, whatever its version. @param object undefined = the other copy has none */
  protected follow(key: ObjectKey, object: T | undefined): void {
    const known = this.#objects.get(key)
    if (known !== object) this.#change(key, known, object)
  }

  #set(object: T): void {
    const key = keyOf(object)
    const known = this.#objects.get(key)
    if (known === undefined) return this.#change(key, undefined, object)
    const { uid, resourceVersion } = object.metadata
    if (uid === known.metadata.uid) {
      if (resourceVersion !== known.metadata.resourceVersion) this.#change(key, known, object)
      return
    }
    // The object was deleted and created again while nobody watched, and listeners must see both.
    this.#change(key, known, undefined)
    this.#change(key, undefined, object)
  }

  #change(key: ObjectKey, before: T | undefined, after: T | undefined): void {
    if (before !== undefined) this.#unindex(key, before)
    if (after === undefined) this.#objects.delete(key)
    else {
      this.#objects.set(key, after)
      this.#index(key, after)
    }
    for (const listener of this.#listeners) {
      try {
        listener(key, before, after)
      } catch (error) {
        this.#logger.error('A listener failed on a changed object', { key, reason: reasonOf(error) })
      }
    }
  }

  #index(key: ObjectKey, object: T): void {
    for (const { valuesOf, objects } of this.#indexes.values()) {
      for (const value of this.#valuesOf(key, object, valuesOf)) {
        const found = objects.get(value) ?? new Map<ObjectKey, T>()
        objects.set(value, found.set(key, object))
      }
    }
  }

  /** An object that cannot be indexed is not found by this index; the list it came with is taken all the same. */
  #valuesOf(key: ObjectKey, object: T, valuesOf: Index<T>['valuesOf']): readonly string[] {
    try {
      return valuesOf(object)
    } catch (error) {
      this.#logger.error('An object cannot be indexed', { key, reason: reasonOf(error) })
      return []
    }
  }

  #unindex(key: ObjectKey, object: T): void {
    for (const { valuesOf, objects } of this.#indexes.values()) {
      for (const value of this.#valuesOf(key, object, valuesOf)) {
        objects.get(value)?.delete(key)
        if (objects.get(value)?.size === 0) objects.delete(value)
      }
    }
  }
}

export function keyOf({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>): ObjectKey {
  return `${namespace}/${name}`
}

const DECIMAL = /^[1-9]\d*$/

/**
 * Compares resource versions of one kind. Kubernetes promises since 1.35 that they are decimal numbers that increase;
 * others cannot be compared, and none counts as older.
 */
function isOlder(version: string, than: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return false
  return version.length === than.length ? version < than : version.length < than.length
}
