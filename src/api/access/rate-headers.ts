import type { ServerResponse } from 'node:http'
import type { RateLimit } from '../../domain/access/token-terms.ts'
import type { RateAdmission } from '../../ports/access/token-rates.ts'
import type { Rejection } from '../request-rejector.ts'

/**
 * Sets the headers of draft-ietf-httpapi-ratelimit-headers-09: the quota is a burst, its window the time in which a
 * burst is earned.
 */
export function showRate(response: ServerResponse, limit: RateLimit, admission: RateAdmission): void {
  const { burst, requestsPerSecond } = limit
  response.setHeader('RateLimit-Policy', `"token";q=${burst};w=${Math.ceil(burst / requestsPerSecond)}`)
  const fullSeconds = Math.ceil(admission.fullMs / 1_000)
  response.setHeader('RateLimit', `"token";r=${Math.min(burst, admission.remaining)};t=${fullSeconds}`)
}

/** @param maker of the token, whose limit it is; null when it is the token's own */
export function overRate({ waitMs }: RateAdmission, maker: string | null): Rejection {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const whose = maker === null ? 'this token' : `the token ${maker}, which this one shares,`
  const error = `The rate limit of ${whose} is reached, try again later`
  return { status: 429, error, headers: ['Retry-After', String(seconds)] }
}
