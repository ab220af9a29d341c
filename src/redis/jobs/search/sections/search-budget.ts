/** A request looks at this many records before it answers what it has found, and a cursor. */
export const SEARCHED_RECORDS_MAX = 20_000
/** A request looks at this many bytes of records and payloads. A step may exceed it by what it reads. */
export const SEARCHED_BYTES_MAX = 32 * 1024 * 1024

/** What one request may still look at, and what it has looked at. */
export class SearchBudget {
  readonly #recordsMax: number
  readonly #bytesMax: number
  #records = 0
  #bytes = 0

  constructor(recordsMax: number, bytesMax = SEARCHED_BYTES_MAX) {
    this.#recordsMax = recordsMax
    this.#bytesMax = bytesMax
  }

  get searched(): number {
    return this.#records
  }

  get bytes(): number {
    return this.#bytes
  }

  /** How many records may still be looked at. It is at least one, so that every step gets on. */
  get left(): number {
    return Math.max(1, this.#recordsMax - this.#records)
  }

  get isSpent(): boolean {
    return this.#records >= this.#recordsMax || this.#bytes >= this.#bytesMax
  }

  spend(records: number, bytes: number): void {
    this.#records += records
    this.#bytes += bytes
  }
}
