import type { QuotaName } from './quotas.ts'

/** What a refusal calls what there is too much of. */
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
  'The team holds its share of the memory of the job store (storedBytes): its jobs must end or be removed first'
