import { BUCKET_MAX, bucketOf, countIn, type Histogram } from '../../../../domain/statistics/histogram.ts'
import { addTally, emptyTally, type Tally } from '../../../../domain/statistics/tally.ts'
import type { AttemptSummary } from '../../../../domain/jobs/job.ts'
import { END } from '../fields.ts'
import { splitNameField } from '../keys.ts'
import { isWorthNoting } from './tally-notes.ts'

/**
 * The log of ended jobs: one text for each batch of `finish` or `reap`, which statistics are made of.
 *
 *     minute ' /' team ' ' queue ':' job… ' ' queue ':' job… ' /' team …
 *
 * At the end stand words of the longest durations, for a team and queue each, where they say more than the buckets:
 *
 *     '/=' team '/' queue ':' longest latency ',' latest start
 *
 * in ms, 0 = the buckets say it. To a version before, each is the name of a team of which nothing is told.
 * A job is three characters: its kind as in END, and its latency and lateness as a bucket in base 32, `-` = there was no
 * call. A queue is a local id, empty for the hidden queue of a cron, which counts for its team only.
 */

/** Both buckets of a job without a call. */
export const NO_BUCKETS = '--'

export function encodeBuckets({
  durationMs,
  startedAtMs,
  scheduledAtMs,
  failureReason,
}: AttemptSummary): string {
  if (failureReason === 'executor_lost') return NO_BUCKETS
  return bucketOf(durationMs).toString(32) + bucketOf(startedAtMs - scheduledAtMs).toString(32)
}

/** How long a job took and how late it started, in ms, and for whom this counts. */
export interface LoggedDurations {
  readonly team: string
  /** A local id; '' = the hidden queue of a cron. */
  readonly queue: string
  readonly latencyMs: number
  readonly latenessMs: number
}

/** @param attempt undefined = there was none @returns null for a job without a call */
export function durationsOf(
  attempt: AttemptSummary | undefined,
  job: { readonly team: string; readonly queueName: string; readonly location: { readonly queue: string } },
): LoggedDurations | null {
  if (attempt === undefined || attempt.failureReason === 'executor_lost') return null
  const { durationMs: latencyMs, startedAtMs, scheduledAtMs } = attempt
  // The hidden queue of a cron has no name, and no statistics of its own.
  const queue = job.queueName === '' ? '' : job.location.queue
  return { team: job.team, queue, latencyMs, latenessMs: startedAtMs - scheduledAtMs }
}

/** The words of the longest durations of a batch; '' = there are none. */
export function encodeLongest(all: readonly LoggedDurations[]): string {
  const longest = new Map<string, { latency: number; lateness: number }>()
  for (const { team, queue, latencyMs, latenessMs } of all) {
    const before = longest.get(`${team}/${queue}`) ?? { latency: 0, lateness: 0 }
    before.latency = Math.max(before.latency, latencyMs || 0)
    before.lateness = Math.max(before.lateness, latenessMs || 0)
    longest.set(`${team}/${queue}`, before)
  }
  const noted = (ms: number) => (isWorthNoting(ms) ? Math.ceil(ms) : 0)
  return [...longest]
    .map(([owner, { latency, lateness }]) => [owner, noted(latency), noted(lateness)] as const)
    .filter(([, latency, lateness]) => latency > 0 || lateness > 0)
    .map(([owner, latency, lateness]) => `${LONGEST_SIGN}${owner}:${latency},${lateness}`)
    .join(' ')
}

const LONGEST_SIGN = '/='

/** The name of what is counted in the keys of statistics: a queue by its local id, or a team. */
export function ownerOfQueue(localId: string): string {
  return `q${localId}`
}

export function ownerOfTeam(team: string): string {
  return `t${team}`
}

const COUNTS: Readonly<Record<string, 'done' | 'failed' | 'retried' | 'dead'>> = {
  [END.success]: 'done',
  [END.failed_no_retries]: 'failed',
  [END.retry]: 'retried',
  [END.dead_letter]: 'dead',
  [END.quarantined]: 'dead',
}

/** The minute of an entry, and what it adds to each owner; null when it is damaged. */
export function decodeEntry(text: string): { minute: number; tallies: Map<string, Tally> } | null {
  const [minute = '', ...words] = text.split(' ')
  if (!/^\d{1,10}$/.test(minute)) return null
  /** By `team/queue`. */
  const ended = new Map<string, Tally>()
  let team = ''
  for (const word of words) {
    if (word.startsWith(LONGEST_SIGN)) noteLongest(ended, word)
    else if (word.startsWith('/')) team = word.slice(1)
    else {
      const [, localId, jobs] = /^(\d*):((?:[sfrdx][-0-9a-v]{2})+)$/.exec(word) ?? []
      if (localId === undefined || jobs === undefined || team === '') return null
      addTo(ended, `${team}/${localId}`, tallyOf(jobs))
    }
  }
  const tallies = new Map<string, Tally>()
  for (const [owner, tally] of ended) {
    const { team: ofTeam, queue: localId } = splitNameField(owner)
    if (localId !== '') addTo(tallies, ownerOfQueue(localId), tally)
    addTo(tallies, ownerOfTeam(ofTeam), tally)
  }
  return { minute: Number(minute), tallies }
}

/** What is damaged counts as not said. */
function noteLongest(ended: ReadonlyMap<string, Tally>, word: string): void {
  const [, owner = '', latency, lateness] = /^\/=([^/]+\/\d*):(\d{1,15}),(\d{1,15})$/.exec(word) ?? []
  const tally = ended.get(owner)
  if (tally === undefined) return
  if (Number(latency) > 0) tally.longestLatencyMs = Number(latency)
  if (Number(lateness) > 0) tally.longestLatenessMs = Number(lateness)
}

function addTo(tallies: Map<string, Tally>, owner: string, tally: Tally): void {
  const sum = tallies.get(owner) ?? emptyTally()
  addTally(sum, tally, 'max')
  tallies.set(owner, sum)
}

function tallyOf(jobs: string): Tally {
  const tally = emptyTally()
  for (let i = 0; i < jobs.length; i += 3) {
    const count = COUNTS[jobs.charAt(i)]
    if (count !== undefined) tally[count] += 1
    note(tally.latency, jobs.charAt(i + 1))
    note(tally.lateness, jobs.charAt(i + 2))
  }
  return tally
}

function note(histogram: Histogram, digit: string): void {
  if (digit !== '-') countIn(histogram, Math.min(BUCKET_MAX, Number.parseInt(digit, 32)))
}
