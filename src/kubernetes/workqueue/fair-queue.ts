import type { ObjectKey } from '../../ports/kubernetes.ts'

/**
 * Keeps waiting keys, each once. Takes one key per namespace in rotation, so that a team that changes thousands of
 * resources delays only itself; within a namespace it is first in, first out.
 */
export class FairQueue {
  /** By namespace in the order of rotation, when each key began to wait. */
  readonly #namespaces = new Map<string, Map<ObjectKey, number>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  has(key: ObjectKey): boolean {
    return this.#namespaces.get(namespaceOf(key))?.has(key) ?? false
  }

  /** @param sinceMs is told by `take`, and does not affect the order */
  add(key: ObjectKey, sinceMs: number): void {
    const namespace = namespaceOf(key)
    const keys = this.#namespaces.get(namespace) ?? new Map<ObjectKey, number>()
    if (keys.has(key)) return
    this.#namespaces.set(namespace, keys.set(key, sinceMs))
    this.#size += 1
  }

  take(): { readonly key: ObjectKey; readonly sinceMs: number } | null {
    const first = this.#namespaces.entries().next().value
    if (first === undefined) return null
    const [namespace, keys] = first
    const [key, sinceMs] = keys.entries().next().value!
    this.remove(key)
    // The namespace goes to the back of the rotation, unless that was its last key.
    if (this.#namespaces.delete(namespace)) this.#namespaces.set(namespace, keys)
    return { key, sinceMs }
  }

  /** @returns when the key began to wait; null = it did not wait */
  remove(key: ObjectKey): number | null {
    const namespace = namespaceOf(key)
    const keys = this.#namespaces.get(namespace)
    const sinceMs = keys?.get(key)
    if (keys === undefined || sinceMs === undefined) return null
    keys.delete(key)
    this.#size -= 1
    if (keys.size === 0) this.#namespaces.delete(namespace)
    return sinceMs
  }
}

function namespaceOf(key: ObjectKey): string {
  return key.slice(0, key.indexOf('/'))
}
