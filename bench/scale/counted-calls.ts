/** Counts the calls that are open for each queue. A queue is known by the path of its URL. */
export class CountedCalls {
  readonly #open = new Map<string, number>()
  readonly #most = new Map<string, number>()
  #ended = 0

  begin(path: string): void {
    const open = (this.#open.get(path) ?? 0) + 1
    this.#open.set(path, open)
    this.#most.set(path, Math.max(open, this.#most.get(path) ?? 0))
  }

  end(path: string): void {
    this.#open.set(path, (this.#open.get(path) ?? 1) - 1)
    this.#ended += 1
  }

  /** @property most that were open at once for one queue. @property full queues that had so many */
  state(): CallCounts {
    const most = Math.max(0, ...this.#most.values())
    const full = [...this.#most.values()].filter((open) => open === most).length
    return { ended: this.#ended, most, full }
  }
}

export interface CallCounts {
  readonly ended: number
  readonly most: number
  readonly full: number
}
