export interface Link<T> {
  readonly value: T
  isMember: boolean
  previous: Link<T> | null
  next: Link<T> | null
}

/**
 * Members in order of arrival, removed in any order: for what comes and goes with every call or push. A `Set` or a `Map`
 * leaves a chain of dead tables behind when it is filled and emptied, each of which keeps the next one and its members
 * alive; V8 copies them in every young collection (8 of 26 µs of CPU a call).
 */
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

  /** Iterates from first to last; the value at hand may be removed. */
  *[Symbol.iterator](): Generator<T> {
    for (const link of this.links()) yield link.value
  }

  /** Iterates from first to last; the link at hand may be removed. */
  *links(): Generator<Link<T>> {
    let link = this.#first
    while (link !== null) {
      const { next } = link
      yield link
      link = next
    }
  }

  append(value: T): Link<T> {
    const link: Link<T> = { value, isMember: false, previous: null, next: null }
    this.putBack(link)
    return link
  }

  /** Makes it the last one again. @param link one of this list that was removed */
  putBack(link: Link<T>): void {
    if (link.isMember) return
    link.isMember = true
    link.previous = this.#last
    if (this.#last === null) this.#first = link
    else this.#last.next = link
    this.#last = link
    this.#length += 1
  }

  /** @param link one of this list; may have been removed before */
  remove(link: Link<T>): void {
    if (!link.isMember) return
    link.isMember = false
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
