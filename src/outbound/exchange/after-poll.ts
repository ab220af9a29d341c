/** Waits until the event loop has polled. */
export interface Waiting {
  afterPoll(): void
}

/**
 * Calls whoever waits once the event loop has polled for what arrived after they came: a target's end of an idle
 * connection is known then. One callback of the loop serves all.
 */
export class AfterPoll {
  /** Came since the last turn, so a poll is still to come. */
  #added: Waiting[] = []
  #polled: Waiting[] = []
  #isTurning = false

  add(waiting: Waiting): void {
    this.#added.push(waiting)
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    const due = this.#polled
    this.#polled = this.#added
    this.#added = []
    // What is called may add others, so the next turn is planned by what is left then.
    for (const waiting of due) waiting.afterPoll()
    this.#isTurning = this.#polled.length > 0 || this.#added.length > 0
    if (this.#isTurning) setImmediate(this.#turn)
  }
}
