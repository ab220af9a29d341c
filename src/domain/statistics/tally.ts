import { addHistogram, type Histogram } from './histogram.ts'

/** What happened in one minute, in a queue or in a team. A job that ended is in exactly one of the four counts. */
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
}

export function emptyTally(): Tally {
  return {
    ...{ done: 0, failed: 0, retried: 0, dead: 0 },
    ...{ latency: [], lateness: [], depth: 0, oldestReadySeconds: 0 },
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
  addHistogram(into.latency, from.latency)
  addHistogram(into.lateness, from.lateness)
  into.depth = depths === 'sum' ? into.depth + from.depth : Math.max(into.depth, from.depth)
  into.oldestReadySeconds = Math.max(into.oldestReadySeconds, from.oldestReadySeconds)
}
