import type { ExecutorCapacity } from '../../../src/executor/executor.ts'
import { reserveOf } from '../../../src/executor/slots/fair-share.ts'

/** The default capacity of an executor with this concurrency, with ample memory. */
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
