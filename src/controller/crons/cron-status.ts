import type { CronRun, CronState, CronStatsEntry } from '../../ports/crons.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { HttpCronStatus } from '../../resources/generated/kinds.ts'
import type { HttpCron } from '../kinds.ts'
import { reconciledStatus, type Unavailable } from '../reconcile/ready-conditions.ts'
import { formerFailing } from '../reconcile/failing-condition.ts'
import { cronConditions, type CronOutcome } from './cron-conditions.ts'
import { cronFailing, isCronFailureStale, shownCronFailure } from './cron-failure.ts'

export interface CronFacts {
  /** The state that was read last; null = none was read yet. */
  readonly state: CronStatsEntry | null
  /** Says whether the queue that the cron names exists. It is not read for a cron that names none. */
  readonly isQueueFound: boolean
  readonly wallMs: number
}

/** The fields of the status that the engine knows, beside the id. */
const STATE_FIELDS = [
  'nextRunTime',
  'lastRunTime',
  'lastRunResult',
  'lastSuccessTime',
  'consecutiveFailures',
] as const satisfies ReadonlyArray<keyof HttpCronStatus>

type EngineFields = Pick<HttpCronStatus, 'id' | 'lastFailure' | (typeof STATE_FIELDS)[number]>

const RESULTS = {
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  skipped: 'Skipped',
  missed: 'Missed',
} as const satisfies Record<CronRun['result'], HttpCronStatus['lastRunResult']>

/** Builds the whole status, which equals the one before if nothing has changed. */
export function cronStatus(
  cron: HttpCron,
  outcome: CronOutcome | Unavailable,
  { state, isQueueFound, wallMs }: CronFacts,
): HttpCronStatus {
  const before = cron.status ?? {}
  const id = outcome.kind === 'applied' ? outcome.cronId : before.id
  // After a delete and re-create, the state may still be that of the former cron.
  const current = state?.cronId === id ? state : null
  const failing =
    current === null
      ? (formerFailing(before.conditions) as ReadonlyArray<WantedCondition<'HttpCron'>>)
      : cronFailing(before, current)
  return {
    ...(id === undefined ? {} : engineFields({ ...before, id }, outcome, current)),
    ...reconciledStatus<'HttpCron'>(
      cron,
      [...cronConditions(cron, outcome, isQueueFound), ...failing],
      wallMs,
    ),
  }
}

/**
 * Tells whether the state differs from what the status shows. A status without an id belongs to no cron in Redis yet.
 */
export function isStaleCronStatus(before: HttpCronStatus | undefined, state: CronStatsEntry): boolean {
  if (before?.id !== state.cronId) return false
  const now = fieldsOf(state)
  return STATE_FIELDS.some((field) => before[field] !== now[field]) || isCronFailureStale(before, state)
}

function engineFields(
  before: HttpCronStatus & { readonly id: number },
  outcome: CronOutcome | Unavailable,
  state: CronStatsEntry | null,
): EngineFields {
  const lastFailure = state === null ? before.lastFailure : shownCronFailure(before.lastFailure, state)
  const known = {
    ...(state === null ? keptOf(before) : fieldsOf(state)),
    ...(lastFailure === undefined ? {} : { lastFailure }),
  }
  if (outcome.kind !== 'applied') return known
  const { nextRunTime: _former, ...rest } = known
  return { ...rest, ...timeField('nextRunTime', outcome.nextRunAtMs) }
}

function keptOf(before: HttpCronStatus): EngineFields {
  const fields = (['id', ...STATE_FIELDS] as const).filter((field) => before[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, before[field]]))
}

function fieldsOf(state: CronState): EngineFields {
  const { lastRun } = state
  return {
    id: state.cronId,
    ...timeField('nextRunTime', state.nextRunAtMs),
    ...timeField('lastRunTime', lastRun?.scheduledAtMs ?? null),
    ...(lastRun === null ? {} : { lastRunResult: RESULTS[lastRun.result] }),
    ...timeField('lastSuccessTime', state.lastSuccessAtMs),
    consecutiveFailures: state.consecutiveFailures,
  }
}

function timeField<Field extends string>(field: Field, unixMs: number | null): { [Name in Field]?: string } {
  return (unixMs === null ? {} : { [field]: kubernetesTime(unixMs) }) as { [Name in Field]?: string }
}
