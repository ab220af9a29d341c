import { emptyTally, type Tally } from '../../../src/domain/statistics/tally.ts'

/** Two minutes before a time three jobs ended. */
export function someMinutes(nowMs: number): ReadonlyMap<number, Tally> {
  const tally = {
    ...emptyTally(),
    done: 2,
    retried: 1,
    latency: [0, 0, 3],
    lateness: [3],
    depth: 4,
    oldestReadySeconds: 9,
  }
  return new Map([[Math.floor(nowMs / 60_000) - 2, tally]])
}
