import { redisOf, type Contender, type Stand } from '../contenders/contender.ts'
import { PUNCTUAL, type FigureName } from '../report/figures.ts'
import { untilAtRest } from './life.ts'
import { attempt, concurrencyOf, contendersOf, withStand, type Bench } from './scenario.ts'

/**
 * Punctual keeps 10,000 finished jobs a queue, so they are spread, as all are to be kept. A peer keeps any number of
 * one queue, and is smallest there.
 */
const FINISHED_QUEUES = 16
const DELAYED_SECONDS = 3_600
const DRAIN_WITHIN_MS = 180_000
const DETAIL_KEYS = ['punctual:*:c:*', 'punctual:*:cf:*', 'punctual:*:co:*']

/** Bytes of data in Redis per job that waits, is delayed, has finished. The same in every run, so measured once. */
export async function measureMemory(bench: Bench): Promise<void> {
  bench.say(`memory of ${bench.sizes.memoryJobs} jobs`)
  for (const contender of contendersOf(bench, 'memory')) {
    await attempt(bench, 'memory, pending', contender, () =>
      withStand(bench, contender, async (stand, target) => {
        await stand.startIntake()
        await fillAndMeasure(bench, contender, stand, {
          figure: 'bytes_per_delayed_job',
          targetUrl: target.url,
          delaySeconds: DELAYED_SECONDS,
        })
        await fillAndMeasure(bench, contender, stand, {
          figure: 'bytes_per_waiting_job',
          targetUrl: target.url,
          delaySeconds: 0,
        })
      }),
    )
    await attempt(bench, 'memory, finished', contender, () =>
      withStand(bench, contender, (stand, target) => measureFinished(bench, contender, stand, target)),
    )
  }
}

async function fillAndMeasure(
  bench: Bench,
  contender: Contender,
  stand: Stand,
  kind: { figure: FigureName; targetUrl: string; delaySeconds: number },
): Promise<void> {
  const count = bench.sizes.memoryJobs
  const { targetUrl, delaySeconds } = kind
  await stand.fill({ count: 10, queues: null, delaySeconds, targetUrl })
  const before = await redisOf(stand).dataBytes()
  await stand.fill({ count, queues: null, delaySeconds, targetUrl })
  bench.measured.add(kind.figure, contender.name, ((await redisOf(stand).dataBytes()) - before) / count)
}

async function measureFinished(
  bench: Bench,
  contender: Contender,
  stand: Stand,
  target: { readonly url: string; watch(from: number, total: number, withinMs: number): Promise<unknown> },
): Promise<void> {
  const count = bench.sizes.memoryJobs
  const queues = contender.name === PUNCTUAL ? FINISHED_QUEUES : null
  await stand.startIntake()
  await stand.startWork({ concurrency: concurrencyOf(bench, contender), queues, keepsHistory: true })
  await stand.fill({ count: FINISHED_QUEUES, queues, delaySeconds: 0, targetUrl: target.url })
  await target.watch(0, FINISHED_QUEUES, DRAIN_WITHIN_MS)
  const before = await redisOf(stand).dataBytes()
  const detailsBefore = await detailBytes(stand)
  await stand.fill({ count, queues, delaySeconds: 0, targetUrl: target.url })
  await target.watch(0, count + FINISHED_QUEUES, DRAIN_WITHIN_MS)
  await untilAtRest(stand)
  const details = (await detailBytes(stand)) - detailsBefore
  const grown = (await redisOf(stand).dataBytes()) - before
  bench.measured.add('bytes_per_finished_job', contender.name, (grown - details) / count)
  if (contender.name === PUNCTUAL) {
    bench.notes.push(
      `details of calls, kept apart from the finished jobs: ${(details / 1024 / 1024).toFixed(1)} MiB`,
    )
  }
}

async function detailBytes(stand: Stand): Promise<number> {
  let bytes = 0
  for (const pattern of DETAIL_KEYS) bytes += await redisOf(stand).bytesOfKeys(pattern)
  return bytes
}
