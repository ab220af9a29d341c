import { BenchError, messageOf } from '../harness/bench-error.ts'
import { startHangingTarget } from '../harness/hanging-target.ts'
import { waitUntil } from '../harness/waiting.ts'
import { attempt, contendersOf, withStand, type Bench } from './scenario.ts'

/** Punctual opens at most 1,024 connections to one origin. */
const CALLS_PER_ORIGIN = 1_000
const OPEN_WITHIN_MS = 30_000

/** Memory of the process that holds so many calls open. */
export async function measureOpenCalls(bench: Bench): Promise<void> {
  const count = bench.sizes.openCalls
  bench.say(`${count} open calls`)
  for (const contender of contendersOf(bench, 'calls')) {
    await attempt(bench, 'open calls', contender, () =>
      withStand(bench, contender, async (stand) => {
        const hanging = await startHangingTarget(bench.folder, Math.ceil(count / CALLS_PER_ORIGIN))
        try {
          await stand.startIntake()
          for (const origin of hanging.origins) {
            const share = Math.min(CALLS_PER_ORIGIN, count)
            await stand.fill({ count: share, queues: null, delaySeconds: 0, targetUrl: `${origin}/call` })
          }
          const program = await stand.startWork({ concurrency: count, queues: null, keepsHistory: false })
          let most = 0
          await waitUntil(
            `${count} open calls`,
            async () => {
              most = Math.max(most, (await hanging.state()).open)
              return most >= count
            },
            { withinMs: OPEN_WITHIN_MS, everyMs: 100 },
          ).catch((error: unknown) => {
            throw new BenchError(`${messageOf(error)}; the most at once was ${most}`)
          })
          bench.measured.add('rss_mib_10000_calls', contender.name, program.rssMib())
        } finally {
          await hanging.stop()
        }
      }),
    )
  }
}
