/** Records that a request looks at before it answers what it has found, and a cursor. */
export const SEARCHED_RECORDS_MAX = 20_000
/** Bytes of records and payloads, likewise. A step may exceed it by what it reads. */
export const SEARCHED_BYTES_MAX = 32 * 1024 * 1024

/** What one request may still look at, and what it has looked at. */
export class SearchBudget {
  readonly #recordsMax: number
  #records = 0
  #bytes = 0

  constructor(recordsMax: number) {
    this.#recordsMax = recordsMax
  }

  get searched(): number {
    return this.#records
  }

  /** Records; at least one, so that every step gets on. */
  get left(): number {
    return Math.max(1, this.#recordsMax - this.#records)
  }

  get isSpent(): boolean {
    return this.#records >= this.#recordsMax || this.#bytes >= SEARCHED_BYTES_MAX
  }

  spend(records: number, bytes: number): void {
    this.#records += records
    this.#bytes += bytes
  }
}
