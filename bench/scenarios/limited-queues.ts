import { PUNCTUAL } from '../report/figures.ts'
import { QUEUE_LIMIT } from '../sizes.ts'
import { rateOf, untilAtRest } from './life.ts'
import { attempt, concurrencyOf, contendersOf, turnsOf, withStand, type Bench } from './scenario.ts'

const DRAIN_WITHIN_MS = 180_000

/** Many queues that may each have four calls open, all full at the start. */
export async function measureLimitedQueues(bench: Bench): Promise<void> {
  const { limitedQueues, limitedJobs } = bench.sizes
  for (const { contender } of turnsOf(bench, 'limited', contendersOf(bench, 'limited'))) {
    await attempt(bench, 'limited queues', contender, () =>
      withStand(bench, contender, async (stand, target) => {
        await stand.startIntake()
        await stand.makeLimitedQueues(limitedQueues, QUEUE_LIMIT)
        await stand.fill({
          count: limitedJobs,
          queues: limitedQueues,
          delaySeconds: 0,
          targetUrl: target.url,
        })
        const watching = target.watch(0, limitedJobs, DRAIN_WITHIN_MS)
        const isPunctual = contender.name === PUNCTUAL
        const concurrency = isPunctual ? concurrencyOf(bench, contender) : QUEUE_LIMIT
        await stand.startWork({ concurrency, queues: limitedQueues, keepsHistory: false })
        bench.measured.add('limited_queues_jobs_per_second', contender.name, rateOf(await watching))
        await untilAtRest(stand)
      }),
    )
  }
}
