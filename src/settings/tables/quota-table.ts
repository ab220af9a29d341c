import {
  CRONS_PER_TEAM_DEFAULT,
  PENDING_JOBS_PER_TEAM_DEFAULT,
  QUEUES_PER_TEAM_DEFAULT,
} from '../../domain/limits.ts'
import { quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import { bytesBetween, integerBetween, quota } from '../parsers.ts'
import { PROCESSES, setting, type Setting, type SettingValues } from '../setting.ts'

const QUOTA_COUNT_MAX = 1_000_000_000
const STORED_BYTES_MAX = 4 * 1024 ** 4

/** Settings of the most a team may hold. */
export const QUOTA_SETTINGS = Object.freeze({
  quotaQueues: quotaSetting('QUEUES', 'queues', QUEUES_PER_TEAM_DEFAULT),
  quotaCrons: quotaSetting('CRONS', 'crons', CRONS_PER_TEAM_DEFAULT),
  quotaPendingJobs: quotaSetting('PENDING_JOBS', 'pending jobs', PENDING_JOBS_PER_TEAM_DEFAULT),
  quotaStoredBytes: setting({
    roles: PROCESSES,
    variable: 'PUNCTUAL_QUOTA_STORED_BYTES',
    placeholder: 'bytes',
    help: 'maximum of bytes a team may store, such as 512MiB, or none: then four times what is free in Redis',
    initial: null,
    initialText: 'none',
    parse: quota(bytesBetween(0, STORED_BYTES_MAX, 'bytes up to 4TiB, such as 512MiB, 1g or 1073741824')),
  }),
  quotaJobsPerMonth: quotaSetting('JOBS_PER_MONTH', 'jobs per calendar month (UTC)', null),
  quotaCallsInFlight: quotaSetting('CALLS_IN_FLIGHT', 'concurrent calls', null),
})

function quotaSetting(
  name: string,
  what: string,
  initial: number | null,
): Setting<number | null, typeof PROCESSES> {
  return setting({
    roles: PROCESSES,
    variable: `PUNCTUAL_QUOTA_${name}`,
    placeholder: 'number',
    help: `maximum of ${what} of a team, or none`,
    initial,
    initialText: String(initial ?? 'none'),
    parse: quota(integerBetween(0, QUOTA_COUNT_MAX)),
  })
}

export type QuotaSettings = SettingValues<typeof QUOTA_SETTINGS>

/** Quotas of every team, unless it has its own. */
export function quotasOfSettings(settings: QuotaSettings): TeamQuotas {
  return quotasOf({
    queues: settings.quotaQueues,
    crons: settings.quotaCrons,
    pendingJobs: settings.quotaPendingJobs,
    storedBytes: settings.quotaStoredBytes,
    jobsPerMonth: settings.quotaJobsPerMonth,
    callsInFlight: settings.quotaCallsInFlight,
  })
}
