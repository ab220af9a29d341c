import type { SimulatedServer } from '../redis/simulated-server.ts'
import type { ClaimWatcher } from './claim-watcher.ts'
import type { Delivery } from './simulated-target.ts'

interface Begun {
  /** The flow settings that its jobs were claimed by. */
  readonly flow: string
  /** By Redis's clock, in order. */
  readonly times: number[]
}

/**
 * Compares the calls that executors begin with the rates of their queues. Claims keep to a rate by themselves; calls do so
 * only if no answer to a claim that was held up, lost or read late lets them begin beside those of the next claims.
 */
export class BeginWatcher {
  readonly #claims: ClaimWatcher
  readonly #server: SimulatedServer
  readonly #complain: (problem: string) => void
  readonly #begun = new Map<string, Begun>()
  #aheadMs = -Infinity

  constructor(claims: ClaimWatcher, server: SimulatedServer, complain: (problem: string) => void) {
    this.#claims = claims
    this.#server = server
    this.#complain = complain
  }

  begun({ jobId, token, calledAtMs }: Delivery): void {
    const claim = this.#claims.claims.get(`${jobId} ${token.slice(token.indexOf('-') + 1)}`)
    const [limit = '', period = ''] = (claim?.flow ?? '').split('|')
    if (claim === undefined || limit === '') return
    const aheadMs = this.#server.wallMs - this.#server.nowMs
    // Times before and after a clock was set back cannot be compared.
    if (aheadMs < this.#aheadMs - 1) this.#begun.clear()
    this.#aheadMs = aheadMs
    const flow = claim.flow ?? ''
    const known = this.#begun.get(claim.queue)
    const begun = known?.flow === flow ? known : { flow, times: [] }
    begun.times.push(calledAtMs + aheadMs)
    begun.times.sort((one, other) => one - other)
    this.#begun.set(claim.queue, begun)
    const at = begun.times.indexOf(calledAtMs + aheadMs)
    for (const [i, lastMs] of begun.times.slice(at, at + Number(limit) + 1).entries()) {
      const spanMs = lastMs - (begun.times[at + i - Number(limit)] ?? -Infinity)
      if (spanMs < Number(period))
        this.#complain(`${Number(limit) + 1} calls of ${limit} began within ${spanMs} ms in ${claim.queue}`)
    }
  }
}
