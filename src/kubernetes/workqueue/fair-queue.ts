import type { ObjectKey } from '../../ports/kubernetes.ts'

/** Keys in line, each once. */
export interface Lane {
  readonly size: number
  has(key: ObjectKey): boolean
  /** @param sinceMs when it began to wait; no effect on its place */
  add(key: ObjectKey, sinceMs: number): void
  /** The next key and since when it has waited. */
  take(): WaitingKey | null
  /** Takes this very key out of line; since when it has waited, null = it was not in line. */
  remove(key: ObjectKey): number | null
  clear(): void
}

export interface WaitingKey {
  readonly key: ObjectKey
  readonly sinceMs: number
}

/**
 * Namespaces take turns, one key each, so that a team that changes thousands of resources holds up its own only;
 * within a namespace the first to come is the first to go.
 */
export function createLane(): Lane {
  return new TurnTakingLane()
}

class TurnTakingLane implements Lane {
  /** Lines by namespace, in the order of their turns: a map keeps the order in which its keys were added. */
  readonly #lines = new Map<string, Map<ObjectKey, number>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  has(key: ObjectKey): boolean {
    return this.#lines.get(namespaceOf(key))?.has(key) ?? false
  }

  add(key: ObjectKey, sinceMs: number): void {
    const namespace = namespaceOf(key)
    const line = this.#lines.get(namespace) ?? new Map<ObjectKey, number>()
    if (line.has(key)) return
    this.#lines.set(namespace, line.set(key, sinceMs))
    this.#size += 1
  }

  take(): WaitingKey | null {
    const turn = this.#lines.entries().next().value
    if (turn === undefined) return null
    const [namespace, line] = turn
    const [key, sinceMs] = line.entries().next().value!
    this.remove(key)
    if (this.#lines.delete(namespace)) this.#lines.set(namespace, line)
    return { key, sinceMs }
  }

  remove(key: ObjectKey): number | null {
    const namespace = namespaceOf(key)
    const line = this.#lines.get(namespace)
    const sinceMs = line?.get(key)
    if (line === undefined || sinceMs === undefined) return null
    line.delete(key)
    this.#size -= 1
    if (line.size === 0) this.#lines.delete(namespace)
    return sinceMs
  }

  clear(): void {
    this.#lines.clear()
    this.#size = 0
  }
}

function namespaceOf(key: ObjectKey): string {
  return key.slice(0, key.indexOf('/'))
}
