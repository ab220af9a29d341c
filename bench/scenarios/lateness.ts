import type { Contender, Stand } from '../contenders/contender.ts'
import { runPushPlan } from '../harness/load.ts'
import type { Target } from '../harness/nginx-target.ts'
import { percentile, spreadOf } from '../report/statistics.ts'
import { workOptions } from './life.ts'
import { attempt, contendersOf, isRepeated, runsOf, withStand, type Bench } from './scenario.ts'

/** Long enough that every push is accepted before its time, even on a busy machine. */
const LEAD_MS = 2_000
const WARM_UP_SECONDS = 1
const CONNECTIONS = 64
const SETTLE_WITHIN_MS = 60_000

/** Arrival at the target − due time, at half of the contender's own end-to-end rate in this run. */
export async function measureLateness(bench: Bench): Promise<void> {
  for (const run of runsOf(bench, 'lateness')) {
    for (const contender of contendersOf(bench, 'lateness')) {
      if (!isRepeated(bench, contender)) continue
      const rates = bench.measured.valuesOf('end_to_end_jobs_per_second', contender.name)
      if (rates.length === 0) continue
      const perSecond = Math.max(1, Math.floor(spreadOf(rates).median / 2))
      await attempt(bench, `lateness at ${perSecond} jobs/s`, contender, () =>
        withStand(bench, contender, async (stand, target) => {
          await stand.startWork(workOptions(bench, contender))
          await stand.startIntake()
          await arrivalsAt(stand, target, { perSecond, seconds: WARM_UP_SECONDS })
          const seen = await arrivalsAt(stand, target, { perSecond, seconds: bench.sizes.latenessSeconds })
          note(bench, contender, { run, perSecond, ...seen })
        }),
      )
    }
  }
}

/** Pushes at a pace; answers how late each call was, and how many pushes were only accepted past their due time. */
async function arrivalsAt(
  stand: Stand,
  target: Target,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<{ lateness: number[]; acceptedLate: number }> {
  const count = perSecond * seconds
  const before = await target.count()
  const plan = stand.pacedPlan(new URL(target.url).origin)
  const pace = { queues: 1, connections: CONNECTIONS, dueInMs: LEAD_MS, count, perSecond }
  const { acceptedLate } = await runPushPlan({ ...plan, ...pace }, seconds * 1000 + SETTLE_WITHIN_MS)
  await target.watch(before, count, SETTLE_WITHIN_MS)
  const arrivals = await target.takeArrivals()
  return { lateness: arrivals.map(({ dueMs, arrivedMs }) => arrivedMs - dueMs), acceptedLate }
}

function note(
  bench: Bench,
  { name }: Contender,
  seen: { run: number; perSecond: number; lateness: number[]; acceptedLate: number },
): void {
  // A call before its time is as wrong as one after it: else the earliest would be the best.
  const off = seen.lateness.map(Math.abs)
  bench.measured.add('lateness_p50_ms', name, percentile(off, 0.5))
  bench.measured.add('lateness_p99_ms', name, percentile(off, 0.99))
  const early = seen.lateness.filter((ms) => ms < 0).length
  bench.notes.push(
    `lateness run ${seen.run}, ${name}: ${seen.lateness.length} calls at ${seen.perSecond} jobs/s, ${early} before their time; ${seen.acceptedLate} pushes accepted only after theirs`,
  )
}
