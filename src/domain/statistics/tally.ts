import { addHistogram, type Histogram, lastMiddle } from './histogram.ts'

/** Counts of one minute, of a queue or a team. A job that ended is in exactly one of the four counts. */
export interface Tally {
  /** Succeeded. */
  done: number
  /** Failed without a retry and without a dead letter. */
  failed: number
  /** Failed, and a retry follows. */
  retried: number
  /** Failed for the last time, or cannot be read: became a dead letter. */
  dead: number
  /** How long calls took. */
  readonly latency: Histogram
  /** How long after their due time jobs started. */
  readonly lateness: Histogram
  /** Ready jobs when they were counted. */
  depth: number
  /** Age of the oldest of them, in whole seconds. */
  oldestReadySeconds: number
  /** Those of them that nothing but a free slot of an executor kept from starting. */
  startable: number
  /** The others. */
  stopped: number
  /** Age of the oldest startable job, in whole seconds. */
  oldestStartableSeconds: number
  /** The id of its queue, of a team; 0 = not known. */
  oldestQueue: number
  /** The longest call, and the latest start, in ms; 0 = not known, so that the histogram alone says it. */
  longestLatencyMs: number
  longestLatenessMs: number
}

export function emptyTally(): Tally {
  return {
    done: 0,
    failed: 0,
    retried: 0,
    dead: 0,
    latency: [],
    lateness: [],
    depth: 0,
    oldestReadySeconds: 0,
    startable: 0,
    stopped: 0,
    oldestStartableSeconds: 0,
    oldestQueue: 0,
    longestLatencyMs: 0,
    longestLatenessMs: 0,
  }
}

/** Jobs that ended. */
export function endedJobs({ done, failed, retried, dead }: Tally): number {
  return done + failed + retried + dead
}

/**
 * @param depths `sum` for the same minute in several shards; `max` for several minutes, or parts of one, in the same
 * shard: a depth is a state and not an amount
 */
export function addTally(into: Tally, from: Tally, depths: 'sum' | 'max'): void {
  into.done += from.done
  into.failed += from.failed
  into.retried += from.retried
  into.dead += from.dead
  const { latency, lateness } = longestIn(from)
  const before = longestIn(into)
  into.longestLatencyMs = Math.max(before.latency, latency)
  into.longestLatenessMs = Math.max(before.lateness, lateness)
  addHistogram(into.latency, from.latency)
  addHistogram(into.lateness, from.lateness)
  const added = depths === 'sum' ? (a: number, b: number) => a + b : Math.max
  into.depth = added(into.depth, from.depth)
  into.startable = added(into.startable, from.startable)
  into.stopped = added(into.stopped, from.stopped)
  into.oldestReadySeconds = Math.max(into.oldestReadySeconds, from.oldestReadySeconds)
  noteOldest(into, from)
}

/** Keeps the oldest startable job, with its queue. */
export function noteOldest(
  into: Tally,
  { oldestStartableSeconds, oldestQueue }: Pick<Tally, 'oldestStartableSeconds' | 'oldestQueue'>,
): void {
  const isOlder = oldestStartableSeconds > into.oldestStartableSeconds
  const isFirst = oldestStartableSeconds === into.oldestStartableSeconds && into.oldestQueue === 0
  if (!isOlder && !isFirst) return
  into.oldestStartableSeconds = oldestStartableSeconds
  into.oldestQueue = oldestQueue
}

/** What is not known is as long as the middle of the last bucket, which it is not below by much. */
function longestIn(tally: Tally): { readonly latency: number; readonly lateness: number } {
  return {
    latency: tally.longestLatencyMs || lastMiddle(tally.latency),
    lateness: tally.longestLatenessMs || lastMiddle(tally.lateness),
  }
}
