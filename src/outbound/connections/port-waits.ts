import { LruCache } from '../../domain/lru-cache.ts'
import type { Clock } from '../../ports/runtime.ts'
import { PORT_SHORTAGES_MAX, PORT_WAIT_MS_MAX, PORT_WAIT_MS_MIN, PORT_WAITS_MAX } from '../bounds.ts'
import { ConnectionFailedError, isPortShortage } from '../call-failure.ts'
import type { OpenSocket, SocketEvents, SocketTarget } from './socket-opener.ts'

/**
 * Makes calls to a target wait when this machine has no free port towards it; calls to other targets go on. They wait
 * together: one call tries, and the others wait as long as it does. Each gives up before the shortest deadline that a
 * call can have.
 * @param onGivenUp a call has failed because no port became free
 */
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
        cancel = openSocket(target, attempt)
        return
      }
      if (waits < PORT_WAITS_MAX) {
        waits += 1
        cancel = clock.after(restMs, begin)
        return
      }
      onGivenUp({ port: target.port, addresses: target.addresses })
      events.onError(
        new ConnectionFailedError('This machine has no free port for a connection to the target.'),
      )
    }

    const attempt: SocketEvents = {
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

/** The targets towards which no port was free at the last attempt. */
class PortShortages {
  readonly #clock: Clock
  readonly #known = new LruCache<string, { readonly waitMs: number; readonly untilMs: number }>(
    PORT_SHORTAGES_MAX,
  )

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whole milliseconds until the next attempt; timers may be early by a fraction of one. */
  restMs(target: SocketTarget): number {
    if (this.#known.isEmpty) return 0
    return Math.floor((this.#known.get(keyOf(target))?.untilMs ?? 0) - this.#clock.monotonicMs())
  }

  note(target: SocketTarget): void {
    // Attempts that failed at the same time count as one.
    if (this.restMs(target) > 0) return
    const key = keyOf(target)
    const lastMs = this.#known.get(key)?.waitMs
    const waitMs = lastMs === undefined ? PORT_WAIT_MS_MIN : Math.min(lastMs * 2, PORT_WAIT_MS_MAX)
    this.#known.set(key, { waitMs, untilMs: this.#clock.monotonicMs() + waitMs })
  }

  forget(target: SocketTarget): void {
    if (!this.#known.isEmpty) this.#known.delete(keyOf(target))
  }
}

function keyOf({ port, addresses }: SocketTarget): string {
  return `${port} ${addresses.length === 1 ? addresses[0] : addresses.toSorted().join(' ')}`
}
