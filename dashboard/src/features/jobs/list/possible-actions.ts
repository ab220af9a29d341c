import type { BulkAction, JobSummary } from '../../../../../clients/typescript/src/client.ts'

type Chosen = Pick<
  JobSummary,
  'job_id' | 'status' | 'final_status' | 'has_pending_retry' | 'replayed_as' | 'scheduled_at'
>

export interface PossibleAction {
  readonly action: BulkAction
  /** The chosen jobs that it can be done to. */
  readonly ids: readonly number[]
}

/** What can be done to chosen jobs as they are, and to which of them. */
export function possibleActions(jobs: readonly Chosen[], nowMs: number): PossibleAction[] {
  const isDead = jobs.filter(isDeadLetter)
  const hasFailed = jobs.filter(isEndedFailure)
  const areAllDead = isDead.length === jobs.length
  return [
    // Both make a new job: of dead letters alone, the word for them is enough.
    { action: 'retry' as const, jobs: areAllDead ? [] : hasFailed },
    { action: 'replay' as const, jobs: isDead },
    {
      action: 'fire' as const,
      jobs: jobs.filter((job) => isPending(job) && Date.parse(job.scheduled_at) > nowMs),
    },
    { action: 'cancel' as const, jobs: jobs.filter(isPending) },
    { action: 'purge' as const, jobs: areAllDead ? isDead : [] },
    { action: 'delete' as const, jobs: areAllDead ? [] : jobs.filter(isAtRest) },
  ].flatMap(({ action, jobs: meant }) =>
    meant.length === 0 ? [] : [{ action, ids: meant.map(({ job_id: id }) => id) }],
  )
}

function isPending({ status }: Chosen): boolean {
  return status === 'pending'
}

function isDeadLetter({ final_status: end, replayed_as: replayed }: Chosen): boolean {
  return end === 'dead_lettered' && replayed === null
}

/** Its chain has ended in failure, and nothing was made of it. */
function isEndedFailure({
  status,
  has_pending_retry: goesOn,
  replayed_as: remade,
  final_status: end,
}: Chosen): boolean {
  return status === 'failed' && !goesOn && remade === null && end !== 'success' && end !== 'retrying'
}

function isAtRest({ status, has_pending_retry: goesOn }: Chosen): boolean {
  return status !== 'processing' && !goesOn
}

const BY_STATUS: Readonly<Record<string, readonly BulkAction[]>> = {
  pending: ['fire', 'cancel'],
  processing: [],
  completed: ['delete'],
  failed: ['retry', 'delete'],
  dead_lettered: ['replay', 'purge'],
}
const OF_ALL: readonly BulkAction[] = ['retry', 'replay', 'fire', 'cancel', 'delete']

/** What can be done to all jobs that a filter with this status finds. */
export function actionsOfStatus(status: string | undefined): readonly BulkAction[] {
  return BY_STATUS[status ?? ''] ?? OF_ALL
}
