import { objectIn } from './answer.ts'

/** Asked to wait for longer, we try after this all the same: a mistaken answer must not silence a channel. */
export const RETRY_AFTER_MS_MAX = 10 * 60_000

const SECONDS = /^[0-9]{1,9}(\.[0-9]{1,9})?$/

/** An answer that asks for patience. */
export interface PatienceAnswer {
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: Uint8Array
}

/**
 * How long a service asks us to wait, in ms; null if it does not say. Discord says it in a header of its own, which is in
 * seconds in every version of its API, and in its JSON; others by `Retry-After`, as seconds or as a date.
 * @param nowMs Redis time
 */
export function retryAfterMs({ headers, body }: PatienceAnswer, nowMs: number): number | null {
  const waitMs =
    secondsToMs(headerOf(headers, 'x-ratelimit-reset-after')) ??
    secondsToMs(String(objectIn(Buffer.from(body).toString('utf8'))['retry_after'])) ??
    dateOrSeconds(headerOf(headers, 'retry-after'), nowMs)
  return waitMs === null ? null : Math.min(Math.max(Math.ceil(waitMs), 0), RETRY_AFTER_MS_MAX)
}

function dateOrSeconds(text: string, nowMs: number): number | null {
  const waitMs = secondsToMs(text)
  if (waitMs !== null) return waitMs
  // `Date.parse` also takes numbers such as -1 for years.
  const dateMs = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(dateMs) ? null : dateMs - nowMs
}

function secondsToMs(text: string): number | null {
  return SECONDS.test(text) ? Number(text) * 1_000 : null
}

function headerOf(headers: PatienceAnswer['headers'], name: string): string {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1].trim() ?? ''
}
