import type { AlertFacts } from '../../../../domain/alerts/alert-message.ts'
import type { AlertType } from '../../../../domain/alerts/alert.ts'
import type { FailureReason } from '../../../../domain/jobs/job.ts'
import { ATTEMPTS_PER_CHAIN } from '../../../../domain/jobs/job-ids.ts'
import { END } from '../../../base/layout/fields.ts'
import type { LoggedDurations } from '../../../base/layout/statistics/statistics-log.ts'
import type { FailedAttempt } from '../../../ledger/issues/issue-rows.ts'
import type { BreakerAlert, TargetNote } from './target-note.ts'

/** One job of a batch, in the words of the steps. */
export interface BatchJob {
  readonly id: number
  /** The local id of its queue. */
  readonly queue: string
  readonly token: string
  readonly kind: (typeof END)[keyof typeof END]
  readonly settingsHash: string
  readonly isLarge: boolean
  /** The bytes of its record and of its part in `payloads`; '' = the step has to ask. */
  readonly bytes: number | ''
  /** The time until the retry, or until a dead letter is purged. */
  readonly delayMs: number
  readonly record: string
  /** The buckets of its latency and lateness, for statistics. */
  readonly buckets: string
  /** Its latency and lateness themselves; null = there was no call. */
  readonly durations: LoggedDurations | null
  /** The record of its call; '' = there is none. */
  readonly call: string
  /** The record of the callback that reports it; '' = there is none. */
  readonly callback: string
  /** The team whose callback it is; '' = it is none. */
  readonly callbackTeam: string
  /** The reason why its chain failed for good; '' = it did not. */
  readonly failure: FailureReason | ''
  /** The failure of its attempt, as issues count it; null = it has not failed, or is a callback. */
  readonly failed: FailedAttempt | null
  /** What its end says of the target: nothing, that it does not work, and for how long it asks to be left alone. */
  readonly target: TargetNote
  /** The cron whose run ends with this job; null = it belongs to no run, or the run goes on. */
  readonly run: EndedRun | null
  /** What its end raises for its queue; null = nothing. */
  readonly alerts: BatchAlerts | null
  /** What is raised if the breaker of its queue turns with its end; null = nothing. */
  readonly breakerAlert: BreakerAlert | null
}

/** The alerts of one queue, at most one of each type. */
export interface BatchAlerts {
  readonly team: string
  readonly queueName: string
  readonly types: readonly AlertType[]
  readonly reason: FailureReason
  readonly facts: AlertFacts
}

/** The end of a run in the form of cron records, which crons/tick/tick.lua describes. */
export interface EndedRun {
  readonly cronId: number
  readonly record: string
  readonly tickMs: number
  readonly team: string
  /** null = the run succeeded. */
  readonly failureReason: FailureReason | null
  /** The host that was called; '' = the run succeeded. */
  readonly host: string
}

/**
 * Orders ends so that those of a queue and a claim follow each other, as `jobRows` wants it.
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

interface BatchQueues {
  /** The local ids of queues of whose keys the ends of their jobs need few. */
  readonly lean: readonly string[]
  /** The other queues, with the team whose callbacks they make; '' = none. */
  readonly full: ReadonlyArray<{ readonly localId: string; readonly callbackTeam: string }>
}

/** Lists the queues of the jobs. @param needsAll whether the step may end a job otherwise than it is told */
export function queuesOf(jobs: readonly BatchJob[], needsAll: boolean): BatchQueues {
  const needs = new Map<string, { isLean: boolean; callbackTeam: string }>()
  for (const job of jobs) {
    const isLean = !needsAll && leavesOnlySummary(job)
    const known = needs.get(job.queue)
    if (known === undefined) needs.set(job.queue, { isLean, callbackTeam: job.callbackTeam })
    else {
      known.isLean &&= isLean
      if (known.callbackTeam === '') known.callbackTeam = job.callbackTeam
    }
  }
  const lean: string[] = []
  const full: Array<{ localId: string; callbackTeam: string }> = []
  for (const [localId, { isLean, callbackTeam }] of needs) {
    if (isLean) lean.push(localId)
    else full.push({ localId, callbackTeam })
  }
  return { lean, full }
}

function leavesOnlySummary({ kind, isLarge, call, callback }: BatchJob): boolean {
  return (
    (kind === END.success || kind === END.failed_no_retries) && !isLarge && call === '' && callback === ''
  )
}

/**
 * Jobs that follow each other with the same token, kind and settings are a stretch, which says that once, and those that
 * follow each other in a queue are a place of it. First attempts that succeeded and leave nothing but a summary have places
 * of their own, each within one stretch: the step ends such a place as a whole, and its jobs have two words each.
 */
export function jobRows(
  jobs: readonly BatchJob[],
  {
    queues,
    shards,
  }: {
    /** The local ids in the order in which the step reads them. */
    readonly queues: readonly string[]
    /** How many shards the installation has; null = the step may end a job in another way than it is told. */
    readonly shards: number | null
  },
) {
  const positions = new Map(queues.map((localId, i) => [localId, i + 1]))
  const stretches: Stretch[] = []
  const places: Place[] = []
  const words: Array<string | number> = []
  const mayBePlain = shards !== null && areDistinct(jobs)
  for (const job of jobs) {
    let stretch = stretches.at(-1)
    if (stretch === undefined || !isOf(stretch, job)) stretches.push((stretch = stretchOf(job)))
    stretch.count += 1
    const plainOf = mayBePlain && endsPlainly(job, shards) ? stretch : null
    let place = places.at(-1)
    if (place === undefined || place.queue !== job.queue || place.plainOf !== plainOf) {
      places.push((place = { queue: job.queue, plainOf, count: 0, growth: 0 }))
    }
    place.count += 1
    words.push(job.id, job.record)
    if (plainOf === null) words.push(factsOf(job))
    else place.growth += Buffer.byteLength(job.record) - Number(job.bytes)
  }
  const placeText = ({ queue, count, plainOf, growth }: Place): string =>
    `${positions.get(queue)} ${count} ${plainOf === null ? '' : growth};`
  return { stretches, places: places.map(placeText).join(''), jobs: words }
}

interface Stretch {
  readonly token: string
  readonly kind: BatchJob['kind']
  readonly settingsHash: string
  count: number
}

interface Place {
  readonly queue: string
  /** The stretch of its jobs, if the place ends as a whole. */
  readonly plainOf: Stretch | null
  count: number
  /** By how many bytes the summaries are longer than the records were. */
  growth: number
}

/** A job may stand twice in a batch, under two tokens. */
function areDistinct(jobs: readonly BatchJob[]): boolean {
  return new Set(jobs.map(({ id }) => id)).size === jobs.length
}

/** Tells whether a first attempt has succeeded and leaves nothing but a summary. Its id is then that of its chain. */
function endsPlainly(job: BatchJob, shards: number): boolean {
  const { kind, bytes, alerts, breakerAlert } = job
  const isFirstAttempt = Math.floor(job.id / shards) % ATTEMPTS_PER_CHAIN === 0
  const raises = alerts !== null || breakerAlert !== null
  return kind === END.success && leavesOnlySummary(job) && bytes !== '' && !raises && isFirstAttempt
}

function stretchOf({ token, kind, settingsHash }: BatchJob): Stretch {
  return { token, kind, settingsHash, count: 0 }
}

function isOf(stretch: Stretch, job: BatchJob): boolean {
  return stretch.token === job.token && stretch.kind === job.kind && stretch.settingsHash === job.settingsHash
}

/** Writes facts as batch.lua reads them: the bytes alone, or all that only some jobs have. */
function factsOf({ bytes, delayMs, isLarge, call, callback, failure, target }: BatchJob): string | number {
  const says = target.works === null ? '' : target.works ? 'g' : 'b'
  const targetText = `${says}${target.askedMs ?? ''}`
  const hasBytesAlone = !isLarge && delayMs === 0 && call + callback + failure + targetText === ''
  if (hasBytesAlone) return bytes
  return `${bytes}|${delayMs}|${isLarge ? 1 : 0}|${failure}|${targetText}|${Buffer.byteLength(call)}|${call}${callback}`
}
