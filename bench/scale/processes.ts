import { join } from 'node:path'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/domain/jobs/queue-settings.ts'
import { createQueueStore } from '../../src/redis/jobs/queues/queue-store.ts'
import { padded } from '../contenders/contender.ts'
import { pushUntilAccepted } from '../harness/load.ts'
import { startTarget } from '../harness/nginx-target.ts'
import { freePort } from '../harness/ports.ts'
import { startProgram, untilReady, type Program } from '../harness/processes.ts'
import { waitUntil } from '../harness/waiting.ts'
import type { CallCounts } from './counted-calls.ts'
import { openConnection, openScaleEngine } from './filling.ts'
import type { ScaleRun } from './measurement.ts'
import { RedisNode } from './redis-node.ts'
import { Roles } from './roles.ts'

const PROCESS = join(import.meta.dirname, 'limit-target-process.ts')
const SHARDS = 4
const APIS = 4
const EXECUTORS_PER_API = 2
const CONCURRENCY = 50
const CONNECTIONS_PER_API = 16
const FREE_QUEUES = 16
const LIMITED_QUEUES = 100
const LIMIT = 4
const CALL_MS = 200
const DONE_WITHIN_MS = 900_000

interface Api {
  readonly url: string
  readonly headers: Record<string, string>
}

/** Four APIs and eight executors as processes: so many jobs without limits, and a fifth of them under limits. */
export async function measureProcesses(run: ScaleRun): Promise<void> {
  const redis = await RedisNode.start(run.folder)
  const connection = await openConnection(redis.url)
  const roles = new Roles({ folder: run.folder, redisUrl: redis.url, shards: SHARDS })
  try {
    const engine = await openScaleEngine(connection, SHARDS)
    const store = createQueueStore(engine)
    const apis: Api[] = []
    while (apis.length < APIS) apis.push(await roles.startApi())
    const setFree = async (isActive: boolean): Promise<void> => {
      for (let i = 0; i < FREE_QUEUES; i += 1) {
        await store.apply('default', `free${i}`, { ...DEFAULT_QUEUE_SETTINGS, isActive })
      }
    }
    // Paused until the executors run, so that none has a lead.
    await setFree(false)
    await measureRates(run, { redis, roles, apis, setFree })
    for (let i = 0; i < LIMITED_QUEUES; i += 1) {
      await store.apply('default', `limited${i}`, { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: LIMIT })
    }
    await measureLimit(run, apis)
  } finally {
    await roles.stop()
    connection.disconnect()
    await redis.stop()
  }
}

async function measureRates(
  run: ScaleRun,
  {
    redis,
    roles,
    apis,
    setFree,
  }: {
    redis: RedisNode
    roles: Roles
    apis: readonly Api[]
    setFree(isActive: boolean): Promise<void>
  },
): Promise<void> {
  const target = await startTarget(run.folder)
  try {
    const beforePush = { own: roles.cpuSeconds(), redis: redis.cpuSeconds(), atMs: performance.now() }
    await pushAll(apis, { queue: 'free{queue}', url: target.url, count: run.size, queues: FREE_QUEUES })
    const pushSeconds = (performance.now() - beforePush.atMs) / 1000
    run.record('pushed a second, to 4 APIs', 'jobs/s', run.size / pushSeconds)
    const micros = (seconds: number): number => (seconds * 1e6) / run.size
    run.record('CPU of the APIs of a push', 'µs', micros(roles.cpuSeconds() - beforePush.own))
    run.record('CPU of Redis of a push', 'µs', micros(redis.cpuSeconds() - beforePush.redis))
    for (let i = 0; i < APIS * EXECUTORS_PER_API; i += 1) await roles.startExecutor(CONCURRENCY)
    const before = { own: roles.cpuSeconds(), redis: redis.cpuSeconds(), atMs: performance.now() }
    await setFree(true)
    await waitUntil('all are called', async () => (await target.count()) >= run.size, {
      withinMs: DONE_WITHIN_MS,
      everyMs: 50,
    })
    const seconds = (performance.now() - before.atMs) / 1000
    const perJob = (of: number): number => (of * 1e6) / run.size
    run.record('called a second, by 8 executors', 'jobs/s', run.size / seconds)
    run.record('CPU of the executors of a job', 'µs', perJob(roles.cpuSeconds() - before.own))
    run.record('CPU of Redis of a job that is called', 'µs', perJob(redis.cpuSeconds() - before.redis))
  } finally {
    await target.stop()
  }
}

/** Calls that take a while, so that each limit is reached. */
async function measureLimit(run: ScaleRun, apis: readonly Api[]): Promise<void> {
  const jobs = Math.ceil(run.size / 5)
  const target = await startLimitTarget(run.folder)
  try {
    const began = performance.now()
    const url = `${target.origin}/q{queue}`
    await pushAll(apis, { queue: 'limited{queue}', url, count: jobs, queues: LIMITED_QUEUES })
    await waitUntil('all calls have ended', async () => (await target.state()).ended >= jobs, {
      withinMs: DONE_WITHIN_MS,
      everyMs: 100,
    })
    const { most, full } = await target.state()
    const atMost = (LIMITED_QUEUES * LIMIT * 1000) / CALL_MS
    run.record(`called a second under limits that allow ${atMost}`, 'jobs/s', rateOf(jobs, began))
    run.record(`queues that had ${most} calls open at once`, '', full)
    run.record('most calls open at once of a queue', '', most, LIMIT)
  } finally {
    await target.program.stop()
  }
}

function rateOf(jobs: number, beganMs: number): number {
  return (jobs / (performance.now() - beganMs)) * 1000
}

/** An equal part to each API, all at the same time. */
async function pushAll(
  apis: readonly Api[],
  { queue, url, count, queues }: { queue: string; url: string; count: number; queues: number },
): Promise<void> {
  const body = padded({ queue, url })
  const each = Math.ceil(count / apis.length)
  const plans = apis.map((api, i) => ({
    url: api.url,
    headers: api.headers,
    body,
    queues,
    connections: CONNECTIONS_PER_API,
    count: Math.min(each, count - i * each),
    perSecond: null,
    dueInMs: 0,
  }))
  await Promise.all(plans.map((plan) => pushUntilAccepted(plan, DONE_WITHIN_MS)))
}

async function startLimitTarget(
  folder: string,
): Promise<{ program: Program; origin: string; state(): Promise<CallCounts> }> {
  const port = await freePort()
  const program = startProgram({
    name: 'limit-target',
    command: process.execPath,
    args: [PROCESS, JSON.stringify({ port, callMs: CALL_MS })],
    folder,
  })
  const origin = `http://127.0.0.1:${port}`
  const state = async () => (await (await fetch(`${origin}/state`)).json()) as CallCounts
  const answers = (): Promise<boolean> =>
    state().then(
      () => true,
      () => false,
    )
  await untilReady(program, answers)
  return { program, origin, state }
}
