import type { AlertFacts } from '../../../domain/alerts/alert-message.ts'
import type { AlertType } from '../../../domain/alerts/alert.ts'
import type { FailureReason } from '../../../domain/jobs/job.ts'
import type { END } from '../../layout/fields.ts'

/** One job of a batch, in the words of the steps. */
export interface BatchJob {
  readonly id: number
  /** Local queue id. */
  readonly queue: string
  readonly token: string
  readonly kind: (typeof END)[keyof typeof END]
  readonly settingsHash: string
  readonly isLarge: boolean
  /** Of its record and of its part in `payloads`; '' = the step has to ask. */
  readonly bytes: number | ''
  /** Until the retry, or until a dead letter is purged. */
  readonly delayMs: number
  readonly record: string
  /** Of its latency and lateness, for statistics. */
  readonly buckets: string
  /** Its call record; '' = none. */
  readonly call: string
  /** Record of the callback that reports it; '' = none. */
  readonly callback: string
  /** Whose callback it is; '' = none. */
  readonly callbackTeam: string
  /** Why its chain failed for good; '' = it did not. */
  readonly failure: FailureReason | ''
  /** The cron whose run ends with this job; null = none, or the run goes on. */
  readonly run: EndedRun | null
  /** What its end raises for its queue; null = nothing. */
  readonly alerts: BatchAlerts | null
}

/** Alerts of one queue, one of each type. */
export interface BatchAlerts {
  readonly team: string
  readonly queueName: string
  readonly types: readonly AlertType[]
  readonly reason: FailureReason
  readonly facts: AlertFacts
}

/** As cron records are written; see crons/tick/tick.lua. */
export interface EndedRun {
  readonly cronId: number
  readonly record: string
  readonly tickMs: number
  readonly team: string
  /** null = it succeeded. */
  readonly failureReason: FailureReason | null
  /** That was called; '' when it succeeded. */
  readonly host: string
}

/**
 * Ends in an order in which those of a queue and a claim follow each other, as stretches want it.
 * @returns the positions that they had
 */
export function orderByClaim(
  ends: ReadonlyArray<{
    readonly work: { readonly token: string; readonly location: { readonly queue: string } }
  }>,
): number[] {
  const byClaim = new Map<string, number[]>()
  ends.forEach(({ work: { token, location } }, position) => {
    const claim = `${location.queue} ${token}`
    const positions = byClaim.get(claim)
    if (positions === undefined) byClaim.set(claim, [position])
    else positions.push(position)
  })
  return [...byClaim.values()].flat()
}

/**
 * Jobs that follow each other with the same queue, token, kind and settings are a stretch, which says that once. What is
 * left of most jobs are three words: in a batch they are most of what is sent.
 */
export function jobRows(jobs: readonly BatchJob[]) {
  const stretches: Array<ReturnType<typeof stretchOf>> = []
  for (const job of jobs) {
    const last = stretches.at(-1)
    if (last !== undefined && isOf(last, job)) last.count += 1
    else stretches.push(stretchOf(job))
  }
  return { stretches, jobs: jobs.map((job) => ({ id: job.id, record: job.record, facts: factsOf(job) })) }
}

function stretchOf({ queue, token, kind, settingsHash }: BatchJob) {
  return { queue, token, kind, settingsHash, count: 1 }
}

function isOf(stretch: ReturnType<typeof stretchOf>, job: BatchJob): boolean {
  return (
    stretch.token === job.token &&
    stretch.queue === job.queue &&
    stretch.kind === job.kind &&
    stretch.settingsHash === job.settingsHash
  )
}

/** As batch.lua reads them: the bytes alone, or all that only some jobs have. */
function factsOf({ bytes, delayMs, isLarge, call, callback, failure }: BatchJob): string | number {
  const isPlain = !isLarge && delayMs === 0 && call === '' && callback === '' && failure === ''
  if (isPlain) return bytes
  return `${bytes}|${delayMs}|${isLarge ? 1 : 0}|${failure}|${Buffer.byteLength(call)}|${call}${callback}`
}
