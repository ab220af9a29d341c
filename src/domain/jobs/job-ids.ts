/** Attempts one seq has room for; the contract needs 11 (the job and 10 retries). */
export const ATTEMPTS_PER_CHAIN = 16

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8([0-9a-f]{3})-([0-9a-f]{12})$/

/**
 * Job ids. `job_id = (seq × 16 + attempt − 1) × shards + shard`: a chain shares `seq`, so a retry's id is computed, and
 * an id names its shard. Ids are below 2^53, never reused, and in no promised order.
 *
 * The UUID form is a version 8 UUID: 48 bits of the installation's id (two installations never send the same
 * `webhook-id`), version, 12 zero bits, variant, and the job id in the low 62 bits. It is computed, not stored.
 */
export class JobIds {
  readonly shards: number
  readonly #installation: string
  readonly #uuidPrefix: string

  /**
   * @param shards number of shards, fixed at the first start of an installation
   * @param installation 12 hex digits, drawn at the first start of an installation
   */
  constructor(shards: number, installation: string) {
    if (!/^[0-9a-f]{12}$/.test(installation)) throw new Error(`not an installation id: ${installation}`)
    this.shards = shards
    this.#installation = installation
    this.#uuidPrefix = `${installation.slice(0, 8)}-${installation.slice(8)}-8000-8`
  }

  idOf(shard: number, seq: number, attempt: number): number {
    return (seq * ATTEMPTS_PER_CHAIN + attempt - 1) * this.shards + shard
  }

  shardOf(jobId: number): number {
    return jobId % this.shards
  }

  seqOf(jobId: number): number {
    return Math.floor(this.#slotOf(jobId) / ATTEMPTS_PER_CHAIN)
  }

  attemptOf(jobId: number): number {
    return (this.#slotOf(jobId) % ATTEMPTS_PER_CHAIN) + 1
  }

  /** The id of the chain's original job. */
  rootOf(jobId: number): number {
    return this.idOf(this.shardOf(jobId), this.seqOf(jobId), 1)
  }

  uuidOf(jobId: number): string {
    const hex = jobId.toString(16).padStart(15, '0')
    return `${this.#uuidPrefix}${hex.slice(0, 3)}-${hex.slice(3)}`
  }

  /** Reads `42` or the UUID form; null when it is neither, or the UUID of another installation. */
  parse(text: string): number | null {
    const match = UUID.exec(text.toLowerCase())
    const isOurs = match !== null && `${match[1]}${match[2]}` === this.#installation
    if (!isOurs && !/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return null
    const id = match === null ? Number(text) : Number.parseInt(`${match[3]}${match[4]}`, 16)
    return Number.isSafeInteger(id) ? id : null
  }

  #slotOf(jobId: number): number {
    return Math.floor(jobId / this.shards)
  }
}
