import { CLAIM_BATCH_MAX } from '../../domain/limits.ts'
import { NO_CALL_QUOTAS, type CallQuotas } from '../../ports/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ClaimAnswer, ClaimedWork, ClaimGrant } from '../../ports/jobs.ts'
import { ByteBudget } from './byte-budget.ts'
import { Accounts } from './share-accounts.ts'
import { ShareBook, type QueueAccount, type TeamAccount } from './share-book.ts'
import { budgetBytes, BYTES_PER_CALL, claimBytes, type Shares } from './share-rule.ts'

/**
 * The owner of an executor's slots and of its bytes: nowhere else does one change hands. Shards stand in line; each in
 * its turn is granted what one claim may take, holds what the claim brought, and releases it when its end is written.
 *
 *     free → granted (offer) → held (bind) → free (release)
 *                     ↓ late, or surplus: free again
 *
 * The line goes by virtual time: next is the shard that has been given the fewest jobs. Who joins it after a rest starts
 * level with the least, so that a rest earns no credit. What a team or a queue may take is in share-rule.ts. There is
 * nothing to stop.
 */
export interface SlotScheduler {
  /** Stands in line for whatever there is. Idempotent. */
  ask(worker: SlotWorker): void
  /**
   * Stands in line for more of what the last claim brought or passed over: once one of those teams and queues has room
   * again. `passedOver` = teams that the claim found work of and could not take. False when it has to wait for that.
   */
  askAgain(worker: SlotWorker, passedOver: readonly string[]): boolean
  /** Leaves the line, for there is nothing to claim, until it asks again. A grant that is open stays open. */
  withdraw(worker: SlotWorker): void
  /**
   * A claim was answered. The first of its jobs are held, one hold each; those that no slot is left for, after `late`,
   * have none. What the grant has over is free.
   */
  bind(grant: SlotGrant, answer: Brought): Hold[]
  /** A claim has no answer: its slots are free for others. Its bytes are not, for the answer may still come. */
  late(grant: SlotGrant): void
  /** Their ends are written, or worth nothing. */
  release(holds: readonly Hold[]): void
  /** Grants nothing until `resume`. */
  pause(): void
  resume(): void
  /** Slots held or granted. */
  readonly busy: number
}

/** Whoever claims for a shard; each shard has one at a time. */
export interface SlotWorker {
  readonly shard: number
  /** For one claim, to be bound. No other comes before. */
  granted(grant: SlotGrant): void
}

/** What one claim may take. */
export interface SlotGrant extends ClaimGrant {
  readonly shard: number
}

/** A job's slot and bytes. */
export interface Hold {
  readonly queue: QueueAccount
  readonly shard: number
  readonly bytes: number
}

export type Brought = Pick<Extract<ClaimAnswer, { status: 'claimed' }>, 'work' | 'bytesWanted'>

export const NOTHING_BROUGHT: Brought = { work: [], bytesWanted: null }

export interface SlotSchedulerOptions {
  readonly slots: number
  readonly seats: number
  readonly bytes: number
  readonly shares: Shares
  readonly clock: Clock
  /** Left out where no team has a quota of calls. */
  readonly quotas?: CallQuotas
}

/** Of what a claim brought. */
const QUEUES_NOTED_MAX = 16
/** Jobs that one shard may be ahead of another and still be given all that is free. */
const AHEAD_MAX = CLAIM_BATCH_MAX
const AHEAD_PARTS = 4
/** A mean follows what comes by this part. */
const MEAN_WEIGHT = 0.25
/** Whoever waits for more bytes than this part of all lets others pass him until they are free by chance. */
const KEPT_BYTES_SHARE = 1 / 16

/** One shard's place. */
interface Standing {
  readonly shard: number
  readonly queues: Accounts<QueueAccount>
  worker: SlotWorker
  /** waiting = not in line until one of `waitsFor` has room. */
  state: 'away' | 'in line' | 'waiting'
  waitsFor: ReadonlyArray<TeamAccount | QueueAccount>
  /** It left the line by itself, or has been silent. */
  hasRested: boolean
  virtualTime: number
  grant: OpenGrant | null
  meanBytes: number
  bytesWanted: number | null
  /** Queues that its last claim brought jobs of. */
  brought: readonly QueueAccount[]
  /** The round of offers in which it could not be given its bytes. */
  passedIn: number
}

interface OpenGrant extends SlotGrant {
  readonly standing: Standing
  reservedBytes: number
  isLate: boolean
}

export function createSlotScheduler(options: SlotSchedulerOptions): SlotScheduler {
  return new SharingSlotScheduler(options)
}

class SharingSlotScheduler implements SlotScheduler {
  readonly #slots: ByteBudget
  readonly #bytes: ByteBudget
  readonly #book: ShareBook
  /** By shard. */
  readonly #standings = new Map<number, Standing>()
  /** How many are in line or waiting. */
  #standingBy = 0
  #lastTurn = 0
  #round = 0
  #isPaused = false

  constructor({ slots, seats, bytes, shares, clock, quotas = NO_CALL_QUOTAS }: SlotSchedulerOptions) {
    this.#slots = new ByteBudget(slots)
    this.#bytes = new ByteBudget(bytes)
    this.#book = new ShareBook({ slots: this.#slots, bytes: this.#bytes, seats, shares, clock, quotas })
  }

  get busy(): number {
    return this.#slots.held + this.#slots.granted
  }

  ask(worker: SlotWorker): void {
    const standing = this.#standingOf(worker)
    if (standing.hasRested) this.#catchUp(standing)
    this.#move(standing, 'in line')
    this.#pump()
  }

  askAgain(worker: SlotWorker, passedOver: readonly string[]): boolean {
    const standing = this.#standingOf(worker)
    if (standing.hasRested) this.#catchUp(standing)
    standing.waitsFor = this.#shortOf(standing, passedOver)
    const isInLine = standing.waitsFor.length === 0
    this.#move(standing, isInLine ? 'in line' : 'waiting')
    this.#pump()
    return isInLine
  }

  withdraw(worker: SlotWorker): void {
    const standing = this.#standingOf(worker)
    standing.hasRested = true
    this.#move(standing, 'away')
  }

  bind(grant: SlotGrant, { work, bytesWanted }: Brought): Hold[] {
    const open = grant as OpenGrant
    const { standing } = open
    if (standing.grant !== open) throw new Error('a grant was bound twice')
    standing.grant = null
    if (!open.isLate) this.#slots.takeBack(open.slots)
    this.#bytes.takeBack(open.reservedBytes)
    const holds: Hold[] = []
    for (const job of work) {
      if (this.#slots.free === 0) break
      holds.push(this.#hold(standing, job))
    }
    standing.virtualTime += holds.length
    standing.bytesWanted = bytesWanted
    standing.brought = queuesOf(holds)
    if (work.length > 0) standing.meanBytes = nextMean(standing.meanBytes, work)
    this.#pump()
    return holds
  }

  late(grant: SlotGrant): void {
    const open = grant as OpenGrant
    if (open.isLate || open.standing.grant !== open) return
    open.isLate = true
    open.standing.hasRested = true
    const freed = Math.min(open.reservedBytes, BYTES_PER_CALL * open.slots)
    open.reservedBytes -= freed
    this.#slots.takeBack(open.slots)
    this.#bytes.takeBack(freed)
    this.#pump()
  }

  release(holds: readonly Hold[]): void {
    for (const { queue, shard, bytes } of holds) {
      this.#slots.release(1)
      this.#bytes.release(bytes)
      const standing = this.#standings.get(shard)
      if (standing !== undefined) this.#book.release(standing.queues, queue, bytes)
    }
    this.#pump()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#pump()
  }

  #standingOf(worker: SlotWorker): Standing {
    let standing = this.#standings.get(worker.shard)
    if (standing === undefined) {
      standing = {
        ...{ shard: worker.shard, worker, queues: new Accounts<QueueAccount>(), state: 'away', waitsFor: [] },
        ...{ hasRested: true, virtualTime: 0, grant: null, meanBytes: 0, bytesWanted: null, brought: [] },
        passedIn: 0,
      }
      this.#standings.set(worker.shard, standing)
    }
    standing.worker = worker
    return standing
  }

  #move(standing: Standing, state: Standing['state']): void {
    if (standing.state !== 'away') this.#standingBy -= 1
    if (state !== 'away') this.#standingBy += 1
    standing.state = state
  }

  /** Whoever comes from a rest starts level with the least of those who did not rest. */
  #catchUp(standing: Standing): void {
    const least = this.#leastTurn()
    standing.virtualTime = Math.max(standing.virtualTime, least === Infinity ? this.#lastTurn : least)
    standing.hasRested = false
  }

  /** What must end before it can go on; nothing when something may be taken at once. */
  #shortOf(standing: Standing, passedOver: readonly string[]): Standing['waitsFor'] {
    const short = new Set<TeamAccount | QueueAccount>()
    for (const queue of standing.brought) {
      if (this.#book.workRoom(queue) > 0) return []
      short.add(this.#book.teamRoom(queue.team) === 0 ? queue.team : queue)
    }
    for (const name of passedOver) {
      const team = this.#book.team(name)
      if (team === undefined) return []
      const full = this.#book.teamRoom(team) === 0 ? [team] : this.#fullQueues(standing, team)
      if (full.length === 0) return []
      for (const one of full) short.add(one)
    }
    return [...short]
  }

  #fullQueues({ queues }: Standing, team: TeamAccount): QueueAccount[] {
    return [...queues].filter((queue) => queue.team === team && this.#book.queueRoom(queue) === 0)
  }

  #hasRoom(account: TeamAccount | QueueAccount): boolean {
    return ('team' in account ? this.#book.queueRoom(account) : this.#book.teamRoom(account)) > 0
  }

  /** Gives what is free to those in line, and tells them when all of it is given. */
  #pump(): void {
    if (this.#isPaused || this.#standingBy === 0 || this.#slots.free === 0) return
    this.#round += 1
    let keptBytes = 0
    const given: OpenGrant[] = []
    while (this.#slots.free > 0) {
      const { next, line } = this.#next()
      if (next === null) break
      const grant = this.#offer(next, line, keptBytes)
      if (grant !== null) {
        given.push(grant)
        continue
      }
      next.passedIn = this.#round
      keptBytes = Math.max(keptBytes, this.#bytesToKeep(next))
    }
    for (const grant of given) grant.standing.worker.granted(grant)
  }

  #next(): { next: Standing | null; line: number } {
    let next: Standing | null = null
    let line = 0
    for (const standing of this.#standings.values()) {
      if (standing.state === 'away' || standing.grant !== null || standing.passedIn === this.#round) continue
      if (standing.state === 'waiting' && !standing.waitsFor.some((one) => this.#hasRoom(one))) continue
      line += 1
      if (next === null || standing.virtualTime < next.virtualTime) next = standing
    }
    return { next, line }
  }

  /** Of those that did not rest. */
  #leastTurn(): number {
    let least = Infinity
    for (const { hasRested, virtualTime } of this.#standings.values()) {
      if (!hasRested && virtualTime < least) least = virtualTime
    }
    return least
  }

  /** null when its bytes are not free. */
  #offer(standing: Standing, line: number, keptBytes: number): OpenGrant | null {
    // Alone in line for a moment, who is ahead of the others gets less: they ask again when their claims are answered.
    const isAhead = standing.virtualTime - this.#leastTurn() > AHEAD_MAX
    const fair = Math.ceil(this.#slots.free / (isAhead ? AHEAD_PARTS * line : line))
    const bytesFree = this.#bytes.free - keptBytes
    let slots = Math.max(1, Math.min(CLAIM_BATCH_MAX, fair, this.#mostOf(standing)))
    while (slots > 1 && costOf(standing, slots) > bytesFree) slots = Math.floor(slots / 2)
    const cost = costOf(standing, slots)
    // What is larger than the whole budget runs alone.
    const isAlone = this.#bytes.free === this.#bytes.total && keptBytes === 0
    if (cost > bytesFree && !isAlone) return null
    const reservedBytes = Math.min(cost, this.#bytes.total)
    const rooms = this.#book.rooms(standing.queues, slots, cost)
    this.#slots.grant(slots)
    this.#bytes.grant(reservedBytes)
    this.#lastTurn = standing.virtualTime
    this.#move(standing, 'away')
    const bytes = bytesOf(standing, slots)
    standing.grant = { ...rooms, shard: standing.shard, slots, bytes, standing, reservedBytes, isLate: false }
    return standing.grant
  }

  /** Others must leave him these, lest small claims that end and begin keep him out for ever. */
  #bytesToKeep(standing: Standing): number {
    const cost = costOf(standing, 1)
    return cost <= this.#bytes.total * KEPT_BYTES_SHARE ? cost : 0
  }

  /** The most that the rule lets one queue of this shard take: a surplus would only keep others waiting. */
  #mostOf({ brought }: Standing): number {
    if (brought.length === 0) return CLAIM_BATCH_MAX
    let most = 0
    for (const queue of brought) most = Math.max(most, this.#book.workRoom(queue))
    return most
  }

  #hold(standing: Standing, work: ClaimedWork): Hold {
    const queue = this.#book.queue(standing.queues, work.location.queue, work.team)
    const bytes = Math.min(budgetBytes(1, work.bytes), this.#bytes.free)
    this.#slots.hold(1)
    this.#bytes.hold(bytes)
    this.#book.hold(standing.queues, queue, bytes)
    return { queue, shard: standing.shard, bytes }
  }
}

/** Of records, that a claim for so many slots may bring. */
function bytesOf({ meanBytes, bytesWanted }: Standing, slots: number): number {
  return Math.max(bytesWanted ?? 0, claimBytes(slots, meanBytes))
}

/** Of the budget, for such a claim. */
function costOf(standing: Standing, slots: number): number {
  return budgetBytes(slots, bytesOf(standing, slots))
}

function nextMean(mean: number, work: readonly ClaimedWork[]): number {
  let sum = 0
  for (const { bytes } of work) sum += bytes
  const latest = sum / work.length
  return mean === 0 ? latest : mean + (latest - mean) * MEAN_WEIGHT
}

function queuesOf(holds: readonly Hold[]): QueueAccount[] {
  const queues: QueueAccount[] = []
  for (const { queue } of holds) {
    if (queues.at(-1) !== queue && queues.length < QUEUES_NOTED_MAX && !queues.includes(queue))
      queues.push(queue)
  }
  return queues
}
