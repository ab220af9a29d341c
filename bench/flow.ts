/**
 * What keeping to the pace of a target comes to, with real executors and a target that notes each call:
 *
 *     node bench/flow.ts rate [seconds]      one queue at 10, 100 and 1,000 calls a second, three executors
 *     node bench/flow.ts kill [seconds]      the same at 100 a second, while executors are killed
 *     node bench/flow.ts many [queues]       as many queues as given, each at one call a second, and the same without limits
 *     node bench/flow.ts stopped [seconds]   what a queue with 100,000 jobs that may not begin costs another one
 *     node bench/flow.ts breaker [seconds]   a target that answers 503 for so long, with the breaker and without
 *
 * A span of a period counts what begins from one call to just before a period later.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../src/domain/jobs/queue-settings.ts'
import { createJobStore } from '../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../src/redis/jobs/queues/queue-store.ts'
import { newJob } from '../test/support/engine/engine.ts'
import { runMain } from './harness/main-run.ts'
import type { Role } from './harness/roles.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { sleep, waitUntil } from './harness/waiting.ts'

const TEAM = 'default'
const EXECUTORS = 3
const PUSHED_AT_ONCE = 2_000
const [mode = 'rate', given] = process.argv.slice(2)
const MODES: Readonly<Record<string, () => Promise<void>>> = {
  rate: () => rates(Number(given ?? 60)),
  kill: () => kills(Number(given ?? 30)),
  many: () => many(Number(given ?? 1_000)),
  stopped: () => stopped(Number(given ?? 20)),
  breaker: () => breaker(Number(given ?? 120)),
}
await runMain(MODES[mode] ?? (() => Promise.reject(new Error(`no such mode: ${mode}`))))

interface NotingTarget {
  readonly url: string
  /** When each call came, in ms. */
  readonly calls: number[]
  /** What it answers. */
  status: number
  close(): void
}

async function openTarget(): Promise<NotingTarget> {
  const calls: number[] = []
  const server = createServer((request, response) => {
    calls.push(performance.now())
    request.resume()
    response.writeHead(target.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target: NotingTarget = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    calls,
    status: 200,
    close: () => server.close().closeAllConnections(),
  }
  return target
}

function setQueue({ engine }: Stand, queue: string, change: Partial<QueueSettings>) {
  const settings = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false, ...change }
  return createQueueStore(engine).apply(TEAM, queue, settings)
}

async function push(
  { intake }: Stand,
  url: string,
  count: number,
  queueOf: (n: number) => string,
): Promise<number[]> {
  const ids: number[] = []
  for (let begin = 0; begin < count; begin += PUSHED_AT_ONCE) {
    const page = Array.from({ length: Math.min(PUSHED_AT_ONCE, count - begin) }, (_, i) =>
      intake.push(newJob({ team: TEAM, queue: queueOf(begin + i), request: { url } })),
    )
    for (const answer of await Promise.all(page)) {
      if (!('jobId' in answer)) throw new Error(`a push was answered ${answer.status}`)
      ids.push(answer.jobId)
    }
  }
  return ids
}

async function startExecutors(stand: Stand, count: number): Promise<Role[]> {
  const executors = await Promise.all(Array.from({ length: count }, () => stand.start('executor')))
  await Promise.all(executors.map((executor) => executor.untilReady()))
  return executors
}

async function startedTimes({ engine }: Stand, ids: readonly number[]): Promise<number[]> {
  const store = createJobStore(engine)
  const times: number[] = []
  for (let begin = 0; begin < ids.length; begin += 500) {
    const chains = await Promise.all(ids.slice(begin, begin + 500).map((id) => store.get(TEAM, id)))
    for (const chain of chains) times.push(...(chain?.attempts ?? []).map(({ startedAtMs }) => startedAtMs))
  }
  return times.toSorted((a, b) => a - b)
}

/** The most calls within any span. @param times in order */
function mostWithin(times: readonly number[], spanMs: number): number {
  let [most, first] = [0, 0]
  for (const [at, time] of times.entries()) {
    while ((times[first] ?? 0) <= time - spanMs) first += 1
    most = Math.max(most, at - first + 1)
  }
  return most
}

async function measureRate(
  limit: number,
  seconds: number,
  during: (stand: Stand, executors: Role[]) => Promise<void>,
): Promise<void> {
  await withStand(async (stand) => {
    const target = await openTarget()
    await setQueue(stand, 'partner', { rateLimit: { limit, periodSeconds: 1 } })
    const ids = await push(stand, target.url, limit * (seconds + 15), () => 'partner')
    const executors = await startExecutors(stand, EXECUTORS)
    await waitUntil('the first call', () => target.calls.length > 0, { withinMs: 20_000 })
    const [beganMs, before, redisBefore] = [
      performance.now(),
      target.calls.length,
      await stand.redis.cpuSeconds(),
    ]
    await Promise.all([sleep(seconds * 1000), during(stand, executors)])
    const took = (performance.now() - beganMs) / 1000
    const calls = target.calls.length - before
    const redis = ((await stand.redis.cpuSeconds()) - redisBefore) / calls
    for (const { program } of executors) await program.stop()
    const begun = await startedTimes(stand, ids)
    console.log(
      `${limit} a second for ${took.toFixed(1)} s: ${((100 * calls) / (took * limit)).toFixed(1)} % used; ` +
        `at most ${mostWithin(begun, 1000)} began in a second, ${mostWithin(target.calls, 1000)} came to the target; ` +
        `Redis ${(redis * 1e6).toFixed(0)} µs of CPU a job`,
    )
    target.close()
  })
}

async function rates(seconds: number): Promise<void> {
  for (const limit of [10, 100, 1_000]) await measureRate(limit, seconds, () => Promise.resolve())
}

/** Kills an executor every three seconds, and starts another. */
async function kills(seconds: number): Promise<void> {
  await measureRate(100, seconds, async (stand, executors) => {
    for (let at = 3; at < seconds; at += 3) {
      await sleep(3_000)
      const victim = executors.shift()
      if (victim !== undefined) process.kill(victim.program.pid, 'SIGKILL')
      executors.push(await stand.start('executor'))
    }
  })
}

/** As many calls a second as there are queues, of queues with a limit and then of as many without. */
async function many(queues: number): Promise<void> {
  const seconds = 30
  for (const rateLimit of [{ limit: 1, periodSeconds: 1 }, null]) {
    await withStand(async (stand) => {
      const target = await openTarget()
      const nameOf = (n: number) => `q${n % queues}`
      await Promise.all(Array.from({ length: queues }, (_, n) => setQueue(stand, nameOf(n), { rateLimit })))
      if (rateLimit !== null) await push(stand, target.url, queues * (seconds + 15), nameOf)
      await startExecutors(stand, EXECUTORS)
      await sleep(2_000)
      const [beganMs, before, redisBefore] = [
        performance.now(),
        target.calls.length,
        await stand.redis.cpuSeconds(),
      ]
      if (rateLimit === null) {
        // What the limit does for the other, the pushes do here: a job of each queue every second.
        for (let second = 0; second < seconds; second += 1) {
          for (let part = 0; part < 20; part += 1) {
            const from = Math.floor((queues * part) / 20)
            void push(stand, target.url, Math.floor((queues * (part + 1)) / 20) - from, (n) =>
              nameOf(from + n),
            )
            await sleep(Math.max(0, beganMs + second * 1000 + (part + 1) * 50 - performance.now()))
          }
        }
      } else await sleep(seconds * 1000)
      const took = (performance.now() - beganMs) / 1000
      const calls = target.calls.length - before
      const redis = ((await stand.redis.cpuSeconds()) - redisBefore) / calls
      console.log(
        `${queues} queues ${rateLimit === null ? 'without limits, pushed one by one' : 'at one call a second'}: ` +
          `${(calls / took).toFixed(0)} calls a second, Redis ${(redis * 1e6).toFixed(0)} µs of CPU a job`,
      )
      target.close()
    })
  }
}

async function stopped(seconds: number): Promise<void> {
  const rates: Record<string, number[]> = { with: [], without: [] }
  for (let round = 0; round < 3; round += 1) {
    for (const what of ['without', 'with'] as const) {
      await withStand(async (stand) => {
        const target = await openTarget()
        await setQueue(stand, 'stopped', {
          ...(what === 'with' ? { rateLimit: { limit: 1, periodSeconds: 86_400 } } : { isActive: false }),
        })
        await push(stand, target.url, 100_000, () => 'stopped')
        await startExecutors(stand, 1)
        await sleep(2_000)
        const before = await stand.redis.commandsProcessed()
        await sleep(5_000)
        const idle = ((await stand.redis.commandsProcessed()) - before) / 5
        const [beganMs, callsBefore] = [performance.now(), target.calls.length]
        const backlog = 40_000
        await push(stand, target.url, backlog, () => 'other')
        await waitUntil('all are called', () => target.calls.length >= callsBefore + backlog, {
          withinMs: seconds * 10_000,
        })
        const perSecond = (1000 * backlog) / (performance.now() - beganMs)
        rates[what]?.push(perSecond)
        console.log(
          `${what} a throttled queue: ${perSecond.toFixed(0)} jobs a second of another, ${idle.toFixed(1)} commands a second before`,
        )
        target.close()
      })
    }
  }
  const mean = (values: readonly number[] = []) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  console.log(`with against without: ${((100 * mean(rates['with'])) / mean(rates['without'])).toFixed(1)} %`)
}

async function breaker(seconds: number): Promise<void> {
  const counts: number[] = []
  for (const circuitBreaker of [
    null,
    { failurePercent: 50, minCalls: 10, windowSeconds: 60, openSeconds: 5 },
  ]) {
    await withStand(async (stand) => {
      const target = await openTarget()
      await setQueue(stand, 'partner', { circuitBreaker, retriesEnabled: true, retryDelays: [1, 5, 30] })
      await startExecutors(stand, EXECUTORS)
      let isOver = false
      let pushed = 0
      const pushing = (async () => {
        for (const beganMs = performance.now(); !isOver;) {
          const due = Math.floor(((performance.now() - beganMs) / 1000) * 200)
          if (due > pushed) await push(stand, target.url, due - pushed, () => 'partner')
          pushed = Math.max(pushed, due)
          await sleep(20)
        }
      })()
      await sleep(5_000)
      target.status = 503
      const before = target.calls.length
      await sleep(seconds * 1000)
      const during = target.calls.length - before
      counts.push(during)
      target.status = 200
      const backMs = performance.now()
      const known = target.calls.length
      await waitUntil('a call', () => target.calls.length > known, { withinMs: 1_000_000, everyMs: 5 })
      const firstMs = performance.now() - backMs
      isOver = true
      await pushing
      const store = createQueueStore(stand.engine)
      await waitUntil(
        'all have ended',
        async () => {
          const {
            pending = 1,
            delayed = 1,
            processing = 1,
          } = (await store.getByName(TEAM, 'partner'))?.counts ?? {}
          return pending + delayed + processing === 0
        },
        { withinMs: 600_000, everyMs: 500 },
      )
      const dead = (await store.getByName(TEAM, 'partner'))?.counts.dead ?? -1
      console.log(
        `${circuitBreaker === null ? 'without' : 'with'} the breaker: ${during} calls while the target answered 503; the first one ` +
          `${(firstMs / 1000).toFixed(1)} s after it was back; ${pushed} jobs, of which ${dead} are dead letters`,
      )
      target.close()
    })
  }
  console.log(`with against without: ${((100 * (counts[1] ?? 0)) / (counts[0] ?? 1)).toFixed(2)} %`)
}
