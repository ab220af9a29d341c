/**
 * How long a page of a list by time takes with many finished chains in many queues, at rest: the first page, one after
 * it and the tenth. `node bench/newest.ts [chains] [queues] [requests]`, with a Redis of its own. The chains are written
 * as the steps write them, without the steps.
 */
import { ANY_JOB, type JobFilter } from '../src/domain/jobs/job-filter.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { JobStore } from '../src/ports/jobs.ts'
import { shardOfQueue } from '../src/redis/base/engine/engine.ts'
import { sealHistory } from '../src/redis/jobs/history/sealer.ts'
import { createJobStore } from '../src/redis/jobs/job-store.ts'
import { runMain } from './harness/main-run.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { SPAN_MS, writeChains } from './load/finished-chains.ts'
import { percentile } from './report/statistics.ts'

const TEAM = 'default'
const PAGE = 100
const PAGES = 10

const [chains = '1000000', queues = '1000', requests = '100'] = process.argv.slice(2)
await runMain(() => withStand((stand) => measure(stand, Number(chains), Number(queues))))

async function measure({ redis, engine, compiler }: Stand, count: number, queueCount: number): Promise<void> {
  const each = Math.ceil(count / queueCount)
  const startMs = Date.now() - SPAN_MS
  for (let i = 0; i < queueCount; i += 1) {
    const queue = `bench-${String(i).padStart(5, '0')}`
    await compiler.applyQueue(TEAM, queue, DEFAULT_QUEUE_SETTINGS)
    // The queues end their jobs between those of the others.
    const shifted = startMs + Math.floor((SPAN_MS * i) / (each * queueCount))
    const plan = { team: TEAM, queue, count: each, startMs: shifted, first: i * each }
    const localId = await writeChains(engine, redis, plan)
    const keys = shardOfQueue(engine, TEAM, queue)
    let more: number | null
    do more = await sealHistory(engine, keys, localId)
    while (more !== null && more > 0)
  }
  tell('queues', queueCount)
  tell('finished chains', each * queueCount)
  await redis.client.config('SET', 'slowlog-log-slower-than', '10000')
  await redis.client.slowlog('RESET')
  const store = createJobStore(engine)
  await time(store, 'status completed', { status: 'completed' })
  await time(store, 'status failed, one of a thousand', { status: 'failed' })
  await time(store, 'a host of 10', { host: 'h3.example.com' })
  const slow = (await redis.client.slowlog('GET', 128)) as Array<[number, number, number, string[]]>
  const micros = slow.flatMap(([, , us, [name]]) => (name === 'CONFIG' ? [] : [us]))
  tell('commands over 10 ms', micros.length)
  tell('the slowest of them, ms', Math.max(0, ...micros) / 1_000)
}

async function time(store: JobStore, name: string, filter: Partial<JobFilter>): Promise<void> {
  const times: number[][] = Array.from({ length: PAGES }, () => [])
  const found: number[] = []
  for (let i = 0; i < Number(requests); i += 1) {
    let cursor: string | null = null
    // Later pages take longer, and fewer figures of them will do.
    const pages = i % 5 === 0 ? PAGES : 1
    for (let page = 0; page < pages; page += 1) {
      const startedAt = performance.now()
      const answer = await store.list({
        team: TEAM,
        filter: { ...ANY_JOB, ...filter },
        queues: null,
        limit: PAGE,
        cursor,
        ...(cursor === null && { order: 'newest' }),
      })
      if (typeof answer === 'string') throw new Error(`a list was answered with ${answer}`)
      times[page]?.push(performance.now() - startedAt)
      if (page === 0) found.push(answer.jobs.length)
      cursor = answer.nextCursor
      if (cursor === null) break
    }
  }
  for (const page of [0, 1, PAGES - 1]) {
    const of = times[page] ?? []
    if (of.length === 0) continue
    const at = (part: number) => percentile(of, part).toFixed(1)
    tell(`${name}, page ${page + 1}`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
  }
  tell(`${name}, jobs on the first page`, found.reduce((sum, jobs) => sum + jobs, 0) / found.length)
}
