import type { JobRequest } from '../../src/domain/jobs/job.ts'
import type { JobIntake, NewJob } from '../../src/ports/jobs.ts'
import { connectRedis, type RedisConnection } from '../../src/redis/base/client/connection.ts'
import { createEngine, type Engine } from '../../src/redis/base/engine/engine.ts'
import { createStepRunner } from '../../src/redis/base/engine/step-runner.ts'
import { createJobIntake } from '../../src/redis/jobs/enqueue/job-intake.ts'
import { openInstallation } from '../../src/redis/base/installation/installation.ts'
import { loadScripts } from '../../src/redis/steps.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { BenchError } from '../harness/bench-error.ts'
import { sleep } from '../harness/waiting.ts'

const COMMAND_TIMEOUT_MS = 60_000
const GROUP = 1_000
const GROUPS_AT_ONCE = 6
const PUSH_TRIES_MAX = 30
const PUSH_AGAIN_MS = 500

export const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
export const uncounted = new Proxy({}, { get: () => nothing }) as Engine['metrics']

export async function openConnection(url: string): Promise<RedisConnection> {
  return connectRedis({
    url,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    name: 'bench',
    clock: systemClock,
    logger: silent,
  })
}

export async function openScaleEngine(
  connection: RedisConnection,
  shards: number,
  scripts = loadScripts(),
): Promise<Engine> {
  const jobIds = await openInstallation(connection, shards)
  const runner = createStepRunner({ connection, scripts, clock: systemClock, metrics: uncounted })
  return createEngine({ runner, jobIds, logger: silent, metrics: uncounted })
}

export interface Filling {
  readonly count: number
  /** Jobs go to `q0` … in runs of a thousand, so that filling costs little. */
  readonly queues: number
  /** The queues belong to `team0` … in turn. */
  readonly teams?: number
  /** `{queue}` becomes the queue's number. */
  readonly url: string
  readonly start?: NewJob['start']
}

/** The team of a queue when there are so many. */
function teamOf(queue: number, teams: number | undefined): string {
  return teams === undefined ? 'default' : `team${queue % teams}`
}

/** Stores the jobs by the product's own intake, without HTTP. Every push must be accepted at last, else BenchError. */
export async function fill(engine: Engine, filling: Filling): Promise<{ seconds: number }> {
  const intake = createJobIntake(engine, { nowMs: () => systemClock.monotonicMs() })
  const began = performance.now()
  const groups = groupsOf(filling)
  const worker = async (): Promise<void> => {
    for (const jobs of groups) await push(intake, jobs)
  }
  await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, worker))
  return { seconds: (performance.now() - began) / 1000 }
}

function* groupsOf({ count, queues, teams, url, start }: Filling): Generator<NewJob[]> {
  const each = Math.max(1, Math.min(GROUP, Math.floor(count / queues)))
  let jobs: NewJob[] = []
  for (let made = 0; made < count; made += each) {
    const queue = Math.floor(made / each) % queues
    const job = newJob(teamOf(queue, teams), `q${queue}`, url.replace('{queue}', String(queue)), start)
    for (let i = 0; i < Math.min(each, count - made); i += 1) jobs.push(job)
    if (jobs.length < GROUP) continue
    yield jobs
    jobs = []
  }
  yield jobs
}

/** A busy machine may take longer than the intake waits for Redis; then nothing was stored. */
async function push(intake: JobIntake, jobs: readonly NewJob[]): Promise<void> {
  let left = jobs
  for (let tries = 0; left.length > 0; tries += 1) {
    const ends = await intake.pushAll(left)
    const refused = ends.find(({ status }) => status !== 'created' && status !== 'failed')
    if (refused !== undefined || tries === PUSH_TRIES_MAX) {
      throw new BenchError(`pushes were refused: ${refused?.status ?? 'Redis was too slow'}`)
    }
    left = left.filter((_, i) => ends[i]?.status === 'failed')
    if (left.length > 0) await sleep(PUSH_AGAIN_MS)
  }
}

function newJob(team: string, queue: string, url: string, start: Filling['start']): NewJob {
  const request: JobRequest = {
    url,
    method: 'POST',
    headers: {},
    payload: PAYLOAD,
    callbackUrl: null,
    callbackEvents: null,
    tags: {},
    timeoutSeconds: null,
    retryDelays: null,
    retriesEnabled: null,
    successAssertions: null,
    cron: null,
  }
  return { team, queue, request, start: start ?? { delaySeconds: 0 }, idempotency: null }
}

/** With it the JSON of a push has about as many bytes as those of the other benchmarks. */
const PAYLOAD = JSON.stringify({ pad: 'x'.repeat(70) })

function nothing(): void {
  // Neither logs nor counts.
}
