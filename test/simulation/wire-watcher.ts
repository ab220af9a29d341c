import type { ClaimWatcher } from './claim-watcher.ts'
import type { FaultLog } from './fault-log.ts'
import type { Delivery } from './simulated-target.ts'

/** Holds the calls on the wire against the limits: slots of executors that could know hold one call each. */
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
    const [, token = ''] = delivery.token.split('-')
    const claim = this.#claims.claims.get(`${delivery.jobId} ${token}`)
    if (claim === undefined) {
      this.#complain(`job ${delivery.jobId} was called without a claim of token ${token}`)
      return
    }
    const open = (this.#open.get(claim.queue) ?? []).filter(({ endedAtMs }) => endedAtMs === null)
    open.push(delivery)
    this.#open.set(claim.queue, open)
    const nowMs = delivery.startedAtMs
    const counted = open.filter(
      ({ process, startedAtMs }) => !this.#faults.mayOverlap(process.name, startedAtMs, nowMs),
    )
    if (claim.limit !== null && counted.length > claim.limit) {
      const jobs = counted.map(({ jobId, process }) => `${jobId} of ${process.name}`).join(', ')
      this.#complain(`${counted.length} calls of ${claim.limit} are on the wire: ${jobs}`)
    }
  }
}
