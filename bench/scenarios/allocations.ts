import { PUNCTUAL } from '../report/figures.ts'
import { withInspectors } from './inspected-run.ts'
import type { Bench } from './scenario.ts'

const RUNS_MAX = 3

/** Bytes that the API and the executor allocate in V8's heap for a job, by V8's own count, with no profiler running. */
export async function measureAllocations(bench: Bench): Promise<void> {
  bench.say('allocations')
  await withInspectors(bench, 'allocations', async ({ roles, fullRun }) => {
    for (let run = 1; run <= Math.min(RUNS_MAX, bench.sizes.runs); run += 1) {
      const apiBefore = await roles.api.allocatedBytes()
      const executorBefore = await roles.executor.allocatedBytes()
      const jobs = await fullRun()
      const ofApi = (await roles.api.allocatedBytes()) - apiBefore
      const ofExecutor = (await roles.executor.allocatedBytes()) - executorBefore
      bench.measured.add('api_allocated_bytes_per_job', PUNCTUAL, ofApi / jobs)
      bench.measured.add('executor_allocated_bytes_per_job', PUNCTUAL, ofExecutor / jobs)
    }
  })
}
