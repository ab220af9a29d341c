import type { Contender } from '../contenders/contender.ts'
import { steadyRate } from '../report/statistics.ts'
import { attempt, withStand, type Bench } from './scenario.ts'

const JOBS = 12_000
const DRAIN_WITHIN_MS = 120_000
/** Its own default. */
const QUIRREL_CONCURRENCY = 100

/** Finds the calls at once at which each contender executes most jobs a second: all are to run at their best. */
export async function tuneContenders(bench: Bench): Promise<void> {
  const candidates = bench.sizes.concurrency
  for (const contender of bench.contenders) {
    if (!contender.isSplit) bench.concurrencyOf.set(contender.name, QUIRREL_CONCURRENCY)
    else if (candidates.length === 1) bench.concurrencyOf.set(contender.name, candidates[0] as number)
    else await tune(bench, contender, candidates)
  }
}

async function tune(bench: Bench, contender: Contender, candidates: readonly number[]): Promise<void> {
  let best = 0
  for (const concurrency of candidates) {
    await attempt(bench, `tuning, ${concurrency} calls at once`, contender, () =>
      withStand(bench, contender, async (stand, target) => {
        await stand.startIntake()
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
