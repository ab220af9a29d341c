import type { Socket } from 'node:net'

/** Makes a fake API server misbehave. */
export interface Fault {
  /** Which requests: get, list, watch, create, update, patch, delete. Any when absent. */
  readonly verb?: Verb
  /** Part of the path. Any when absent. */
  readonly path?: string
  /** How many requests it affects, 1 when absent. */
  readonly times?: number
  readonly effect: Effect
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

export type Effect =
  /** Answers this and does nothing. */
  | {
      readonly do: 'answer'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** Never sends a byte, as through a half-open connection. */
  | { readonly do: 'hang' }
  /** Waits for the promise, then continues as usual. */
  | { readonly do: 'hold'; readonly until: Promise<unknown> }
  /** Does nothing and resets the connection. */
  | { readonly do: 'reset' }
  /** Carries out the request and resets the connection instead of answering. */
  | { readonly do: 'lose-answer' }
  /** Resets the connection after this many bytes of the answer's body. */
  | { readonly do: 'cut'; readonly bytes: number }
  /** Sends this many bytes of the answer's body and leaves the connection open. */
  | { readonly do: 'stall'; readonly bytes: number }
  /** Sends an endless body. */
  | { readonly do: 'flood' }
  /** Sends the body in chunks of this many bytes. */
  | { readonly do: 'split'; readonly bytes: number }
  /** Sends a body that is not JSON. */
  | { readonly do: 'garble' }
  /** A watch begins and then sends nothing, with its connection open. */
  | { readonly do: 'silence' }
  /** Ends a watch after this many events with an ERROR event of this status. */
  | { readonly do: 'error-event'; readonly after: number; readonly code: number; readonly reason: string }
  /** Ends a watch after this many events without a reason. */
  | { readonly do: 'end'; readonly after: number }
  /** Sends every event of a watch twice. */
  | { readonly do: 'duplicate' }

export interface FaultList {
  add(...faults: readonly Fault[]): void
  /** The effect on this request, which counts as affected. */
  take(verb: Verb, path: string): Effect | null
  clear(): void
  /** Drops the faults that were added for exactly this part of the path. */
  drop(path: string): void
  /** Faults that have not affected as many requests as they should. */
  readonly left: number
}

export function createFaultList(): FaultList {
  let waiting: Array<{ readonly fault: Fault; left: number }> = []
  return {
    add: (...faults) => {
      for (const fault of faults) waiting.push({ fault, left: fault.times ?? 1 })
    },
    take: (verb, path) => {
      const next = waiting.find(
        ({ fault }) => (fault.verb ?? verb) === verb && path.includes(fault.path ?? ''),
      )
      if (next === undefined) return null
      next.left -= 1
      if (next.left === 0) waiting = waiting.filter((one) => one !== next)
      return next.fault.effect
    },
    clear: () => {
      waiting = []
    },
    drop: (path) => {
      waiting = waiting.filter(({ fault }) => fault.path !== path)
    },
    get left() {
      return waiting.length
    },
  }
}

/** Cuts a connection as a dying host or a load balancer does. */
export function reset(socket: Socket | null): void {
  // The TLS socket on top of it cannot.
  const { _parent: below } = socket as unknown as { readonly _parent: Socket }
  below.resetAndDestroy()
}
