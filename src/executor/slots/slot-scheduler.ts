import { CLAIM_BATCH_MAX } from '../../domain/limits.ts'
import type { ClaimAnswer, ClaimedWork } from '../../ports/jobs.ts'
import type { CallQuotas } from '../../ports/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import { CapacityPool } from './capacity-pool.ts'
import { Contender, type OccupiedSlot, type SlotGrant, type SlotRequester } from './contender.ts'
import { budgetBytes, BYTES_PER_CALL, type Shares } from './fair-share.ts'
import { UsageTracker, type QueueAccount, type TeamAccount } from './usage-tracker.ts'

export interface SlotSchedulerOptions {
  readonly slots: number
  /** Part of `slots` that only a team or queue that holds none may take. */
  readonly newcomerSlots: number
  /** The memory budget. */
  readonly bytes: number
  readonly shares: Shares
  readonly clock: Clock
  readonly quotas: CallQuotas
}

/** This machine cannot open connections; many ticks are being written. */
export type PauseReason = 'local_fault' | 'ticks'

type ClaimedJobs = Pick<Extract<ClaimAnswer, { status: 'claimed' }>, 'work' | 'bytesWanted'>

export const NOTHING_CLAIMED: ClaimedJobs = { work: [], bytesWanted: null }

/** Jobs by which a shard may lead the others and still be granted all available slots. */
const LEAD_MAX = CLAIM_BATCH_MAX
const LEADER_PARTS = 4
/** A contender that waits for more than this part of the budget does not make others leave it any. */
const RESERVABLE_BYTES_SHARE = 1 / 16

/**
 * Owns an executor's slots and its memory budget, and passes them between the shards. A shard requests slots, is granted
 * what one claim may take, holds one slot per claimed job, and frees it when the job's end is written.
 *
 *     available → granted (request) → occupied (bind) → available (free)
 *                        ↓ expire, or more slots than jobs
 *                    available
 *
 * Grants go by virtual time: next is the shard that has started the fewest jobs. A shard that returns from idle starts
 * level with the least advanced one, so being idle earns no credit. How much a team or queue may take is computed in
 * fair-share.ts. There is nothing to stop.
 */
export class SlotScheduler {
  readonly #slots: CapacityPool
  readonly #bytes: CapacityPool
  readonly #usage: UsageTracker
  readonly #contenders = new Map<number, Contender>()
  /** Contenders that are requesting or blocked. */
  #active = 0
  #lastVirtualTime = 0
  #pass = 0
  readonly #paused = new Set<PauseReason>()

  constructor(options: SlotSchedulerOptions) {
    this.#slots = new CapacityPool(options.slots)
    this.#bytes = new CapacityPool(options.bytes)
    this.#usage = new UsageTracker({ ...options, slots: this.#slots, bytes: this.#bytes })
  }

  /** Slots occupied or granted. */
  get busy(): number {
    return this.#slots.occupied + this.#slots.granted
  }

  /** Requests whatever slots there are. Idempotent. */
  request(requester: SlotRequester): void {
    const contender = this.#contenderOf(requester)
    if (contender.wasIdle) this.#catchUp(contender)
    this.#setState(contender, 'requesting')
    this.#grantAvailable()
  }

  /**
   * Requests slots for more jobs of the queues that the last claim brought or had to skip. Waits while none of them has
   * headroom, and answers false then. @param crowded teams whose jobs the last claim skipped
   */
  requestMore(requester: SlotRequester, crowded: readonly string[]): boolean {
    const contender = this.#contenderOf(requester)
    if (contender.wasIdle) this.#catchUp(contender)
    contender.blockedBy = this.#blockersOf(contender, crowded)
    const isBlocked = contender.blockedBy.length > 0
    this.#setState(contender, isBlocked ? 'blocked' : 'requesting')
    this.#grantAvailable()
    return !isBlocked
  }

  /** Ends the request: there is nothing to claim. A grant that was made stays open. */
  withdraw(requester: SlotRequester): void {
    const contender = this.#contenderOf(requester)
    contender.wasIdle = true
    this.#setState(contender, 'idle')
  }

  /**
   * Ends a grant with what its claim brought. Answers the occupied slots of the first jobs, in order; after `expire`
   * there may be fewer slots than jobs.
   */
  bind(grant: SlotGrant, { work, bytesWanted }: ClaimedJobs): OccupiedSlot[] {
    const { contender } = grant
    if (contender.grant !== grant) throw new Error('a grant was bound twice')
    contender.grant = null
    if (!grant.isExpired) this.#slots.revoke(grant.slots)
    this.#bytes.revoke(grant.reservedBytes)
    const occupied: OccupiedSlot[] = []
    for (const job of work) {
      if (this.#slots.available === 0) break
      occupied.push(this.#occupy(contender, job))
    }
    contender.bytesWanted = bytesWanted
    contender.noteClaim(work, occupied)
    this.#grantAvailable()
    return occupied
  }

  /** Makes the slots of a claim without an answer available. Its bytes stay reserved: the answer may still come. */
  expire(grant: SlotGrant): void {
    if (grant.isExpired || grant.contender.grant !== grant) return
    grant.isExpired = true
    grant.contender.wasIdle = true
    const freed = Math.min(grant.reservedBytes, BYTES_PER_CALL * grant.slots)
    grant.reservedBytes -= freed
    this.#slots.revoke(grant.slots)
    this.#bytes.revoke(freed)
    this.#grantAvailable()
  }

  /** Frees the slots and bytes of jobs whose end is written, or worth nothing. */
  free(slots: readonly OccupiedSlot[]): void {
    for (const { queue, contender, bytes } of slots) {
      this.#slots.free(1)
      this.#bytes.free(bytes)
      this.#usage.free(contender.queues, queue, bytes)
    }
    this.#grantAvailable()
  }

  /** Grants nothing until `resume`, and that of every other reason. */
  pause(why: PauseReason): void {
    this.#paused.add(why)
  }

  resume(why: PauseReason): void {
    this.#paused.delete(why)
    this.#grantAvailable()
  }

  #contenderOf(requester: SlotRequester): Contender {
    let contender = this.#contenders.get(requester.shard)
    if (contender === undefined) {
      contender = new Contender(requester)
      this.#contenders.set(requester.shard, contender)
    }
    contender.requester = requester
    return contender
  }

  #setState(contender: Contender, state: Contender['state']): void {
    if (contender.state !== 'idle') this.#active -= 1
    if (state !== 'idle') this.#active += 1
    contender.state = state
  }

  #catchUp(contender: Contender): void {
    const least = this.#leastVirtualTime()
    contender.virtualTime = Math.max(
      contender.virtualTime,
      least === Infinity ? this.#lastVirtualTime : least,
    )
    contender.wasIdle = false
  }

  /** Teams and queues without headroom that keep the contender from claiming; none when it can claim something now. */
  #blockersOf(contender: Contender, crowded: readonly string[]): Contender['blockedBy'] {
    const blockers = new Set<TeamAccount | QueueAccount>()
    for (const queue of contender.lastQueues) {
      if (this.#usage.headroom(queue) > 0) return []
      blockers.add(this.#usage.teamHeadroom(queue.team) === 0 ? queue.team : queue)
    }
    for (const name of crowded) {
      const team = this.#usage.team(name)
      if (team === undefined) return []
      const full = this.#usage.teamHeadroom(team) === 0 ? [team] : this.#fullQueues(contender, team)
      if (full.length === 0) return []
      for (const account of full) blockers.add(account)
    }
    return [...blockers]
  }

  #fullQueues({ queues }: Contender, team: TeamAccount): QueueAccount[] {
    return [...queues].filter((queue) => queue.team === team && this.#usage.queueHeadroom(queue) === 0)
  }

  #hasHeadroom(account: TeamAccount | QueueAccount): boolean {
    return ('team' in account ? this.#usage.queueHeadroom(account) : this.#usage.teamHeadroom(account)) > 0
  }

  /** Grants what is available; requesters hear of their grants only after all are made. */
  #grantAvailable(): void {
    if (this.#paused.size > 0 || this.#active === 0 || this.#slots.available === 0) return
    this.#pass += 1
    let bytesKept = 0
    const grants: SlotGrant[] = []
    while (this.#slots.available > 0) {
      const { next, count } = this.#nextContender()
      if (next === null) break
      const grant = this.#grant(next, { contenders: count, bytesKept })
      if (grant !== null) {
        grants.push(grant)
        continue
      }
      next.skippedInPass = this.#pass
      bytesKept = Math.max(bytesKept, this.#bytesToKeep(next))
    }
    for (const grant of grants) grant.contender.requester.granted(grant)
  }

  #nextContender(): { next: Contender | null; count: number } {
    let next: Contender | null = null
    let count = 0
    for (const contender of this.#contenders.values()) {
      const { state, grant, skippedInPass, blockedBy } = contender
      if (state === 'idle' || grant !== null || skippedInPass === this.#pass) continue
      if (state === 'blocked' && !blockedBy.some((account) => this.#hasHeadroom(account))) continue
      count += 1
      if (next === null || contender.virtualTime < next.virtualTime) next = contender
    }
    return { next, count }
  }

  /** Least virtual time of the contenders that were not idle. */
  #leastVirtualTime(): number {
    let least = Infinity
    for (const { wasIdle, virtualTime } of this.#contenders.values()) {
      if (!wasIdle && virtualTime < least) least = virtualTime
    }
    return least
  }

  /** null when the bytes for it are not available. @param bytesKept bytes left for contenders that come before it */
  #grant(
    contender: Contender,
    { contenders, bytesKept }: { readonly contenders: number; readonly bytesKept: number },
  ): SlotGrant | null {
    // A shard that leads may request alone just because the others' claims are in progress: leave them some slots.
    const leads = contender.virtualTime - this.#leastVirtualTime() > LEAD_MAX
    const fair = Math.ceil(this.#slots.available / (leads ? LEADER_PARTS * contenders : contenders))
    const available = this.#bytes.available - bytesKept
    let slots = Math.max(1, Math.min(CLAIM_BATCH_MAX, fair, this.#mostOf(contender)))
    while (slots > 1 && contender.cost(slots) > available) slots = Math.floor(slots / 2)
    const cost = contender.cost(slots)
    // A job larger than the whole budget runs when nothing else does.
    const isBudgetUnused = this.#bytes.available === this.#bytes.total && bytesKept === 0
    if (cost > available && !isBudgetUnused) return null
    const reservedBytes = Math.min(cost, this.#bytes.total)
    const headroom = this.#usage.grantHeadroom(contender.queues, { slots, bytes: cost })
    this.#slots.grant(slots)
    this.#bytes.grant(reservedBytes)
    this.#lastVirtualTime = contender.virtualTime
    this.#setState(contender, 'idle')
    const bytes = contender.recordBytes(slots)
    contender.grant = { ...headroom, slots, bytes, contender, reservedBytes, isExpired: false }
    return contender.grant
  }

  /** Bytes that others must leave available, or their small claims would keep this contender waiting forever. */
  #bytesToKeep(contender: Contender): number {
    const cost = contender.cost(1)
    return cost <= this.#bytes.total * RESERVABLE_BYTES_SHARE ? cost : 0
  }

  /** The most that one queue of this shard may take: a larger grant would only keep slots from others. */
  #mostOf({ lastQueues }: Contender): number {
    if (lastQueues.length === 0) return CLAIM_BATCH_MAX
    let most = 0
    for (const queue of lastQueues) most = Math.max(most, this.#usage.headroom(queue))
    return most
  }

  #occupy(contender: Contender, work: ClaimedWork): OccupiedSlot {
    const queue = this.#usage.queue(contender.queues, work.location.queue, work.team)
    const bytes = Math.min(budgetBytes(1, work.bytes), this.#bytes.available)
    this.#slots.occupy(1)
    this.#bytes.occupy(bytes)
    this.#usage.occupy(contender.queues, queue, bytes)
    return { queue, contender, bytes }
  }
}
