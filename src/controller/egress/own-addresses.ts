import { reasonOf } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { OwnAddressReader } from '../../ports/kubernetes.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { OWN_ADDRESSES_OF, type OwnAddressesOf } from '../../ports/settings.ts'
import type { LeaderSession } from '../engine/leader-session.ts'

export interface OwnAddressParts {
  readonly ownAddresses: OwnAddressReader
  readonly engine: Pick<LeaderSession, 'write'>
  readonly clock: Clock
  readonly logger: Logger
}

export const FIND_EVERY_MS = 5_000

/**
 * Tells API and executors where our pods and the API server are, which jobs must not call: both move, and executors
 * have no rights in the cluster. An address that cannot be read now stays as it was told last. Resolves after the
 * signal, when no read is under way.
 */
export async function keepOwnAddresses(parts: OwnAddressParts, signal: AbortSignal): Promise<void> {
  const failing = new Set<OwnAddressesOf>()
  while (!signal.aborted) {
    for (const whose of OWN_ADDRESSES_OF) {
      try {
        await tell(parts, whose)
        failing.delete(whose)
      } catch (error) {
        const log = failing.has(whose) ? 'debug' : 'warn'
        failing.add(whose)
        parts.logger[log]('Own addresses cannot be found or stored; those stored last stay closed to jobs', {
          of: whose,
          reason: reasonOf(error),
        })
      }
    }
    await pause(parts.clock, FIND_EVERY_MS, signal)
  }
}

async function tell({ ownAddresses, engine }: OwnAddressParts, whose: OwnAddressesOf): Promise<void> {
  const addresses = await ownAddresses.read(whose)
  await engine.write((compiler) => compiler.putOwnAddresses(whose, addresses))
}
