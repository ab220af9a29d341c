/**
 * What a job costs each process, for `punctual plan`: jobs are pushed and called at the same time, as fast as it goes, by
 * several numbers of processes and Redis primaries. `make build && node bench/capacity.ts [jobs] [rounds]` rewrites
 * bench/results/capacity.json.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { padded } from './contenders/contender.ts'
import { messageOf } from './harness/bench-error.ts'
import { runPushPlan } from './harness/load.ts'
import { startTarget } from './harness/nginx-target.ts'
import { newFolder, runMain } from './harness/main-run.ts'
import { freePort } from './harness/ports.ts'
import { stopAllPrograms, type Program } from './harness/processes.ts'
import { joinCluster, startRedisServer, type RedisServer } from './harness/redis-server.ts'
import { BUILT_MAIN, type Role, type RoleName, startRole } from './harness/roles.ts'
import { waitUntil } from './harness/waiting.ts'
import { describeCommit, describeMachine } from './machine.ts'
import { spreadOf } from './report/statistics.ts'

const ROOT = join(import.meta.dirname, '..')
const RESULTS = join(import.meta.dirname, 'results/capacity.json')
const WARM_UP_JOBS = 3_000
const WITHIN_MS = 300_000
const CONNECTIONS = 32
/** An API that gets no CPU for seconds refuses pushes. */
const TRIES = 4

interface Place {
  readonly apis: number
  readonly executors: number
  readonly primaries: number
  readonly queues: number
  readonly jobsPerRequest: number
}

/** Few of everything, then more of one or two. */
const PLACES: readonly Place[] = [
  { apis: 1, executors: 1, primaries: 1, queues: 1, jobsPerRequest: 1 },
  { apis: 1, executors: 1, primaries: 1, queues: 1000, jobsPerRequest: 1 },
  { apis: 1, executors: 1, primaries: 1, queues: 1000, jobsPerRequest: 100 },
  { apis: 1, executors: 1, primaries: 1, queues: 16, jobsPerRequest: 1 },
  { apis: 2, executors: 2, primaries: 1, queues: 1000, jobsPerRequest: 1 },
  { apis: 1, executors: 1, primaries: 2, queues: 1000, jobsPerRequest: 1 },
  { apis: 1, executors: 4, primaries: 2, queues: 1000, jobsPerRequest: 1 },
]

interface Fleet {
  readonly place: Place
  readonly servers: readonly RedisServer[]
  readonly apis: readonly Program[]
  readonly origins: readonly string[]
  readonly executors: readonly Program[]
  readonly ops: readonly string[]
  readonly headers: Readonly<Record<string, string>>
}

const [jobs = 20_000, rounds = 3] = process.argv.slice(2).map(Number)
const folder = newFolder()
await runMain(async () => {
  const taken = PLACES.map(() => [] as Array<Record<string, number>>)
  for (let round = 1; round <= rounds; round += 1) {
    for (const [i, place] of PLACES.entries()) {
      const figures = await withTries(() => measure(place))
      console.error(round, JSON.stringify(place), JSON.stringify(figures))
      taken[i]?.push(figures)
    }
  }
  const lines = PLACES.map((place, i) => JSON.stringify({ ...place, ...mediansOf(taken[i] ?? []) }))
  const head = { machine: describeMachine(), commit: describeCommit(ROOT), jobs, rounds }
  const text = JSON.stringify(head).slice(0, -1)
  writeFileSync(RESULTS, `${text},\n"places": [\n${lines.join(',\n')}\n]}\n`)
})

async function withTries<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act()
    } catch (error) {
      console.error(messageOf(error))
      if (tries === TRIES) throw error
    }
  }
}

async function measure(place: Place): Promise<Record<string, number>> {
  const target = await startTarget(folder)
  const fleet = await startFleet(place)
  try {
    await push(fleet, target.url, WARM_UP_JOBS)
    await target.watch(0, WARM_UP_JOBS, WITHIN_MS)
    const [before, called] = [await cpuOf(fleet), await target.count()]
    const startedMs = performance.now()
    await push(fleet, target.url, jobs)
    await target.watch(called, jobs, WITHIN_MS)
    const seconds = (performance.now() - startedMs) / 1000
    await waitUntil('no call is open', () => isAtRest(fleet), { withinMs: WITHIN_MS })
    const after = await cpuOf(fleet)
    const micros = (name: 'api' | 'executor' | 'redis'): number =>
      Math.round(((after[name] - before[name]) * 1e7) / jobs) / 10
    return {
      api_cpu_us_per_job: micros('api'),
      executor_cpu_us_per_job: micros('executor'),
      redis_cpu_us_per_job: micros('redis'),
      jobs_per_second: Math.round(jobs / seconds),
      api_rss_mib: Math.round(Math.max(...fleet.apis.map((each) => each.rssMib()))),
      executor_rss_mib: Math.round(Math.max(...fleet.executors.map((each) => each.rssMib()))),
      ...(await connectionsOf(fleet)),
    }
  } finally {
    await stopAllPrograms()
    await Promise.all(fleet.servers.map((server) => server.stop()))
  }
}

async function startFleet(place: Place): Promise<Fleet> {
  const isCluster = place.primaries > 1
  const servers: RedisServer[] = []
  for (let i = 0; i < place.primaries; i += 1) {
    // By itself Redis takes its port and 10,000 more, which may lie past the last one.
    const bus = isCluster ? ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())] : []
    servers.push(await startRedisServer(folder, bus))
  }
  if (isCluster) await joinCluster(servers)
  const token = randomBytes(24).toString('base64url')
  const env = {
    PUNCTUAL_REDIS_URL: servers[0]?.url ?? '',
    PUNCTUAL_TOKEN: token,
    PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
    PUNCTUAL_EXECUTOR_CONCURRENCY: '300',
  }
  const apis: Role[] = []
  // One after the other: each takes the folder of resources over from none.
  while (apis.length < place.apis) apis.push(await start('api', env))
  const executors = await Promise.all(Array.from({ length: place.executors }, () => start('executor', env)))
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return {
    place,
    servers,
    apis: apis.map(({ program }) => program),
    origins: apis.map(({ url }) => url),
    headers,
    executors: executors.map(({ program }) => program),
    ops: executors.map(({ ops }) => ops),
  }
}

async function start(name: RoleName, env: Record<string, string>): Promise<Role> {
  const role = await startRole(name, { folder, main: BUILT_MAIN, env })
  await role.untilReady()
  return role
}

/** The same number by each API at once. */
async function push({ place, origins, headers }: Fleet, targetUrl: string, count: number): Promise<void> {
  const { queues, jobsPerRequest } = place
  const job = padded({ queue: 'q{queue}', url: targetUrl })
  const isBatch = jobsPerRequest > 1
  const body = isBatch ? `{"jobs":[${Array.from({ length: jobsPerRequest }, () => job).join(',')}]}` : job
  const requests = count / jobsPerRequest / origins.length
  await Promise.all(
    origins.map((origin) =>
      runPushPlan(
        {
          url: `${origin}/api/jobs${isBatch ? '/batch' : ''}`,
          headers,
          body,
          queues,
          count: requests,
          connections: CONNECTIONS,
          perSecond: null,
          dueInMs: 0,
        },
        WITHIN_MS,
      ),
    ),
  )
}

async function cpuOf({ apis, executors, servers }: Fleet) {
  const sum = (seconds: readonly number[]): number => seconds.reduce((all, each) => all + each, 0)
  return {
    api: sum(apis.map((each) => each.cpuSeconds())),
    executor: sum(executors.map((each) => each.cpuSeconds())),
    redis: sum(await Promise.all(servers.map((server) => server.cpuSeconds()))),
  }
}

async function isAtRest({ ops }: Fleet): Promise<boolean> {
  const texts = await Promise.all(ops.map(async (each) => (await fetch(`${each}/metrics`)).text()))
  return texts.every((text) => /^punctual_calls_in_flight 0$/m.test(text))
}

/** To one primary, of one process. */
async function connectionsOf({ place, servers }: Fleet): Promise<Record<string, number>> {
  const lists = await Promise.all(servers.map(async ({ client }) => String(await client.client('LIST'))))
  const count = (name: RegExp): number =>
    Math.max(...lists.map((list) => list.split('\n').filter((line) => name.test(line)).length))
  return {
    redis_connections: count(/ cmd=(?!client)/),
    processes: place.apis + place.executors,
  }
}

function mediansOf(all: ReadonlyArray<Record<string, number>>): Record<string, number> {
  const names = Object.keys(all[0] ?? {})
  const median = (name: string): number => spreadOf(all.map((each) => each[name] ?? 0)).median
  return Object.fromEntries(names.map((name) => [name, Math.round(median(name) * 10) / 10]))
}
