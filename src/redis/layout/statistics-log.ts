import { BUCKET_MAX, bucketOf, countIn, type Histogram } from '../../domain/statistics/histogram.ts'
import { addTally, emptyTally, type Tally } from '../../domain/statistics/tally.ts'
import type { AttemptSummary } from '../../domain/jobs/job.ts'
import { END } from './fields.ts'

/**
 * The log of ended jobs: one text for each batch of `finish` or `reap`, which statistics are made of.
 *
 *     minute ' /' team ' ' queue ':' job… ' ' queue ':' job… ' /' team …
 *
 * A job is three characters: its kind as in END, and its latency and lateness as a bucket in base 32, `-` = there was no
 * call. A queue is a local id, empty for the hidden queue of a cron, which counts for its team only.
 */

/** Of a job without a call, both buckets. */
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

/** The name of what is counted in the keys of statistics: a queue by its local id, or a team. */
export function ownerOfQueue(localId: string): string {
  return `q${localId}`
}

export function ownerOfTeam(team: string): string {
  return `t${team}`
}

const COUNTS: Readonly<Record<string, 'done' | 'failed' | 'retried' | 'dead'>> = {
  [END.success]: 'done',
  [END.failed]: 'failed',
  [END.retry]: 'retried',
  [END.deadLetter]: 'dead',
  [END.quarantined]: 'dead',
}

/** What an entry adds to each owner, and in which minute; null when it is damaged. */
export function decodeEntry(text: string): { minute: number; tallies: Map<string, Tally> } | null {
  const [minute = '', ...words] = text.split(' ')
  if (!/^\d{1,10}$/.test(minute)) return null
  const tallies = new Map<string, Tally>()
  let team = ''
  for (const word of words) {
    if (word.startsWith('/')) {
      team = word.slice(1)
      continue
    }
    const [, localId, jobs] = /^(\d*):((?:[sfrdx][-0-9a-v]{2})+)$/.exec(word) ?? []
    if (localId === undefined || jobs === undefined || team === '') return null
    const tally = tallyOf(jobs)
    if (localId !== '') addTo(tallies, ownerOfQueue(localId), tally)
    addTo(tallies, ownerOfTeam(team), tally)
  }
  return { minute: Number(minute), tallies }
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
