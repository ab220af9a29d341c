import type { Contender, Stand } from '../contenders/contender.ts'
import { BenchError } from '../harness/bench-error.ts'
import { runWrk, type HttpLoad } from '../harness/wrk.ts'
import { spreadOf } from '../report/statistics.ts'
import { attempt, contendersOf, turnsOf, withStand, type Bench } from './scenario.ts'

const BATCH_JOBS = 100
const WARM_UP_SECONDS = 1

interface Costs {
  /** µs of CPU a job, run by run. */
  readonly own: number[]
  readonly store: number[]
}

/** Jobs taken in a second by batches of a hundred, one request each; nothing works them off meanwhile. */
export async function measureBatches(bench: Bench): Promise<void> {
  const costs = new Map<string, Costs>()
  for (const { contender } of turnsOf(bench, 'batches', contendersOf(bench, 'batches'))) {
    const cost = costs.get(contender.name) ?? { own: [], store: [] }
    costs.set(contender.name, cost)
    await attempt(bench, `batches of ${BATCH_JOBS}`, contender, () =>
      withStand(bench, contender, (stand, target) =>
        pushBatches(bench, contender, { stand, url: target.url, cost }),
      ),
    )
  }
  for (const [name, { own, store }] of costs) {
    if (own.length === 0) continue
    bench.notes.push(
      `batches of ${BATCH_JOBS}, ${name}: ${micros(own)} µs of CPU a job, and ${micros(store)} µs of its data store (medians)`,
    )
  }
}

async function pushBatches(
  bench: Bench,
  contender: Contender,
  { stand, url, cost }: { stand: Stand; url: string; cost: Costs },
): Promise<void> {
  await stand.startIntake()
  const load = batchOf(stand.load(url, 0), BATCH_JOBS)
  await checkBatch(load)
  await runWrk(load, WARM_UP_SECONDS)
  const ownBefore = stand.cpuSeconds()
  const storeBefore = await stand.store.cpuSeconds()
  const { requests, seconds, errors } = await runWrk(load, bench.sizes.acceptSeconds)
  if (errors > 0) throw new BenchError(`${errors} of ${requests} batches were refused`)
  if (requests === 0) throw new BenchError('no batch was answered in time')
  const jobs = requests * BATCH_JOBS
  cost.own.push(((stand.cpuSeconds() - ownBefore) * 1e6) / jobs)
  cost.store.push((((await stand.store.cpuSeconds()) - storeBefore) * 1e6) / jobs)
  await checkBatch(load)
  bench.measured.add('accepted_in_batches_jobs_per_second', contender.name, jobs / seconds)
}

/** A batch is answered by 200 even if its jobs are refused, and wrk reads no bodies. */
async function checkBatch({ url, headers, body }: HttpLoad): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body })
  const { results } = (await answer.json()) as { results?: ReadonlyArray<{ status: number }> }
  const taken = results?.filter(({ status }) => status === 201).length ?? 0
  if (taken !== BATCH_JOBS) throw new BenchError(`a batch was taken in part: ${taken} of ${BATCH_JOBS} jobs`)
}

/** The same push so many times in one request. */
export function batchOf({ url, headers, body }: HttpLoad, jobs: number): HttpLoad {
  const all = Array.from({ length: jobs }, () => body).join(',')
  return { url: `${url}/batch`, headers, body: `{"jobs":[${all}]}` }
}

function micros(values: readonly number[]): string {
  return spreadOf(values).median.toFixed(1)
}
