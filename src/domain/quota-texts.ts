import type { QuotaName } from './quotas.ts'

/** Quotas as an error text names them. */
const NOUNS: Readonly<Record<QuotaName, string>> = {
  queues: 'queues',
  crons: 'crons',
  pendingJobs: 'pending jobs',
  storedBytes: 'stored bytes',
  jobsPerMonth: 'jobs per month',
  callsInFlight: 'calls in flight',
}

export function overQuotaText(quota: QuotaName, limit: number | null): string {
  const bound = limit === null ? 'of' : `of ${limit}`
  return `The team's quota ${bound} ${NOUNS[quota]} is used up (${quota})`
}

export const OVER_SHARE_TEXT =
  'The team has used up its share of the memory of the job store (storedBytes): wait for jobs to end, or remove some'
