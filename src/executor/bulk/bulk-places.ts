/** Pages that one executor works off at once, over all shards: each holds a mebibyte of records and more. */
const PLACES = 4

/** First come, first served. */
export class BulkPlaces {
  #free = PLACES
  readonly #waiting: Array<() => void> = []

  /** Waits for a place; answers what gives it back, to be called once. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return () => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
