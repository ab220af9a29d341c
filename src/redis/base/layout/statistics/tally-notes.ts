import { bucketOf, type Histogram, lastMiddle, middleOf } from '../../../../domain/statistics/histogram.ts'
import type { Tally } from '../../../../domain/statistics/tally.ts'

/**
 * What is noted in a tally beside its numbers and histograms, as pairs of a kind and a value. A version before reads a
 * tally with notes as it would without them.
 *
 * What is not noted: no ready job was stopped; the oldest startable job is the oldest ready one; the longest duration is
 * not below the middle of the last bucket.
 */
export type Notes = ReadonlyArray<readonly [kind: number, value: number]>

const STOPPED = 0
const OLDEST_STARTABLE = 1
const OLDEST_QUEUE = 2
const LONGEST_LATENCY = 3
const LONGEST_LATENESS = 4
/** Room for kinds of later versions. */
export const NOTE_KINDS = 8

export function notesOf(tally: Tally): Notes {
  const notes: Array<readonly [number, number]> = []
  if (tally.stopped > 0) notes.push([STOPPED, tally.stopped])
  if (tally.depth > 0 && tally.oldestStartableSeconds !== tally.oldestReadySeconds)
    notes.push([OLDEST_STARTABLE, tally.oldestStartableSeconds])
  if (tally.oldestQueue > 0) notes.push([OLDEST_QUEUE, tally.oldestQueue])
  if (tellsMore(tally.longestLatencyMs, tally.latency))
    notes.push([LONGEST_LATENCY, Math.ceil(tally.longestLatencyMs)])
  if (tellsMore(tally.longestLatenessMs, tally.lateness))
    notes.push([LONGEST_LATENESS, Math.ceil(tally.longestLatenessMs)])
  return notes
}

function tellsMore(longestMs: number, histogram: Histogram): boolean {
  return longestMs > 0 && longestMs < lastMiddle(histogram)
}

/** Whether the longest of some durations says more than the bucket that it falls into. */
export function isWorthNoting(longestMs: number): boolean {
  return longestMs >= 1 && longestMs < middleOf(bucketOf(longestMs))
}

/** Completes a tally whose numbers and histograms have been read. */
export function applyNotes(tally: Tally, notes: Notes): void {
  const values = new Map(notes)
  tally.stopped = Math.min(tally.depth, values.get(STOPPED) ?? 0)
  tally.startable = tally.depth - tally.stopped
  tally.oldestStartableSeconds = values.get(OLDEST_STARTABLE) ?? tally.oldestReadySeconds
  tally.oldestQueue = values.get(OLDEST_QUEUE) ?? 0
  tally.longestLatencyMs = values.get(LONGEST_LATENCY) ?? 0
  tally.longestLatenessMs = values.get(LONGEST_LATENESS) ?? 0
}
