import type { ClaimAnswer, JobSource } from '../../ports/jobs.ts'
import type { LoopHealth, LoopIterations } from '../../ports/loops/loop-health.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { OccupiedSlot, SlotGrant, SlotRequester } from '../slots/contender.ts'
import { NOTHING_CLAIMED, type SlotScheduler } from '../slots/slot-scheduler.ts'
import type { AnswerClock } from './answer-clock.ts'

export type ClaimedAnswer = Extract<ClaimAnswer, { status: 'claimed' }>

export interface ClaimLoopOptions extends Runtime {
  readonly source: JobSource
  readonly scheduler: SlotScheduler
  readonly loops: LoopHealth
  readonly answers: AnswerClock
  /** Called before an answer is used; a promise when Redis has to confirm the lease first. */
  confirmLease(): Promise<void> | null
  isLeaseHeld(): boolean
  /** `slots` of the first jobs, in order; none for jobs whose slots went to others meanwhile. */
  onClaimed(answer: ClaimedAnswer, slots: readonly OccupiedSlot[]): void
  onLeaseLost(reason: string, loss: { readonly isEarly: boolean; readonly defect?: unknown }): void
  /** The claim in progress was given up. */
  onAbandoned(): void
  /** 0–1. */
  random(): number
}

const CONTENDED_WAIT_MS = 5
/** More empty claims in a row mean that other executors are faster all the time. */
const LOST_RACES_MAX = 4
/**
 * How long the next claim waits then, at most and at random: a hundred idle executors that followed each hint at once would
 * keep Redis busy with claims that find nothing, and of so many one still comes soon.
 */
const LOST_RACES_WAIT_MS_MAX = 25
const RETRY_MS = 200
/** A claim without an answer for this long must not keep slots from other shards. */
const EXPIRY_MS = 1_000
/** A timer that is late by more than this shows that this process did not run meanwhile. */
const TIMER_LAG_MS = 250
/** How often to claim when teams were crowded or held, because the hint of another team may have been lost. */
const PROBE_MS = 250
/** How soon to follow a hint then: the queues of crowded teams give hints all the time. */
const CROWDED_WAKE_MS = 50
/** A claim starts with the queues that the last one named, so what a hint announces is found by the second. */
const CLAIMS_PER_WAKE = 2
const EMPTY_CLAIMS_MAX = 3

/**
 * Decides when to claim in one shard. Owns the request for slots, and the claim in progress, which is resent until Redis
 * answers.
 *
 *     closed ⇄ open: idle → requesting → claiming → idle, requesting or waiting for a timer
 *
 * Closing withdraws the request. A claim in progress goes on, but is not resent after `end`.
 */
export class ClaimLoop implements SlotRequester {
  readonly shard: number
  readonly #options: ClaimLoopOptions
  readonly #iterations: LoopIterations
  #state: 'closed' | 'open' | 'ended' = 'closed'
  #isRequesting = false
  /** Grant of the claim in progress. */
  #grant: SlotGrant | null = null
  /** A wake came that no claim has followed yet. */
  #isWoken = false
  #claimsForWake = 0
  #emptyClaims = 0
  /** Empty claims in a row, whatever woke this. */
  #lostRaces = 0
  #followWakeAtMs = 0
  #cancelTimer: (() => void) | null = null
  #cancelExpiry: () => void = () => undefined
  #endPause: () => void = () => undefined

  constructor(options: ClaimLoopOptions) {
    this.shard = options.source.shard
    this.#options = options
    this.#iterations = options.loops.of('claim', this.shard)
  }

  get isClaiming(): boolean {
    return this.#grant !== null
  }

  open(): void {
    if (this.#state === 'closed') this.#state = 'open'
    this.wake()
  }

  close(): void {
    if (this.#state === 'open') this.#state = 'closed'
    this.#withdraw()
  }

  /** Closes for good. */
  end(): void {
    this.#state = 'ended'
    this.#endPause()
    this.#withdraw()
  }

  /** There is something new to claim. */
  wake(): void {
    this.#isWoken = true
    this.#claimsForWake = CLAIMS_PER_WAKE
    this.#emptyClaims = 0
    if (this.#grant !== null) return
    const waitMs = this.#followWakeAtMs - this.#options.clock.monotonicMs()
    if (waitMs > 0) this.#requestAfter(waitMs)
    else this.#request()
  }

  /** This executor itself has made work ready, so it comes at once, however many races it has lost. */
  foundWork(): void {
    this.#lostRaces = 0
    this.#followWakeAtMs = 0
    this.wake()
  }

  /** There is something to claim, new or not. */
  nudge(): void {
    if (this.#grant === null && !this.#isRequesting && this.#cancelTimer === null) this.#request()
  }

  /** Gives up the claim in progress. Jobs that it still brings are released when the lease ends. */
  abandon(): void {
    this.#cancelExpiry()
    if (this.#grant === null) return
    const grant = this.#grant
    this.#grant = null
    this.#options.scheduler.bind(grant, NOTHING_CLAIMED)
    this.#options.onAbandoned()
  }

  granted(grant: SlotGrant): void {
    this.#clearTimer()
    this.#isRequesting = false
    this.#grant = grant
    // A hint during the claim counts again: the claim may have been too early for its job.
    this.#isWoken = false
    this.#expireUnanswered(grant)
    this.#claim(grant).catch((defect: unknown) =>
      this.#options.onLeaseLost('an answer of Redis could not be worked off', { isEarly: false, defect }),
    )
  }

  async #claim(grant: SlotGrant): Promise<void> {
    const { scheduler, confirmLease, isLeaseHeld, onClaimed, onLeaseLost } = this.#options
    const answer = await this.#answerTo(grant)
    const confirming = confirmLease()
    if (confirming !== null) await confirming
    if (this.#grant !== grant) return
    this.#cancelExpiry()
    if (answer === null) this.abandon()
    else if (answer.status === 'lease_lost') onLeaseLost('a claim was refused', { isEarly: isLeaseHeld() })
    else if (!isLeaseHeld()) onLeaseLost('the lease ran out', { isEarly: false })
    else if (answer.status === 'held') {
      this.abandon()
      if (this.#state === 'open') this.#continueHeld()
    } else {
      this.#grant = null
      onClaimed(answer, scheduler.bind(grant, answer))
      if (this.#state === 'open') this.#continueAfter(answer)
    }
  }

  /** Sends the claim until it is answered; null when it was given up. */
  async #answerTo(grant: SlotGrant): Promise<ClaimAnswer | null> {
    const { source, answers } = this.#options
    while (this.#grant === grant) {
      let waitMs = RETRY_MS
      try {
        const { leadMs } = answers
        const sentMs = answers.nowMs()
        const answer = await source.claim(leadMs === 0 ? grant : { ...grant, leadMs })
        const redisMs = answer.status === 'claimed' ? answer.redisMs : undefined
        if (redisMs !== undefined) answers.note(redisMs, sentMs)
        this.#iterations.succeeded()
        return answer
      } catch (error) {
        waitMs = this.#iterations.failed(error) ?? RETRY_MS
      }
      if (this.#state !== 'ended') await this.#pause(waitMs)
      if (this.#state === 'ended') return null
    }
    return null
  }

  /** Ends early when the loop ends. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  /** A window that closes gives no hint. */
  #continueHeld(): void {
    this.#claimsForWake = 0
    this.#emptyClaims = 0
    if (this.#isWoken) return this.wake()
    this.#withdraw()
    this.#requestAfter(PROBE_MS)
  }

  #continueAfter({ runnable, work, crowdedTeams, bytesWanted }: ClaimedAnswer): void {
    const { clock } = this.#options
    const isEmpty = work.length === 0
    const isCrowded = crowdedTeams.length > 0
    this.#claimsForWake = Math.max(0, this.#claimsForWake - 1)
    this.#emptyClaims = isEmpty ? this.#emptyClaims + 1 : 0
    const isContended = isEmpty && !isCrowded && bytesWanted === null
    this.#lostRaces = isContended ? this.#lostRaces + 1 : 0
    const contendedWaitMs = this.#contendedWaitMs()
    const wakeWaitMs = isEmpty && isCrowded ? CROWDED_WAKE_MS : this.#isLosing ? contendedWaitMs : 0
    this.#followWakeAtMs = clock.monotonicMs() + wakeWaitMs
    if (this.#isWoken) this.wake()
    else if (runnable === 0) this.#withdraw()
    else if (isContended || this.#emptyClaims > EMPTY_CLAIMS_MAX) {
      // Other executors were faster: pause instead of racing them for the same queues.
      this.#withdraw()
      this.#requestAfter(contendedWaitMs)
    } else if (bytesWanted !== null || this.#claimsForWake > 0) this.#request()
    else this.#requestMore(crowdedTeams)
  }

  get #isLosing(): boolean {
    return this.#lostRaces > LOST_RACES_MAX
  }

  #contendedWaitMs(): number {
    return this.#isLosing ? this.#options.random() * LOST_RACES_WAIT_MS_MAX : CONTENDED_WAIT_MS
  }

  #request(): void {
    this.#clearTimer()
    if (this.#state !== 'open') return
    this.#isRequesting = true
    this.#options.scheduler.request(this)
  }

  #requestMore(crowdedTeams: readonly string[]): void {
    this.#isRequesting = true
    if (this.#options.scheduler.requestMore(this, crowdedTeams)) return
    this.#emptyClaims = 0
    if (this.#grant === null) this.#requestAfter(PROBE_MS)
  }

  #requestAfter(delayMs: number): void {
    this.#clearTimer()
    if (this.#state !== 'open') return
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#request())
  }

  #withdraw(): void {
    this.#clearTimer()
    this.#isRequesting = false
    this.#options.scheduler.withdraw(this)
  }

  #clearTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  #expireUnanswered(grant: SlotGrant): void {
    const { clock, scheduler } = this.#options
    const dueMs = clock.monotonicMs() + EXPIRY_MS
    this.#cancelExpiry = clock.after(EXPIRY_MS, () => {
      if (this.#grant !== grant) return
      // If this process did not run, the answer may have arrived: read it first.
      if (clock.monotonicMs() - dueMs > TIMER_LAG_MS) this.#expireUnanswered(grant)
      else scheduler.expire(grant)
    })
  }
}
