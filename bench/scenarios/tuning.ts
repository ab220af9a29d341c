import { steadyRate } from '../report/statistics.ts'
import { attempt, withStand, type Bench } from './scenario.ts'

const JOBS = 20_000
const DRAIN_WITHIN_MS = 120_000

/** Finds the concurrency at which BullMQ executes most jobs a second: it is to run at its best. */
export async function tunePeers(bench: Bench): Promise<void> {
  const candidates = bench.sizes.peerConcurrency
  for (const contender of bench.contenders) {
    if (contender.name === 'quirrel') bench.concurrencyOf.set(contender.name, 100)
    if (!contender.name.startsWith('bullmq')) continue
    bench.concurrencyOf.set(contender.name, candidates[0] ?? 64)
    if (candidates.length === 1) continue
    let best = 0
    for (const concurrency of candidates) {
      await attempt(bench, `tuning, concurrency ${concurrency}`, contender, () =>
        withStand(bench, contender, async (stand, target) => {
          await stand.fill({ count: JOBS, queues: null, delaySeconds: 0, targetUrl: target.url })
          const watching = target.watch(0, JOBS, DRAIN_WITHIN_MS)
          await stand.startWork({ concurrency, queues: null, keepsHistory: false })
          const rate = steadyRate(await watching, { from: 0.2, to: 0.9 }) ?? 0
          if (rate <= best) return
          best = rate
          bench.concurrencyOf.set(contender.name, concurrency)
        }),
      )
    }
  }
}
