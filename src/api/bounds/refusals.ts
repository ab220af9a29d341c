import { AttemptLimit } from '../../domain/access/attempt-limit.ts'
import { addressBlock } from '../../domain/net/client-address.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** Refused logins of an address, and logins of a subject, at one API process. */
export const LOGINS = { burst: 10, refillMs: 6_000, keysMax: 10_000 }
/** Lines of the log about refused logins: addresses are cheap where there is IPv6. */
const LINES = { burst: 60, refillMs: 1_000, keysMax: 1 }

/**
 * Charges refused logins to their address. A credential is judged first, and charged only if it was refused: whoever
 * shares the address, as all clients behind a proxy do, is never kept out by what others send. Within the bound, each
 * refusal is a line of the log; beyond it they are counted, and the next line says how many.
 */
export class Refusals {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #byAddress = new AttemptLimit(LOGINS)
  readonly #lines = new AttemptLimit(LINES)
  #unsaid = 0

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** @returns 0, or the ms until the address may be refused again without being told to wait */
  charge(address: string | null, why: { readonly status?: number; readonly reason?: string }): number {
    const nowMs = this.#clock.monotonicMs()
    const waitMs = this.#byAddress.take(addressBlock(address), nowMs)
    // Not in the audit log: it belongs to a team, and whoever is nobody could fill it.
    if (waitMs > 0 || this.#lines.take('', nowMs) > 0) this.#unsaid += 1
    else {
      this.#logger.info('Login refused', {
        address,
        ...why,
        ...(this.#unsaid > 0 && { unsaid: this.#unsaid }),
      })
      this.#unsaid = 0
    }
    return waitMs
  }
}
