import type { BulkAction } from '../../../../../clients/typescript/src/client.ts'
import type { FilterValues } from '../job-filter.ts'

/** What a bulk is for. */
export type BulkTarget =
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'filter'; readonly values: FilterValues }

interface ActionText {
  readonly verb: string
  /** The word after a count, such as `replayed` in `214 replayed`. */
  readonly past: string
  readonly icon: 'retry' | 'fire' | 'stop' | 'trash'
  readonly explain: string
  /** What it takes away cannot be brought back. */
  readonly isBad: boolean
}

export const ACTIONS: Readonly<Record<BulkAction, ActionText>> = {
  retry: {
    verb: 'Retry',
    past: 'retried',
    icon: 'retry',
    explain: 'Each becomes a new job, due at once, with all its attempts again.',
    isBad: false,
  },
  replay: {
    verb: 'Replay',
    past: 'replayed',
    icon: 'retry',
    explain: 'Each leaves the dead letters as a new job, due at once, with all its attempts again.',
    isBad: false,
  },
  fire: {
    verb: 'Fire',
    past: 'fired',
    icon: 'fire',
    explain: 'Each becomes due now. Those that are already due stay as they are.',
    isBad: false,
  },
  cancel: {
    verb: 'Cancel',
    past: 'cancelled',
    icon: 'stop',
    explain: 'Each is removed before it starts. What was pushed is lost.',
    isBad: true,
  },
  delete: {
    verb: 'Delete',
    past: 'deleted',
    icon: 'trash',
    explain: 'Each is removed for good, with all its attempts and records. Jobs in flight stay.',
    isBad: true,
  },
  purge: {
    verb: 'Purge',
    past: 'purged',
    icon: 'trash',
    explain:
      'Each dead letter is removed for good, with what was pushed. None of them can be replayed afterwards.',
    isBad: true,
  },
}

const RAMP_START = 0.1
const DOUBLES_AFTER_S = 10

/** What is done a second, `doublings` times ten seconds after the begin. */
export function rampedRate(rate: number, doublings: number): number {
  return Math.max(1, Math.min(rate, rate * RAMP_START * 2 ** doublings))
}

/** How long a bulk takes at a rate, in seconds. */
export function rampedSeconds(count: number, rate: number): number {
  let [left, doublings] = [count, 0]
  for (; rampedRate(rate, doublings) < rate; doublings += 1) {
    const done = rampedRate(rate, doublings) * DOUBLES_AFTER_S
    if (left <= done) break
    left -= done
  }
  return Math.ceil(doublings * DOUBLES_AFTER_S + left / rampedRate(rate, doublings))
}
