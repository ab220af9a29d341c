import { isIP } from 'node:net'
import type { Clock } from '../../ports/runtime.ts'
import { ADDRESSES_TRIED_MAX } from '../bounds.ts'
import { codeOf } from '../system-error.ts'

/** A family that has no route is not tried first again for so long. */
const FAMILY_WITHOUT_ROUTE_MS = 60_000

/** Codes of a machine without a way to any address of a family. */
const NO_ROUTE = new Set(['ENETUNREACH', 'EAFNOSUPPORT'])

/**
 * Orders the addresses of a name for the attempts to connect: both families in turn (RFC 8305 §4). Remembers which family
 * this machine has no route to.
 */
export class AddressOrder {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** By family: until when it is not tried first. */
  readonly #withoutRouteUntilMs = new Map<number, number>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** At most `ADDRESSES_TRIED_MAX`, half of each family if both have enough. */
  of(addresses: readonly string[]): readonly string[] {
    if (addresses.length <= 1) return addresses
    const first = this.#firstFamily(addresses)
    const front = addresses.filter((address) => isIP(address) === first)
    const rest = addresses.filter((address) => isIP(address) !== first)
    const turns = Array.from({ length: Math.max(front.length, rest.length) }, (_, at) => [
      front[at],
      rest[at],
    ])
    return turns
      .flat()
      .filter((address) => address !== undefined)
      .slice(0, ADDRESSES_TRIED_MAX)
  }

  /** An attempt has failed. */
  note(address: string, error: Error): void {
    const family = isIP(address)
    const code = codeOf(error)
    // Of IPv4, a missing address is a missing port.
    if (!NO_ROUTE.has(code) && !(family === 6 && code === 'EADDRNOTAVAIL')) return
    this.#withoutRouteUntilMs.set(family, this.#clock.monotonicMs() + FAMILY_WITHOUT_ROUTE_MS)
  }

  #firstFamily(addresses: readonly string[]): number {
    const nowMs = this.#clock.monotonicMs()
    const families = addresses.map((address) => isIP(address))
    const hasRoute = (family: number): boolean => (this.#withoutRouteUntilMs.get(family) ?? 0) <= nowMs
    return families.find(hasRoute) ?? families[0] ?? 4
  }
}
