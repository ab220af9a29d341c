/**
 * How long a page of a list takes with many finished chains in one queue, by each filter, at rest and while jobs run in the
 * same queue, some a second or as many as one executor runs. At rest it also tells the CPU time that a page takes. `node bench/search.ts [chains] [requests]`, with a Redis, a target and one executor of its own. The chains
 * are written as the steps write them, without the steps; then they are sealed by the product.
 */
import { ANY_JOB, type JobFilter } from '../src/domain/jobs/job-filter.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { JobStore } from '../src/ports/jobs.ts'
import { lookAtHistory } from '../src/redis/jobs/history/history-reads.ts'
import { sealHistory } from '../src/redis/jobs/history/sealer.ts'
import { createJobStore } from '../src/redis/jobs/job-store.ts'
import { shardOfQueue } from '../src/redis/base/engine/engine.ts'
import { newJob } from '../test/support/engine/engine.ts'
import { runMain } from './harness/main-run.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { sleep } from './harness/waiting.ts'
import { percentile } from './report/statistics.ts'
import { RARE_HOSTS, SPAN_MS, writeChains } from './load/finished-chains.ts'

const TEAM = 'default'
const QUEUE = 'bench'
/** Jobs that are open while as many run as can. */
const OPEN_MAX = 500
/** A moderate load, jobs a second. */
const MODERATE_RATE = 500
const PUSHED_EVERY_MS = 10
const PAGE = 100

const [chains = '1000000', requests = '200'] = process.argv.slice(2)
await runMain(() => withStand((stand) => measure(stand, Number(chains))))

async function measure(stand: Stand, count: number): Promise<void> {
  const { redis, engine, compiler } = stand
  const target = await stand.startTarget()
  await compiler.applyQueue(TEAM, QUEUE, DEFAULT_QUEUE_SETTINGS)
  const startMs = Date.now() - SPAN_MS
  const emptyBytes = await redis.dataBytes()
  const localId = await writeChains(engine, redis, { team: TEAM, queue: QUEUE, count, startMs })
  const writtenBytes = await redis.dataBytes()
  const keys = shardOfQueue(engine, TEAM, QUEUE)
  let sealed = 0
  for (;;) {
    const more = await sealHistory(engine, keys, localId)
    if (more === null || more === 0) break
    sealed += more
  }
  tell('finished chains', count)
  tell('blocks', sealed)
  tell('bytes a chain without blocks', (writtenBytes - emptyBytes) / count)
  tell('bytes a chain of blocks', ((await redis.dataBytes()) - writtenBytes) / count)
  const filters = filtersFor(count, startMs)
  await redis.client.config('SET', 'slowlog-log-slower-than', '10000')
  await redis.client.slowlog('RESET')
  await timeAll('at rest', { engine, redis, filters, tellsCpu: true })
  await stand.start('executor')
  for (const rate of [MODERATE_RATE, Number.POSITIVE_INFINITY]) {
    const when = rate === MODERATE_RATE ? `with ${rate} jobs/s` : 'with all jobs that run'
    const load = pushOn(stand, { localId, url: target.url, rate })
    await timeAll(when, { engine, redis, filters, tellsCpu: false })
    load.stop()
    const { stop, sealedTo } = await lookAtHistory(engine, { keys, localId })
    tell(`${when}, chains at the end`, stop)
    tell(`${when}, chains that no block had yet`, stop - sealedTo)
    tell(`${when}, jobs pushed a second`, load.perSecond())
  }
  const slow = (await redis.client.slowlog('GET', 128)) as Array<[number, number, number, string[]]>
  const micros = slow.flatMap(([, , us, [name]]) => (name === 'CONFIG' ? [] : [us]))
  tell('commands over 10 ms', micros.length)
  tell('the slowest of them, ms', Math.max(0, ...micros) / 1_000)
}

type Filters = ReadonlyArray<readonly [name: string, filterOf: (request: number) => Partial<JobFilter>]>

function filtersFor(count: number, startMs: number): Filters {
  const at = (part: number) => startMs + Math.floor(SPAN_MS * part)
  return [
    ['none', () => ({})],
    ['status completed', () => ({ status: 'completed' })],
    ['final status', () => ({ finalStatus: 'failed_no_retries' })],
    ['failure reason', () => ({ failureReason: 'timeout' })],
    ['response status', () => ({ responseStatus: 503 })],
    ['a host of 10', (i) => ({ host: `h${i % 10}.example.com` })],
    ['a host of a few', (i) => ({ host: `rare${((i * 7) % RARE_HOSTS) + 1}.example.com` })],
    ['a tag of its own', (i) => ({ tag: { name: 'order', value: String((i * 7_919) % count) } })],
    ['a tag of nobody', (i) => ({ tag: { name: 'order', value: `none-${i}` } })],
    ['a second of the end', (i) => ({ ended: { afterMs: at(i / 500), beforeMs: at(i / 500) + 1_000 } })],
    [
      'a second of the creation',
      (i) => ({ created: { afterMs: at(i / 500), beforeMs: at(i / 500) + 1_000 } }),
    ],
    ['text, looked through', (i) => ({ text: `none-${i}` })],
  ]
}

interface Timing {
  readonly engine: Stand['engine']
  readonly redis: Stand['redis']
  readonly filters: Filters
  /** Only at rest: this process pushes the load. */
  readonly tellsCpu: boolean
}

async function timeAll(when: string, { engine, redis, filters, tellsCpu }: Timing): Promise<void> {
  const store = createJobStore(engine)
  for (const [name, filterOf] of filters) {
    const times: number[] = []
    let [found, searched] = [0, 0]
    const redisBefore = await redis.cpuSeconds()
    const ownBefore = process.cpuUsage()
    for (let i = 0; i < Number(requests); i += 1) {
      const startedAt = performance.now()
      const page = await pageOf(store, { ...ANY_JOB, queue: QUEUE, ...filterOf(i) })
      times.push(performance.now() - startedAt)
      found += page.jobs.length
      searched += page.searched ?? 0
    }
    const own = process.cpuUsage(ownBefore)
    const ownMs = (own.user + own.system) / 1_000 / times.length
    const redisMs = (((await redis.cpuSeconds()) - redisBefore) * 1_000) / times.length
    const at = (part: number) => percentile(times, part).toFixed(1)
    const means = `${found / times.length} jobs of ${searched / times.length} searched`
    const cpu = tellsCpu ? `, CPU ${redisMs.toFixed(1)} ms of Redis, ${ownMs.toFixed(1)} ms here` : ''
    tell(`${when}, ${name}`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${means}${cpu}`)
  }
}

async function pageOf(store: JobStore, filter: JobFilter) {
  const page = await store.list({ team: TEAM, filter, queues: null, limit: PAGE, cursor: null })
  if (typeof page === 'string') throw new Error(`a list was answered with ${page}`)
  return page
}

interface Load {
  readonly localId: string
  readonly url: string
  /** Jobs a second; without a limit it keeps OPEN_MAX jobs open. */
  readonly rate: number
}

/** Pushes jobs to the queue until it is stopped. */
function pushOn({ engine, intake, redis: { client } }: Stand, { localId, url, rate }: Load) {
  const job = newJob({ team: TEAM, queue: QUEUE, request: { url, payload: '{"to":"ada"}' } })
  const { records } = shardOfQueue(engine, TEAM, QUEUE).queue(localId)
  const startedAt = performance.now()
  let [pushed, isStopped, endedAt] = [0, false, 0]
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const due = ((performance.now() - startedAt) / 1_000) * rate - pushed
      const room = Math.floor(Math.min(OPEN_MAX - (await client.hlen(records)), due))
      await Promise.allSettled(Array.from({ length: Math.max(0, room) }, () => intake.push(job)))
      pushed += Math.max(0, room)
      await sleep(PUSHED_EVERY_MS)
    }
  }
  void run()
  return {
    stop: () => {
      isStopped = true
      endedAt = performance.now()
    },
    perSecond: () => (pushed / (endedAt - startedAt)) * 1_000,
  }
}
