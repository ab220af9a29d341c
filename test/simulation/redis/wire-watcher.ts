import type { Claim, ClaimWatcher } from '../story/claim-watcher.ts'
import type { FaultLog } from '../story/fault-log.ts'
import type { Delivery } from '../story/simulated-target.ts'

/** Compares the calls on the wire with the limits: each slot of an executor that knows its state holds at most one call. */
export class WireWatcher {
  readonly #claims: ClaimWatcher
  readonly #faults: FaultLog
  readonly #complain: (problem: string) => void
  readonly #open = new Map<string, Delivery[]>()

  constructor(claims: ClaimWatcher, faults: FaultLog, complain: (problem: string) => void) {
    this.#claims = claims
    this.#faults = faults
    this.#complain = complain
  }

  started(delivery: Delivery): void {
    if (delivery.jobId === null) return
    const claim = this.#claimOf(delivery)
    if (claim === undefined) {
      this.#complain(`job ${delivery.jobId} was called without a claim, under token ${delivery.token}`)
      return
    }
    const open = (this.#open.get(claim.queue) ?? []).filter(({ endedAtMs }) => endedAtMs === null)
    open.push(delivery)
    this.#open.set(claim.queue, open)
    const nowMs = delivery.startedAtMs
    const counted = open.filter(
      ({ process, startedAtMs }) => !this.#faults.mayOverlap(process.name, startedAtMs, nowMs),
    )
    // The limit may have been raised after one of them was claimed and lowered after another.
    const limit = Math.max(0, ...counted.map((call) => this.#limitOf(call)))
    if (counted.length > limit) {
      const jobs = counted.map(({ jobId, process }) => `${jobId} of ${process.name}`).join(', ')
      this.#complain(`${counted.length} calls of ${limit} are on the wire: ${jobs}`)
    }
  }

  #claimOf({ jobId, token }: Delivery): Claim | undefined {
    return this.#claims.claims.get(`${jobId} ${token.slice(token.indexOf('-') + 1)}`)
  }

  #limitOf(delivery: Delivery): number {
    return this.#claimOf(delivery)?.limit ?? Infinity
  }
}
