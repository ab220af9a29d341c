import type { Contender, Stand } from '../contenders/contender.ts'
import { BenchError } from '../harness/bench-error.ts'
import type { Target } from '../harness/nginx-target.ts'
import { waitUntil } from '../harness/waiting.ts'
import { runWrk, type HttpLoad } from '../harness/wrk.ts'
import { steadyRate, type CountSample } from '../report/statistics.ts'
import { attempt, concurrencyOf, turnsOf, withStand, type Bench } from './scenario.ts'

/** Start-up and the last stragglers are no part of a rate. */
const STEADY = { from: 0.2, to: 0.9 }
const DRAIN_WITHIN_MS = 180_000
const DELAYED_SECONDS = 3_600

/** Taking in alone, calling alone, both at once; and what a job's life costs its store and the contender's programs. */
export async function measureLife(bench: Bench): Promise<void> {
  for (const { contender } of turnsOf(bench, 'life', bench.contenders)) {
    await attempt(bench, 'life of a job', contender, () =>
      withStand(bench, contender, (stand, target) =>
        contender.isSplit
          ? splitLife(bench, contender, stand, target)
          : joinedLife(bench, contender, stand, target),
      ),
    )
  }
}

async function splitLife(bench: Bench, contender: Contender, stand: Stand, target: Target): Promise<void> {
  const { measured, sizes } = bench
  await stand.startIntake()
  await warmUp(stand.load(target.url, DELAYED_SECONDS))
  const cpuBefore = await stand.store.cpuSeconds()
  const accepted = await push(stand.load(target.url, 0), sizes.acceptSeconds)
  measured.add('accepted_jobs_per_second', contender.name, accepted.perSecond)

  const watching = target.watch(0, accepted.count, DRAIN_WITHIN_MS)
  await stand.startWork(workOptions(bench, contender))
  const samples = await watching
  measured.add('executed_jobs_per_second', contender.name, rateOf(samples))
  await untilAtRest(stand)
  const jobs = samples.at(-1)?.count ?? 0
  const storeSeconds = (await stand.store.cpuSeconds()) - cpuBefore
  measured.add('datastore_cpu_us_per_job', contender.name, (storeSeconds * 1e6) / jobs)

  const clientBefore = stand.cpuSeconds()
  const life = await endToEnd(stand, target, sizes.endToEndSeconds)
  measured.add('end_to_end_jobs_per_second', contender.name, life.perSecond)
  measured.add(
    'client_cpu_us_per_job',
    contender.name,
    ((stand.cpuSeconds() - clientBefore) * 1e6) / life.jobs,
  )
}

/** One process does both: taking in is measured with jobs of later, calling by what follows the last push. */
async function joinedLife(bench: Bench, contender: Contender, stand: Stand, target: Target): Promise<void> {
  const { measured, sizes } = bench
  await stand.startWork(workOptions(bench, contender))
  await warmUp(stand.load(target.url, DELAYED_SECONDS))
  const accepted = await push(stand.load(target.url, DELAYED_SECONDS), sizes.acceptSeconds)
  measured.add('accepted_jobs_per_second', contender.name, accepted.perSecond)

  const storeBefore = await stand.store.cpuSeconds()
  const clientBefore = stand.cpuSeconds()
  const life = await endToEnd(stand, target, sizes.endToEndSeconds)
  const clientSeconds = stand.cpuSeconds() - clientBefore
  const storeSeconds = (await stand.store.cpuSeconds()) - storeBefore
  measured.add('end_to_end_jobs_per_second', contender.name, life.perSecond)
  measured.add('datastore_cpu_us_per_job', contender.name, (storeSeconds * 1e6) / life.jobs)
  measured.add('client_cpu_us_per_job', contender.name, (clientSeconds * 1e6) / life.jobs)
  // Watched from the end of the push on.
  const tail = steadyRate(life.samples, { from: 0, to: 0.9 })
  measured.add('executed_jobs_per_second', contender.name, tail ?? life.perSecond)
}

/** Pushes for so long while jobs are called, then waits for the rest: all of it counts. */
export async function endToEnd(stand: Stand, target: Target, seconds: number) {
  const before = await target.count()
  const startedMs = performance.now()
  const pushed = await push(stand.load(target.url, 0), seconds)
  const samples = await target.watch(before, pushed.count, DRAIN_WITHIN_MS)
  await untilAtRest(stand)
  const last = samples.at(-1)
  if (last === undefined) throw new BenchError('no call came')
  return { jobs: last.count, samples, perSecond: (last.count * 1000) / (last.atMs - startedMs) }
}

export async function warmUp(load: HttpLoad): Promise<void> {
  await push(load, 1)
}

async function push(load: HttpLoad, seconds: number): Promise<{ count: number; perSecond: number }> {
  const answer = await runWrk(load, seconds)
  if (answer.errors > 0) throw new BenchError(`${answer.errors} of ${answer.requests} pushes were refused`)
  return { count: answer.requests, perSecond: answer.requests / answer.seconds }
}

export function rateOf(samples: readonly CountSample[]): number {
  const rate = steadyRate(samples, STEADY)
  if (rate === null) throw new BenchError('too few samples for a rate')
  return rate
}

export async function untilAtRest(stand: Stand): Promise<void> {
  await waitUntil('no call is open', () => stand.isAtRest(), { withinMs: 30_000 })
}

export function workOptions(bench: Bench, contender: Contender) {
  return { concurrency: concurrencyOf(bench, contender), queues: null, keepsHistory: false }
}
