/**
 * Job ids. `job_id = (seq × 16 + attempt − 1) × shards + shard`: a chain shares `seq`, a retry's id is computed
 * and an id names its shard. Below 2^53, never reused, in no promised order.
 *
 * The UUID form is a version 8 UUID: 48 bits of the installation's id (so that two installations never send the
 * same `webhook-id`), version, 12 zero bits, variant, and the job id in the low 62 bits. It is computed, not stored.
 */
export interface JobIds {
  readonly shards: number
  idOf(shard: number, seq: number, attempt: number): number
  shardOf(jobId: number): number
  seqOf(jobId: number): number
  attemptOf(jobId: number): number
  /** The id of the chain's original job. */
  rootOf(jobId: number): number
  uuidOf(jobId: number): string
  /** Reads `42` or the UUID form; null when it is neither, or the UUID of another installation. */
  parse(text: string): number | null
}

/** Attempts one seq has room for; the contract needs 11 (the job and 10 retries). */
export const ATTEMPTS_PER_CHAIN = 16

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8([0-9a-f]{3})-([0-9a-f]{12})$/

/**
 * @param shards number of shards, fixed at the first start of an installation
 * @param installation 12 hex digits, drawn at the first start of an installation
 */
export function createJobIds(shards: number, installation: string): JobIds {
  if (!/^[0-9a-f]{12}$/.test(installation)) throw new Error(`not an installation id: ${installation}`)
  const prefix = `${installation.slice(0, 8)}-${installation.slice(8)}-8000-8`
  const shardOf = (jobId: number) => jobId % shards
  const slotOf = (jobId: number) => Math.floor(jobId / shards)
  const seqOf = (jobId: number) => Math.floor(slotOf(jobId) / ATTEMPTS_PER_CHAIN)
  const idOf = (shard: number, seq: number, attempt: number) =>
    (seq * ATTEMPTS_PER_CHAIN + attempt - 1) * shards + shard
  return {
    shards,
    idOf,
    shardOf,
    seqOf,
    attemptOf: (jobId) => (slotOf(jobId) % ATTEMPTS_PER_CHAIN) + 1,
    rootOf: (jobId) => idOf(shardOf(jobId), seqOf(jobId), 1),
    uuidOf: (jobId) => {
      const hex = jobId.toString(16).padStart(15, '0')
      return `${prefix}${hex.slice(0, 3)}-${hex.slice(3)}`
    },
    parse: (text) => {
      if (/^[1-9][0-9]{0,15}$/.test(text) || text === '0') {
        const id = Number(text)
        return Number.isSafeInteger(id) ? id : null
      }
      const match = UUID.exec(text.toLowerCase())
      if (match === null || `${match[1]}${match[2]}` !== installation) return null
      const id = Number.parseInt(`${match[3]}${match[4]}`, 16)
      return Number.isSafeInteger(id) ? id : null
    },
  }
}
