import { startTarget } from '../harness/nginx-target.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'
import { fill, openConnection, openScaleEngine } from './filling.ts'
import type { ScaleRun } from './measurement.ts'
import { startPrimaries, type RedisNode } from './redis-node.ts'
import { Roles } from './roles.ts'

const PRIMARIES = [1, 2, 3]
/** As many for each number of primaries, so that only the number of servers differs. */
const SHARDS = 12
const TEAMS = 8
const QUEUES = 96
const CONCURRENCY = 300
const DONE_WITHIN_MS = 900_000
const IDLE_SECONDS = 5

/** The same jobs on a Cluster of 1, 2 and 3 primaries: what a job costs each of them. */
export async function measurePrimaries(run: ScaleRun): Promise<void> {
  for (const count of PRIMARIES) await measureCluster(run, count)
}

async function measureCluster(run: ScaleRun, count: number): Promise<void> {
  const nodes = await startPrimaries(run.folder, count)
  const url = nodes[0]?.url ?? ''
  const target = await startTarget(run.folder)
  const connection = await openConnection(url)
  const roles = new Roles({ folder: run.folder, redisUrl: url, shards: SHARDS })
  try {
    const engine = await openScaleEngine(connection, SHARDS)
    const filling = { queues: QUEUES, teams: TEAMS, url: target.url }
    await fill(engine, { ...filling, count: QUEUES })
    const before = cpuOf(nodes)
    const { seconds } = await fill(engine, { ...filling, count: run.size })
    const of = count === 1 ? '1 primary' : `${count} primaries`
    run.record(`${of}: stored a second`, 'jobs/s', run.size / seconds)
    const stored = cpuOf(nodes)
    tell(run, `${of}: CPU of Redis to store a job`, before, stored)
    await roles.startExecutor(CONCURRENCY)
    const [from, working] = [await target.count(), cpuOf(nodes)]
    const began = performance.now()
    const all = run.size + QUEUES
    await waitUntil('all are called', async () => (await target.count()) >= all, {
      withinMs: DONE_WITHIN_MS,
      everyMs: 50,
    })
    run.record(`${of}: called a second`, 'jobs/s', ((all - from) / (performance.now() - began)) * 1000)
    await sleep(1_000)
    const done = cpuOf(nodes)
    tell(run, `${of}: CPU of Redis to claim and finish a job`, working, done, all - from)
    const total = sum(stored) - sum(before) + ((sum(done) - sum(working)) * run.size) / (all - from)
    run.record(`${of}: CPU of all Redis of a job`, 'µs', (total * 1e6) / run.size)
    const most = Math.max(
      ...nodes.map((_, i) => (stored[i] ?? 0) - (before[i] ?? 0) + (done[i] ?? 0) - (working[i] ?? 0)),
    )
    run.record(`${of}: CPU of the busiest, for a job of all`, 'µs', (most * 1e6) / run.size)
    await sleep(2_000)
    const idle = cpuOf(nodes)
    await sleep(IDLE_SECONDS * 1000)
    const atRest = (sum(cpuOf(nodes)) - sum(idle)) / IDLE_SECONDS
    run.record(`${of}: CPU of all Redis at rest, one executor`, '%', atRest * 100)
  } finally {
    await roles.stop()
    connection.disconnect()
    await Promise.all(nodes.map((node) => node.stop()))
    await target.stop()
  }
}

function cpuOf(nodes: readonly RedisNode[]): number[] {
  return nodes.map((node) => node.cpuSeconds())
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** What each primary took, for a job of all. */
function tell(
  run: ScaleRun,
  what: string,
  before: readonly number[],
  after: readonly number[],
  jobs = run.size,
): void {
  const each = after.map((seconds, i) => (((seconds - (before[i] ?? 0)) * 1e6) / jobs).toFixed(1))
  run.say(`${what}, of each: ${each.join(', ')} µs`)
}
