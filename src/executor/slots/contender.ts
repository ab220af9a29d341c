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

/** What one claim may take, and what is reserved for it until it is bound. */
export interface SlotGrant extends ClaimGrant {
  readonly contender: Contender
  reservedBytes: number
  /** Its slots went to others because the claim was not answered in time. */
  isExpired: boolean
}

/** The slot and the bytes that one job holds. */
export interface HeldSlot {
  readonly queue: QueueAccount
  readonly contender: Contender
  readonly bytes: number
}

/** One shard that competes for slots. */
export interface Contender {
  readonly queues: UsageAccounts<QueueAccount>
  requester: SlotRequester
  /** `blocked` = requests slots once one of `blockedBy` has headroom. */
  state: 'idle' | 'requesting' | 'blocked'
  blockedBy: ReadonlyArray<TeamAccount | QueueAccount>
  /** It withdrew its request or did not answer a grant in time since it last requested. */
  wasIdle: boolean
  /** Jobs started so far; next is the contender with the fewest. */
  virtualTime: number
  grant: SlotGrant | null
  meanBytes: number
  /** As answered by the last claim: see ClaimAnswer. */
  bytesWanted: number | null
  /** Queues whose jobs its last claim brought. */
  lastQueues: readonly QueueAccount[]
  /** The last pass of grants in which the bytes for it were not available. */
  skippedInPass: number
}

const LAST_QUEUES_MAX = 16
/** Weight of the latest claim in the mean record size. */
const MEAN_WEIGHT = 0.25

export function createContender(requester: SlotRequester): Contender {
  return {
    queues: new UsageAccounts<QueueAccount>(),
    requester,
    state: 'idle',
    blockedBy: [],
    wasIdle: true,
    virtualTime: 0,
    grant: null,
    meanBytes: 0,
    bytesWanted: null,
    lastQueues: [],
    skippedInPass: 0,
  }
}

/** Bytes of records that a claim with `slots` slots may bring. */
export function recordBytes({ meanBytes, bytesWanted }: Contender, slots: number): number {
  return Math.max(bytesWanted ?? 0, claimBytes(slots, meanBytes))
}

/** What such a claim takes of the memory budget. */
export function claimCost(contender: Contender, slots: number): number {
  return budgetBytes(slots, recordBytes(contender, slots))
}

/** Learns from a claim. @param held one for each job that got a slot */
export function noteClaim(
  contender: Contender,
  work: readonly ClaimedWork[],
  held: readonly HeldSlot[],
): void {
  contender.virtualTime += held.length
  contender.lastQueues = distinctQueues(held)
  if (work.length === 0) return
  let sum = 0
  for (const { bytes } of work) sum += bytes
  const latest = sum / work.length
  const mean = contender.meanBytes
  contender.meanBytes = mean === 0 ? latest : mean + (latest - mean) * MEAN_WEIGHT
}

function distinctQueues(held: readonly HeldSlot[]): QueueAccount[] {
  const queues: QueueAccount[] = []
  for (const { queue } of held) {
    if (queues.at(-1) !== queue && queues.length < LAST_QUEUES_MAX && !queues.includes(queue))
      queues.push(queue)
  }
  return queues
}
