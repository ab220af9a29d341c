import type { CronRun, CronState } from '../../ports/crons.ts'
import { mergeConditions } from '../../resources/conditions.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import type { HttpCronStatus } from '../../resources/generated/kinds.ts'
import type { CronProblem } from './cron-check.ts'
import type { HttpCron } from '../kinds.ts'

/** What came of a cron's step. */
export type CronOutcome =
  | { readonly kind: 'applied'; readonly cronId: number; readonly nextRunAtMs: number | null }
  | { readonly kind: 'refused'; readonly problem: CronProblem }
  /** Beyond what its team may have. */
  | { readonly kind: 'no_room'; readonly obstacle: string }
  /** The engine does not answer: what is in force stays so. */
  | { readonly kind: 'unavailable'; readonly message: string }

export interface CronFacts {
  /** As looked at last; null when it was not yet. */
  readonly state: CronState | null
  readonly wallMs: number
}

/** What the engine knows of a cron. */
type EngineFields = Pick<
  HttpCronStatus,
  'id' | 'nextRunTime' | 'lastRunTime' | 'lastRunResult' | 'lastSuccessTime' | 'consecutiveFailures'
>

const RESULTS = {
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  skipped: 'Skipped',
  missed: 'Missed',
} as const satisfies Record<CronRun['result'], HttpCronStatus['lastRunResult']>

/** The whole status as it is to be; equal to the one before when nothing has changed. */
export function cronStatus(cron: HttpCron, outcome: CronOutcome, facts: CronFacts): HttpCronStatus {
  const generation = cron.metadata.generation ?? 0
  const before = cron.status ?? {}
  return {
    observedGeneration: generation,
    ...engineFields(before, outcome, facts.state),
    conditions: mergeConditions<'HttpCron'>(before.conditions ?? [], conditionsOf(cron, outcome), {
      generation,
      wallMs: facts.wallMs,
    }),
  }
}

/** Whether the status says something else than what was looked at. Without an id it is not in force yet. */
export function isCronNews(before: HttpCronStatus | undefined, state: CronState): boolean {
  if (before?.id !== state.cronId) return false
  const now = fieldsOf(state)
  return ENGINE_FIELDS.some((field) => before[field] !== now[field])
}

const ENGINE_FIELDS = [
  'nextRunTime',
  'lastRunTime',
  'lastRunResult',
  'lastSuccessTime',
  'consecutiveFailures',
] as const satisfies ReadonlyArray<keyof EngineFields>

function engineFields(before: HttpCronStatus, outcome: CronOutcome, state: CronState | null): EngineFields {
  const id = outcome.kind === 'applied' ? outcome.cronId : before.id
  if (id === undefined) return {}
  // What a cron was that was deleted and made again, says nothing about this one.
  const known = state?.cronId === id ? fieldsOf(state) : before.id === id ? keptOf(before) : { id }
  if (outcome.kind !== 'applied') return known
  const { nextRunTime: _former, ...rest } = known
  return { ...rest, ...timeField('nextRunTime', outcome.nextRunAtMs) }
}

function keptOf(before: HttpCronStatus): EngineFields {
  const fields = (['id', ...ENGINE_FIELDS] as const).filter((field) => before[field] !== undefined)
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
  if (unixMs === null) return {}
  const time = new Date(unixMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
  return { [field]: time } as { [Name in Field]?: string }
}

type Wanted = WantedCondition<'HttpCron'>

function conditionsOf(cron: HttpCron, outcome: CronOutcome): readonly Wanted[] {
  switch (outcome.kind) {
    case 'applied':
      return [
        { type: 'Ready', status: 'True', reason: 'Reconciled', message: 'The settings are in force.' },
        scheduled(cron.spec.active),
      ]
    case 'refused':
      return refused(outcome.problem, cron.status?.id !== undefined)
    case 'no_room':
      return noRoom(outcome.obstacle, cron.status?.id !== undefined)
    case 'unavailable': {
      const { message } = outcome
      return [
        { type: 'Ready', status: 'Unknown', reason: 'BackendUnavailable', message },
        { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
      ]
    }
  }
}

function scheduled(isActive: boolean): Wanted {
  return isActive
    ? {
        type: 'Scheduled',
        status: 'True',
        reason: 'Scheduled',
        message: 'It ticks as spec.cronExpression says.',
      }
    : {
        type: 'Scheduled',
        status: 'False',
        reason: 'Paused',
        message: 'spec.active is false: no tick comes.',
      }
}

function noRoom(obstacle: string, wasInForce: boolean): readonly Wanted[] {
  const message = wasInForce ? `${obstacle} It is paused.` : `${obstacle} It is not in force.`
  return [
    { type: 'Ready', status: 'False', reason: 'QuotaExceeded', message },
    { type: 'Scheduled', status: 'False', reason: 'QuotaExceeded', message },
  ]
}

function refused({ reason, problem }: CronProblem, wasInForce: boolean): readonly Wanted[] {
  const message = wasInForce ? `${problem} What was in force before stays so.` : problem
  return [
    { type: 'Ready', status: 'False', reason: 'InvalidSpec', message },
    { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message },
    { type: 'Scheduled', status: 'False', reason, message },
  ]
}
