/**
 * Where this machine has no free port towards a target, the calls of that target wait for one, and no other call
 * does. They stand back together: one looks, and the others wait as long as it must. Each gives up by itself, before
 * the shortest deadline that a call may have.
 */
import type { Clock } from '../../ports/runtime.ts'
import { PORT_SHORTAGES_MAX, PORT_WAIT_MS_MAX, PORT_WAIT_MS_MIN, PORT_WAITS_MAX } from '../bounds.ts'
import { isPortShortage, PortShortageError } from '../call-failure.ts'
import type { OpenSocket, SocketEvents, SocketTarget } from './socket-opener.ts'

/** @param onGivenUp a call has ended for want of a port, with its target */
export function waitForPorts(
  openSocket: OpenSocket,
  clock: Clock,
  onGivenUp: (target: Pick<SocketTarget, 'port' | 'addresses'>) => void,
): OpenSocket {
  const shortages = new PortShortages(clock)
  return (target, events) => {
    let waits = 0
    let cancel: () => void

    function begin(): void {
      const restMs = shortages.restMs(target)
      if (restMs <= 0) {
        cancel = openSocket(target, looking)
        return
      }
      if (waits < PORT_WAITS_MAX) {
        waits += 1
        cancel = clock.after(restMs, begin)
        return
      }
      onGivenUp({ port: target.port, addresses: target.addresses })
      events.onError(new PortShortageError())
    }

    const looking: SocketEvents = {
      onTlsStart: () => {
        shortages.forget(target)
        events.onTlsStart()
      },
      onOpen: (socket) => {
        shortages.forget(target)
        events.onOpen(socket)
      },
      onError: (error) => {
        if (!isPortShortage(error)) return events.onError(error)
        shortages.note(target)
        begin()
      },
    }

    begin()
    return () => cancel()
  }
}

/** The targets towards which no port was free at the last look. */
class PortShortages {
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly waitMs: number; readonly untilMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whole milliseconds until the target is looked at again; timers may be early by a part of one. */
  restMs(target: SocketTarget): number {
    if (this.#known.size === 0) return 0
    return Math.floor((this.#known.get(placeOf(target))?.untilMs ?? 0) - this.#clock.monotonicMs())
  }

  note(target: SocketTarget): void {
    // Looks that were under way together tell one thing.
    if (this.restMs(target) > 0) return
    const place = placeOf(target)
    const lastMs = this.#known.get(place)?.waitMs
    const waitMs = lastMs === undefined ? PORT_WAIT_MS_MIN : Math.min(lastMs * 2, PORT_WAIT_MS_MAX)
    if (this.#known.size >= PORT_SHORTAGES_MAX) this.#known.clear()
    this.#known.set(place, { waitMs, untilMs: this.#clock.monotonicMs() + waitMs })
  }

  forget(target: SocketTarget): void {
    if (this.#known.size > 0) this.#known.delete(placeOf(target))
  }
}

function placeOf({ port, addresses }: SocketTarget): string {
  return `${port} ${addresses.length === 1 ? addresses[0] : addresses.toSorted().join(' ')}`
}
