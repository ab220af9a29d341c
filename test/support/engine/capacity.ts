import type { ExecutorCapacity } from '../../../src/executor/executor.ts'
import { reserveOf } from '../../../src/executor/slots/fair-share.ts'

/** What an executor of so many calls runs with by default, with memory to spare. */
export function capacityOf(concurrency: number, change: Partial<ExecutorCapacity> = {}): ExecutorCapacity {
  const shares = { team: 0.9, queue: 0.8 }
  return {
    concurrency,
    reserve: reserveOf(concurrency, shares),
    callBytes: 512 * 1024 ** 2,
    shares,
    ...change,
  }
}
