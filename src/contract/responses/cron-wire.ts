import { describeExpression } from '../../domain/crons/cron-description.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import { editWarning, type ManagedBy } from '../../domain/managed-by.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import { assertionWarnings } from '../fields/assertion-fields.ts'
import { toWireManagedBy } from './queue-wire.ts'
import type {
  CreatedCron,
  Cron as WireCron,
  CronPreview,
  CronRun as WireCronRun,
  CronSummary,
} from '../../../clients/typescript/src/generated/wire.ts'

/** Shape of a cron's record in the ports, which the contract may not import. */
export interface ShownCronRun {
  readonly scheduledAtMs: number
  readonly result: WireCronRun['result']
  readonly jobId: number | null
  readonly isManual: boolean
  readonly ticks: number
  readonly cause?: 'queue_draining'
}

/** Shape of `Cron` in the ports, without the team; the contract may not import it. */
export interface ShownCron {
  readonly cronId: number
  readonly settings: CronSettings
  readonly nextRunAtMs: number | null
  readonly lastRun: ShownCronRun | null
  readonly lastSuccessAtMs: number | null
  readonly consecutiveFailures: number
}

export function toCreatedCron({ cronId, settings, nextRunAtMs }: ShownCron): CreatedCron {
  return {
    id: cronId,
    name: settings.displayName,
    cron_expression: settings.cronExpression,
    next_run_at: timestampOrNull(nextRunAtMs),
    is_active: settings.isActive,
  }
}

/** @param managedBy null = nobody, or not known */
export function toWireCron(cron: ShownCron, managedBy: ManagedBy | null = null): WireCron {
  const { headers, payload, successAssertions } = cron.settings
  return {
    ...toCronSummary(cron),
    headers: { ...headers },
    payload,
    warnings: assertionWarnings(successAssertions),
    managed_by: toWireManagedBy(managedBy),
  }
}

/** The cron with a warning if the edit will not last. */
export function toEditedCron(cron: ShownCron, managedBy: ManagedBy | null): WireCron {
  const wire = toWireCron(cron, managedBy)
  return { ...wire, warnings: [...wire.warnings, ...editWarning(managedBy)] }
}

/** Leaves out headers and payload, which may be long: a page may have a thousand crons. */
export function toCronSummary(cron: ShownCron): CronSummary {
  const { settings, lastRun } = cron
  return {
    id: cron.cronId,
    name: settings.displayName,
    url: settings.url,
    method: settings.method,
    callback_url: settings.callbackUrl,
    cron_expression: settings.cronExpression,
    description: describeExpression(settings.cronExpression),
    timeout_seconds: settings.timeoutSeconds,
    alert_threshold: settings.alertThreshold,
    success_assertions: settings.successAssertions.map((assertion) => ({ ...assertion })),
    is_active: settings.isActive,
    time_zone: settings.timeZone,
    concurrency_policy: settings.concurrencyPolicy,
    missed_run_policy: settings.missedRunPolicy,
    starting_deadline_seconds: settings.startingDeadlineSeconds,
    jitter_seconds: settings.jitterSeconds,
    queue: settings.queue,
    record_responses: settings.recordResponses,
    next_run_at: timestampOrNull(cron.nextRunAtMs),
    last_run: lastRun === null ? null : toWireCronRun(lastRun),
    last_success_at: timestampOrNull(cron.lastSuccessAtMs),
    consecutive_failures: cron.consecutiveFailures,
  }
}

export function toWireCronRun(run: ShownCronRun): WireCronRun {
  return {
    scheduled_at: formatTimestamp(run.scheduledAtMs),
    result: run.result,
    job_id: run.jobId,
    is_manual: run.isManual,
    ticks: run.ticks,
    ...(run.cause === undefined ? {} : { cause: run.cause }),
  }
}

export function toCronPreview(
  { cronExpression, timeZone }: Pick<CronSettings, 'cronExpression' | 'timeZone'>,
  ticks: readonly number[],
): CronPreview {
  return {
    cron_expression: cronExpression,
    time_zone: timeZone,
    description: describeExpression(cronExpression),
    next_runs: ticks.map(formatTimestamp),
  }
}
