import { ENQUEUE_BATCH_BYTES_MAX, REQUEST_BODY_BYTES_MAX } from '../../../domain/limits.ts'
import type { TeamQuotas } from '../../../domain/quotas.ts'
import type { MemoryReading, ShardUsage } from './usage-reader.ts'

/**
 * Values that the counters of one shard may reach, for one team or for all; null = no bound. The steps compare them with
 * the live counters, so many processes with the same reading take no more than one process would.
 */
export interface TeamCeilings {
  readonly jobs: number | null
  readonly bytes: number | null
  readonly monthJobs: number | null
  /** The ceiling of bytes is a share of the free memory, not a quota. */
  readonly isShare: boolean
}

export const NO_CEILINGS: TeamCeilings = Object.freeze({
  jobs: null,
  bytes: null,
  monthJobs: null,
  isShare: false,
})

/** Intake leaves this free for ticks, retries and finishes: a tenth, but at least a few batches. */
const RESERVE_PART = 0.1
const RESERVE_BYTES_MIN = 4 * ENQUEUE_BATCH_BYTES_MAX
/** A team without a quota of bytes may hold this many times the free memory. */
const SHARE_OF_FREE = 4
/** About the largest job; this much is granted wherever it fits into the rest. */
const JOB_BYTES = REQUEST_BODY_BYTES_MAX + 16 * 1024

/** Bytes that intake may still take on a server; null = it has no limit. */
export function roomOf({ usedBytes, maxBytes }: MemoryReading): number | null {
  if (maxBytes === 0) return null
  const reserve = Math.max(maxBytes * RESERVE_PART, RESERVE_BYTES_MIN)
  return Math.max(0, Math.floor(maxBytes - reserve - usedBytes))
}

/** How the rest of a quota is divided between shards. */
export interface Part {
  /** Shards between which it is divided. */
  readonly shards: number
  /** A push that was refused a moment ago may use the whole rest, once. */
  readonly isLastTry: boolean
}

/** One shard's part of the rest. Each shard may use the last of it, up to one job. */
function partOf(left: number, unit: number, { shards, isLastTry }: Part): number {
  return isLastTry ? left : Math.max(Math.floor(left / shards), Math.min(left, unit))
}

/** Ceiling for the bytes of all teams in a shard. */
export function memoryCeiling(memory: MemoryReading, part: Part): number | null {
  const room = roomOf(memory)
  return room === null ? null : memory.allBytes + partOf(room, JOB_BYTES, part)
}

/**
 * @param held what the team holds in all shards
 * @param here what it holds in this one
 * @param server.bytes what it holds on the server of this shard and is counted
 */
export function teamCeilings(
  quotas: TeamQuotas,
  {
    held,
    here,
    server,
  }: {
    readonly held: ShardUsage
    readonly here: ShardUsage
    readonly server: { readonly bytes: number; readonly room: number | null }
  },
  part: Part,
): TeamCeilings {
  const ceiling = (used: number, quota: number | null, total: number, unit: number): number | null =>
    quota === null ? null : used + partOf(Math.max(0, quota - total), unit, part)
  const { room } = server
  const isShare = quotas.storedBytes === null && room !== null
  // Each stored byte also lowers the free memory by one.
  const shareLeft = Math.floor(Math.max(0, SHARE_OF_FREE * (room ?? 0) - server.bytes) / (SHARE_OF_FREE + 1))
  return {
    jobs: ceiling(here.jobs, quotas.pendingJobs, held.jobs, 1),
    bytes: isShare
      ? here.bytes + partOf(shareLeft, JOB_BYTES, part)
      : ceiling(here.bytes, quotas.storedBytes, held.countedBytes, JOB_BYTES),
    monthJobs: ceiling(here.monthJobs, quotas.jobsPerMonth, held.monthJobs, 1),
    isShare,
  }
}
