/** Why jobs of a queue do not just start, in words. */
import type { Queue, QueueRow } from '../../../../../clients/typescript/src/client.ts'
import { entryOf } from '../../../format/values/known-values.ts'
import type { TonedLabel } from '../../../ui/tone.ts'

type Throttled = NonNullable<Queue['throttled']>

/** What keeps ready jobs of a queue, in a word or two behind their number. */
export const STOPPED_WORDS: Readonly<Record<NonNullable<QueueRow['stopped']>['reason'], string>> = {
  paused: 'paused',
  held: 'held',
  throttled: 'throttled',
  at_limit: 'at the limit',
}

/** A reason in a word or two and in a sentence, and what happens at the time that goes with it. */
interface Throttle extends TonedLabel {
  readonly said: string
  readonly verb: string
}

const THROTTLES: Readonly<Record<Throttled['reason'], Throttle>> = {
  circuit_open: {
    tone: 'bad',
    label: 'Circuit open',
    said: 'The circuit breaker is open.',
    verb: 'tries',
  },
  target_asks_to_wait: {
    tone: 'warn',
    label: 'Asked to wait',
    said: 'The target asks to wait.',
    verb: 'tries',
  },
  rate_limited: { tone: 'busy', label: 'Rate limited', said: 'At its rate limit.', verb: 'next' },
}

export function throttleOf(reason: Throttled['reason']): Throttle {
  return entryOf(THROTTLES, reason, (label) => ({
    tone: 'plain',
    label,
    said: `Throttled: ${label}.`,
    verb: 'next',
  }))
}
