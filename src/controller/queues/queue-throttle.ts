import { isDeepStrictEqual } from 'node:util'
import type { Throttle, ThrottleReason } from '../../domain/jobs/flow.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { Condition, HttpQueueSpec, HttpQueueStatus } from '../../resources/generated/kinds.ts'
import type { HttpQueue } from '../kinds.ts'

type Wanted = WantedCondition<'HttpQueue'>
type FlowSpec = Pick<HttpQueueSpec, 'rateLimit' | 'respectRetryAfter' | 'circuitBreaker'>
type ShownThrottle = NonNullable<HttpQueueStatus['throttled']>

/**
 * A rate that lets the next job begin sooner than this is not told: it throttles its queue for moments at a time, and the
 * status would change with each of them.
 */
export const RATE_SHOWN_FROM_MS = 60_000

const TYPE = 'Throttled'
const REASONS = {
  rate_limited: 'RateLimited',
  target_asks_to_wait: 'TargetAsksToWait',
  circuit_open: 'CircuitOpen',
} as const satisfies Record<ThrottleReason, string>

/** What the status shows of a throttle: nothing of a queue that has no such setting any more, or of a rate that soon lets the next job begin. */
export function shownThrottle(
  spec: FlowSpec,
  throttle: Throttle | null,
  wallMs: number,
): ShownThrottle | undefined {
  if (throttle === null || !hasFlow(spec)) return undefined
  const { reason, untilMs } = throttle
  if (untilMs === null) return { reason }
  if (reason === 'rate_limited' && untilMs - wallMs < RATE_SHOWN_FROM_MS) return undefined
  return { reason, until: kubernetesTime(untilMs) }
}

/** The condition `Throttled`, which a queue has while a setting may throttle it. */
export function throttled(spec: FlowSpec, throttle: Throttle | null, wallMs: number): readonly Wanted[] {
  if (!hasFlow(spec)) return []
  const shown = shownThrottle(spec, throttle, wallMs)
  if (throttle === null || shown === undefined) {
    return [{ type: TYPE, status: 'False', reason: 'NotThrottled', message: 'Jobs may begin.' }]
  }
  const { reason } = throttle
  return [{ type: TYPE, status: 'True', reason: REASONS[reason], message: messageOf(reason, shown.until) }]
}

/**
 * The condition and what the status shows beside it. As long as nothing is known both stay as they are, unless the queue has
 * no such setting any more.
 * @param throttle undefined = it is not known
 */
export function throttleFields(
  { spec, status = {} }: Pick<HttpQueue, 'spec' | 'status'>,
  throttle: Throttle | null | undefined,
  wallMs: number,
): { readonly condition: readonly Wanted[]; readonly shown: ShownThrottle | undefined } {
  if (throttle !== undefined) {
    return { condition: throttled(spec, throttle, wallMs), shown: shownThrottle(spec, throttle, wallMs) }
  }
  const former = hasFlow(spec) ? throttledIn(status.conditions) : undefined
  return former === undefined
    ? { condition: [], shown: undefined }
    : { condition: [former as Wanted], shown: status.throttled }
}

/** Tells whether the status says something else of the throttle. */
export function isThrottleStale(
  { spec, status = {} }: Pick<HttpQueue, 'spec' | 'status'>,
  throttle: Throttle | null,
  wallMs: number,
): boolean {
  const [wanted] = throttled(spec, throttle, wallMs)
  return (
    wanted?.reason !== throttledIn(status.conditions)?.reason ||
    !isDeepStrictEqual(status.throttled, shownThrottle(spec, throttle, wallMs))
  )
}

function throttledIn(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === TYPE)
}

function hasFlow({ rateLimit, respectRetryAfter, circuitBreaker }: FlowSpec): boolean {
  return Boolean(rateLimit ?? circuitBreaker ?? respectRetryAfter)
}

function messageOf(reason: ThrottleReason, until: string | undefined): string {
  if (reason === 'rate_limited') return `spec.rateLimit lets the next job begin at ${until}.`
  const why =
    reason === 'circuit_open' ? 'Too many calls of its target failed' : 'Its target has asked callers to wait'
  return until === undefined
    ? `${why}: one job tries it now, and the others wait for its end.`
    : `${why}: no job begins before ${until}, and then one tries it.`
}
