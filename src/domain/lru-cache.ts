/**
 * A cache of at most `entriesMax` entries. When it is full, the half that was used least recently is evicted. There
 * are two generations instead of one order of use, because evicting the first key of a `Map` walks over all entries
 * deleted before it (80 µs an insert at 100,000 entries). `undefined` cannot be a value.
 */
export class LruCache<K, V> {
  readonly #generationMax: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(entriesMax: number) {
    this.#generationMax = Math.ceil(entriesMax / 2)
  }

  get isEmpty(): boolean {
    return this.#young.size === 0 && this.#old.size === 0
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#generationMax && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
