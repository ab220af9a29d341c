import type { Socket } from 'node:net'

/** How a fake API server misbehaves on command. */
export interface Fault {
  /** Which requests: get, list, watch, create, update, patch, delete. Any when absent. */
  readonly verb?: Verb
  /** Part of the path. Any when absent. */
  readonly path?: string
  /** How many requests it strikes, 1 when absent. */
  readonly times?: number
  readonly effect: Effect
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

export type Effect =
  /** Answers this instead; nothing is done. */
  | {
      readonly do: 'answer'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** No byte ever comes, as through a half-open connection. */
  | { readonly do: 'hang' }
  /** Waits for the promise, then goes on as usual. */
  | { readonly do: 'hold'; readonly until: Promise<unknown> }
  /** Resets the connection before anything is done. */
  | { readonly do: 'reset' }
  /** Does what was asked and resets the connection instead of answering. */
  | { readonly do: 'lose-answer' }
  /** Resets the connection after this many bytes of the answer's body. */
  | { readonly do: 'cut'; readonly bytes: number }
  /** Sends so many bytes of the answer's body, then nothing more, with the connection open. */
  | { readonly do: 'stall'; readonly bytes: number }
  /** Answers a body without an end. */
  | { readonly do: 'flood' }
  /** Sends the body in chunks of so many bytes. */
  | { readonly do: 'split'; readonly bytes: number }
  /** Answers a body that is no JSON. */
  | { readonly do: 'garble' }
  /** A watch begins and then says nothing, with its connection open. */
  | { readonly do: 'silence' }
  /** After so many events of a watch: an ERROR event with this status, and its end. */
  | { readonly do: 'error-event'; readonly after: number; readonly code: number; readonly reason: string }
  /** After so many events of a watch: its end, without a reason. */
  | { readonly do: 'end'; readonly after: number }
  /** Every event of a watch comes twice. */
  | { readonly do: 'duplicate' }

export interface FaultList {
  add(...faults: readonly Fault[]): void
  /** The effect that strikes this request, which counts as struck. */
  take(verb: Verb, path: string): Effect | null
  clear(): void
  /** Those that were added for exactly this part of the path. */
  drop(path: string): void
  /** Faults that have not struck as often as they should. */
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

/** Cuts a connection as a dying host or a balancer does. */
export function reset(socket: Socket | null): void {
  // The TLS socket over it cannot.
  const { _parent: below } = socket as unknown as { readonly _parent: Socket }
  below.resetAndDestroy()
}
