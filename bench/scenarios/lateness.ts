import { runPushPlan } from '../harness/load.ts'
import { PUNCTUAL } from '../report/figures.ts'
import { percentile, spreadOf } from '../report/statistics.ts'
import { workOptions } from './life.ts'
import { attempt, runsOf, withStand, type Bench } from './scenario.ts'

const LEAD_MS = 1_000
const CONNECTIONS = 64
const SETTLE_WITHIN_MS = 60_000

/** Arrival at the target − due time, at half of the contender's own end-to-end rate in this run. */
export async function measureLateness(bench: Bench): Promise<void> {
  const { latenessPeers, latenessSeconds } = bench.sizes
  const contenders = bench.contenders.filter(({ name }) => name === PUNCTUAL || latenessPeers.includes(name))
  for (const run of runsOf(bench, 'lateness')) {
    for (const contender of contenders) {
      const rates = bench.measured.valuesOf('end_to_end_jobs_per_second', contender.name)
      if (rates.length === 0) continue
      const perSecond = Math.floor(spreadOf(rates).median / 2)
      const count = Math.max(1, perSecond * latenessSeconds)
      await attempt(bench, `lateness at ${perSecond} jobs/s`, contender, () =>
        withStand(bench, contender, async (stand, target) => {
          await stand.startWork(workOptions(bench, contender))
          await stand.startIntake()
          const plan = stand.pacedPlan(new URL(target.url).origin)
          const pace = { queues: 1, connections: CONNECTIONS, dueInMs: LEAD_MS }
          await runPushPlan({ ...plan, ...pace, count, perSecond }, latenessSeconds * 1000 + SETTLE_WITHIN_MS)
          await target.watch(0, count, SETTLE_WITHIN_MS)
          const lateness = (await target.takeArrivals()).map(({ dueMs, arrivedMs }) => arrivedMs - dueMs)
          bench.measured.add('lateness_p50_ms', contender.name, percentile(lateness, 0.5))
          bench.measured.add('lateness_p99_ms', contender.name, percentile(lateness, 0.99))
          const early = lateness.filter((ms) => ms < 0).length
          bench.notes.push(
            `lateness run ${run}, ${contender.name}: ${lateness.length} calls at ${perSecond} jobs/s, ${early} before their time`,
          )
        }),
      )
    }
  }
}
