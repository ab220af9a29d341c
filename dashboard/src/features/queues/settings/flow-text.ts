import type { Queue } from '../../../../../clients/typescript/src/client.ts'
import { plural } from '../../../format/numbers.ts'
import { formatDuration, formatSeconds } from '../../../format/times.ts'

type Rate = NonNullable<Queue['rate_limit']>
type Breaker = NonNullable<Queue['circuit_breaker']>

const SPANS: Readonly<Record<number, string>> = {
  1: 'a second',
  60: 'a minute',
  3_600: 'an hour',
  86_400: 'a day',
}

/** Such as `At most 10 calls a second, about one every 100 ms`. */
export function toldRate({ limit, period_seconds: seconds }: Rate): string {
  const most = `At most ${plural(limit, 'call')} ${SPANS[seconds] ?? `in any ${formatSeconds(seconds)}`}`
  const betweenMs = (seconds * 1_000) / limit
  // Of a single call it says nothing new, and below a millisecond several begin together.
  return limit === 1 || betweenMs < 1 ? most : `${most}, about one every ${formatDuration(betweenMs)}`
}

/** Such as `When 50 % of at least 10 calls within 1 min fail, no job begins for 30 s, then one tries`. */
export function toldBreaker(breaker: Breaker): string {
  const { failure_percent: percent, min_calls: calls, window_seconds: window, open_seconds: open } = breaker
  const failing = `${percent} % of at least ${plural(calls, 'call')} within ${formatSeconds(window)}`
  return `When ${failing} fail, no job begins for ${formatSeconds(open)}, then one tries`
}
