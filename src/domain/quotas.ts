import { QUOTA_MAX } from './limits.ts'

/** The most a team may hold; null = unlimited. Listed, and checked for a push, in this order. */
export interface TeamQuotas {
  readonly queues: number | null
  readonly crons: number | null
  /** Jobs that have not ended: waiting or in flight. */
  readonly pendingJobs: number | null
  /** Bytes of jobs, dead letters, finished chains and call records, as they are written. */
  readonly storedBytes: number | null
  /** Jobs of a calendar month, UTC: pushes, runs of crons and replays, not their retries. */
  readonly jobsPerMonth: number | null
  readonly callsInFlight: number | null
}

export type QuotaName = keyof TeamQuotas

export const QUOTA_NAMES = [
  'queues',
  'crons',
  'pendingJobs',
  'storedBytes',
  'jobsPerMonth',
  'callsInFlight',
] as const satisfies readonly QuotaName[]

export const NO_QUOTAS: TeamQuotas = Object.freeze({
  queues: null,
  crons: null,
  pendingJobs: null,
  storedBytes: null,
  jobsPerMonth: null,
  callsInFlight: null,
})

/** Quotas that are not given are unlimited. */
export function quotasOf(given: Partial<TeamQuotas>): TeamQuotas {
  return Object.freeze({ ...NO_QUOTAS, ...given })
}

/** A team's own quota can only lower the installation's. */
export function effectiveQuotas(own: TeamQuotas, installation: TeamQuotas): TeamQuotas {
  const entries = QUOTA_NAMES.map((name) => [name, lower(own[name], installation[name])] as const)
  return Object.freeze(Object.fromEntries(entries) as unknown as TeamQuotas)
}

function lower(own: number | null, installation: number | null): number | null {
  if (own === null || installation === null) return own ?? installation
  return Math.min(own, installation)
}

/** Whether a number can be a quota; 0 allows nothing. */
export function isQuota(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= QUOTA_MAX
}

/** The Retry-After of a refusal by a quota: what a team holds does not go away within seconds. */
export const QUOTA_RETRY_AFTER_SECONDS = 60
/** The longest Retry-After for the jobs of a month: the quota may be raised before the month ends. */
const MONTH_RETRY_AFTER_SECONDS = 3_600

export function quotaRetryAfterSeconds(quota: QuotaName | 'share', nowMs: number): number {
  if (quota !== 'jobsPerMonth') return QUOTA_RETRY_AFTER_SECONDS
  const restMs = monthOf(nowMs).nextStartsMs - nowMs
  return Math.min(MONTH_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(restMs / 1000)))
}

/** A calendar month, UTC, as a number that rises by one a month. */
export function monthOf(ms: number): { readonly month: number; readonly nextStartsMs: number } {
  const at = new Date(ms)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return { month: year * 12 + month, nextStartsMs: Date.UTC(year, month + 1) }
}

/** Quotas as texts name them. */
export const QUOTA_NOUNS: Readonly<Record<QuotaName, string>> = {
  queues: 'queues',
  crons: 'crons',
  pendingJobs: 'pending jobs',
  storedBytes: 'stored bytes',
  jobsPerMonth: 'jobs per month',
  callsInFlight: 'calls in flight',
}

export function overQuotaText(quota: QuotaName, limit: number | null): string {
  const bound = limit === null ? 'of' : `of ${limit}`
  return `The team's quota ${bound} ${QUOTA_NOUNS[quota]} is used up (${quota})`
}

export const OVER_SHARE_TEXT =
  'The team has used up its share of the memory of the job store (storedBytes): wait for jobs to end, or remove some'
