import type { ClaimedWork, ClaimGrant } from '../../ports/jobs.ts'
import { budgetBytes, claimBytes } from './fair-share.ts'
import { UsageAccounts } from './usage-accounts.ts'
import type { QueueAccount, TeamAccount } from './usage-tracker.ts'

/** Claims for one shard with the slots that it is granted. A shard has one at a time. */
export interface SlotRequester {
  readonly shard: number
  /** Starts one claim; the grant is bound when it is answered. No other grant comes before. */
  granted(grant: SlotGrant): void
}

/** Bounds of one claim, and the bytes reserved for it until it is bound. */
export interface SlotGrant extends ClaimGrant {
  readonly contender: Contender
  reservedBytes: number
  /** The slots went to others because the claim was not answered in time. */
  isExpired: boolean
}

/** The slot and the bytes that a job occupies from its claim until its end is written. */
export interface OccupiedSlot {
  readonly queue: QueueAccount
  readonly contender: Contender
  readonly bytes: number
}

const LAST_QUEUES_MAX = 16
/** Weight of the latest claim in the mean record size. */
const MEAN_WEIGHT = 0.25

/** One shard that competes for slots. */
export class Contender {
  readonly queues = new UsageAccounts<QueueAccount>()
  requester: SlotRequester
  /** `blocked` = requests slots once one of `blockedBy` has headroom. */
  state: 'idle' | 'requesting' | 'blocked' = 'idle'
  blockedBy: ReadonlyArray<TeamAccount | QueueAccount> = []
  /** true if it withdrew, or did not answer a grant in time, since its last request. */
  wasIdle = true
  /** Jobs started so far; next is the contender with the fewest. */
  virtualTime = 0
  grant: SlotGrant | null = null
  /** Size of the largest job that did not fit the bytes of the last claim; null = all fit. */
  bytesWanted: number | null = null
  /** Queues whose jobs the last claim brought. */
  lastQueues: readonly QueueAccount[] = []
  /** The last pass of grants in which the bytes for it were not available. */
  skippedInPass = 0
  #meanBytes = 0

  constructor(requester: SlotRequester) {
    this.requester = requester
  }

  /** Bytes of records that a claim with `slots` slots may bring. */
  recordBytes(slots: number): number {
    return Math.max(this.bytesWanted ?? 0, claimBytes(slots, this.#meanBytes))
  }

  /** Bytes of the memory budget that such a claim takes. */
  cost(slots: number): number {
    return budgetBytes(slots, this.recordBytes(slots))
  }

  /** Learns from a claim. @param occupied one for each job that got a slot */
  noteClaim(work: readonly ClaimedWork[], occupied: readonly OccupiedSlot[]): void {
    this.virtualTime += occupied.length
    this.lastQueues = distinctQueues(occupied)
    if (work.length === 0) return
    let sum = 0
    for (const { bytes } of work) sum += bytes
    const latest = sum / work.length
    const mean = this.#meanBytes
    this.#meanBytes = mean === 0 ? latest : mean + (latest - mean) * MEAN_WEIGHT
  }
}

function distinctQueues(occupied: readonly OccupiedSlot[]): QueueAccount[] {
  const queues: QueueAccount[] = []
  for (const { queue } of occupied) {
    if (queues.at(-1) !== queue && queues.length < LAST_QUEUES_MAX && !queues.includes(queue))
      queues.push(queue)
  }
  return queues
}
