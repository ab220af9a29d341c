import { reasonOf } from '../../domain/errors.ts'
import type { KubeObject, ObjectKey, Informer } from '../../ports/kubernetes.ts'
import type { Logger } from '../../ports/runtime.ts'
import { isOlder } from './resource-version.ts'

/** Under which values an object is found. Must be pure. */
export type Index<T> = (object: T) => readonly string[]

type Listener<T> = Parameters<Informer<T & KubeObject>['onChange']>[0]

/**
 * The objects of one kind, by key and by index, and who wants to hear of changes. Every object in it is frozen. It takes
 * events more than once and out of order: that of an older version never replaces a newer one.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #logger: Logger
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes: ReadonlyMap<
    string,
    { readonly of: Index<T>; readonly found: Map<string, Map<ObjectKey, T>> }
  >
  readonly #listeners = new Set<Listener<T>>()

  constructor(logger: Logger, indexes: Readonly<Record<string, Index<T>>>) {
    this.#logger = logger
    this.#indexes = new Map(Object.entries(indexes).map(([name, of]) => [name, { of, found: new Map() }]))
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
    return [...(index.found.get(value)?.values() ?? [])]
  }

  onChange(listener: Listener<T>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** An object that came or changed. */
  put(object: T): void {
    const known = this.#objects.get(keyOf(object))
    const isLate =
      known !== undefined && isOlder(object.metadata.resourceVersion, known.metadata.resourceVersion)
    if (!isLate) this.#take(object)
  }

  /** An object that went, in its last state. */
  remove({ metadata }: T): void {
    const key = keyOf({ metadata })
    const known = this.#objects.get(key)
    if (known === undefined) return
    const isOtherLife = metadata.uid !== known.metadata.uid
    if (isOtherLife && isOlder(metadata.resourceVersion, known.metadata.resourceVersion)) return
    this.#change(key, known, undefined)
  }

  /**
   * All objects there are: what is known and not among them went while we looked away. Older versions count too, for
   * the API server may have been restored to an earlier state.
   * @param namespace the only one that was listed; null = all
   */
  replace(namespace: string | null, objects: readonly T[]): void {
    const listed = new Set(objects.map(keyOf))
    const gone = [...this.#objects].filter(
      ([key, { metadata }]) => !listed.has(key) && (namespace === null || metadata.namespace === namespace),
    )
    for (const [key, known] of gone) this.#change(key, known, undefined)
    for (const object of objects) this.#take(object)
  }

  #take(object: T): void {
    const key = keyOf(object)
    const known = this.#objects.get(key)
    if (known === undefined) return this.#change(key, undefined, object)
    const { uid, resourceVersion } = object.metadata
    if (uid === known.metadata.uid) {
      if (resourceVersion !== known.metadata.resourceVersion) this.#change(key, known, object)
      return
    }
    // Deleted and made again while we looked away: two objects, of which the first has gone.
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
        this.#logger.error('a listener failed on a changed object', { key, reason: reasonOf(error) })
      }
    }
  }

  #index(key: ObjectKey, object: T): void {
    for (const { of, found } of this.#indexes.values()) {
      for (const value of of(object)) {
        const under = found.get(value) ?? new Map<ObjectKey, T>()
        found.set(value, under.set(key, object))
      }
    }
  }

  #unindex(key: ObjectKey, object: T): void {
    for (const { of, found } of this.#indexes.values()) {
      for (const value of of(object)) {
        found.get(value)?.delete(key)
        if (found.get(value)?.size === 0) found.delete(value)
      }
    }
  }
}

export function keyOf({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>): ObjectKey {
  return `${namespace}/${name}`
}
