import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { REASONS as FAILURES } from '../../format/failure-reasons.ts'
import { textOf } from '../../format/values/known-values.ts'
import { plural } from '../../format/numbers.ts'
import type { TonedLabel } from '../../ui/tone.ts'

export const TYPES: Readonly<Record<Alert['type'], TonedLabel>> = {
  failure: { tone: 'bad', label: 'Failure' },
  warning: { tone: 'warn', label: 'Warning' },
  limit_warning: { tone: 'busy', label: 'Limit warning' },
  recovery: { tone: 'good', label: 'Recovery' },
}

export const REASONS: Readonly<Record<Alert['reason'], string>> = {
  ...FAILURES,
  queue_saturated: 'At its limit for minutes',
  dead_letters_growing: 'Many new dead letters',
  dead_letters_expiring: 'Dead letters expire soon',
  storage_nearly_full: 'Job store nearly full',
  quota_nearly_used: 'Quota nearly used',
  jobs_lost: 'Redis came back without jobs',
  circuit_open: 'Target fails, calls stopped',
}

/** What an alert is about, such as `queue emails`. */
export function subjectOf({ kind, name }: Alert['resource']): string {
  return `${kind} ${name}`
}

/** What has happened, in a few words. */
export function headlineOf({ type, reason }: Pick<Alert, 'type' | 'reason'>): string {
  const text = textOf(REASONS, reason)
  return type === 'recovery' ? `Recovered: ${text.toLowerCase()}` : text
}

/** What has become of an alert on all channels. */
export function toldText({ deliveries, suppressed_by: window }: Alert): string {
  if (window !== null) return `Muted by ${window}`
  if (deliveries.length === 0) return 'No channel'
  const count = (state: string): number => deliveries.filter((one) => one.state === state).length
  const [failed, waiting, sent] = [count('failed'), count('pending'), count('sent')]
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} under way`] : []),
    ...(sent > 0 ? [`${sent} sent`] : []),
  ]
  return parts.join(', ')
}

/** The list that shows the jobs behind an alert, as path and query; null where there is none. */
export function jobsOf(
  alert: Alert,
): { readonly label: string; readonly path: string; readonly query: Record<string, string> } | null {
  const { type, reason, resource, first_at: first } = alert
  const { kind, id, name } = resource
  // Jobs that are lost are in no list.
  if (kind === 'team' || type === 'recovery' || reason === 'jobs_lost') return null
  const about: Record<string, string> = kind === 'queue' ? { queue: name } : { cron_id: String(id) }
  if (reason === 'queue_saturated' || reason === 'circuit_open') {
    return { label: 'Jobs that wait', path: '/jobs', query: { ...about, status: 'pending' } }
  }
  if (type === 'limit_warning') return { label: 'Dead letters', path: '/dead-letters', query: about }
  const failed = { ...about, status: 'failed' }
  const label = 'Failed jobs'
  // Lists of jobs know when and why first attempts failed, which warnings tell of; a failure tells of the last attempt.
  if (type === 'failure') return { label, path: '/jobs', query: failed }
  const since = new Date(Date.parse(first) - BEFORE_MS).toISOString()
  return { label, path: '/jobs', query: { ...failed, failure_reason: reason, ended_after: since } }
}

/** The end of a job is a little before the alert that it raised. */
const BEFORE_MS = 1_000

/** Such as `3 alerts`. */
export function alerts(count: number): string {
  return plural(count, 'alert')
}
