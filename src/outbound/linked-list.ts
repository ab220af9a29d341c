/**
 * Members in order of arrival, removed in any order. Not a `Set`, which leaves a chain of dead tables behind when it is
 * filled and emptied for every call; V8 copies them in every young collection (8 of 26 µs of CPU a call).
 */
export interface Link<T> {
  readonly value: T
  previous: Link<T> | null
  next: Link<T> | null
}

export class LinkedList<T> {
  #first: Link<T> | null = null
  #last: Link<T> | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The value that came first. */
  get first(): T | undefined {
    return this.#first?.value
  }

  /** From the first to the last; the value at hand may be removed. */
  *[Symbol.iterator](): Generator<T> {
    let link = this.#first
    while (link !== null) {
      const { next, value } = link
      yield value
      link = next
    }
  }

  append(value: T): Link<T> {
    const link: Link<T> = { value, previous: this.#last, next: null }
    if (this.#last === null) this.#first = link
    else this.#last.next = link
    this.#last = link
    this.#length += 1
    return link
  }

  /** @param link one of this list, which has not been removed yet */
  remove(link: Link<T>): void {
    const { previous, next } = link
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    link.previous = null
    link.next = null
    this.#length -= 1
  }
}
