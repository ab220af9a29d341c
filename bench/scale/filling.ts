import type { JobRequest } from '../../src/domain/jobs/job.ts'
import type { NewJob } from '../../src/ports/jobs.ts'
import { connectRedis, type RedisConnection } from '../../src/redis/client/connection.ts'
import { createEngine, type Engine } from '../../src/redis/client/engine.ts'
import { createStepRunner } from '../../src/redis/client/step-runner.ts'
import { createJobIntake } from '../../src/redis/enqueue/job-intake.ts'
import { openInstallation } from '../../src/redis/installation/installation.ts'
import { loadScripts } from '../../src/redis/steps.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { BenchError } from '../harness/bench-error.ts'

const COMMAND_TIMEOUT_MS = 60_000
const GROUP = 1_000
const GROUPS_AT_ONCE = 8

export const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
export const uncounted = new Proxy({}, { get: () => nothing }) as Engine['metrics']

export async function openConnection(url: string): Promise<RedisConnection> {
  return connectRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'bench', logger: silent })
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
  readonly url: string
  readonly start?: NewJob['start']
}

/** The team of a queue when there are so many. */
export function teamOf(queue: number, teams: number | undefined): string {
  return teams === undefined ? 'default' : `team${queue % teams}`
}

/** Stores the jobs by the product's own intake, without HTTP. Every push must be accepted, else BenchError. */
export async function fill(
  engine: Engine,
  { count, queues, teams, url, start }: Filling,
): Promise<{ seconds: number }> {
  const intake = createJobIntake(engine, { nowMs: () => systemClock.monotonicMs() })
  const each = Math.max(1, Math.min(GROUP, Math.floor(count / queues)))
  const began = performance.now()
  let [made, group] = [0, 0]
  const worker = async (): Promise<void> => {
    while (made < count) {
      const queue = group++ % queues
      const jobs: NewJob[] = []
      // Queues of few jobs share a group, so that no group is small.
      for (let i = 0; i < GROUP && made < count; i += each) {
        const at = each === GROUP ? queue : (group * GROUP + i) % queues
        const size = Math.min(each, count - made)
        made += size
        for (let j = 0; j < size; j += 1) jobs.push(newJob(teamOf(at, teams), `q${at}`, url, start))
      }
      const ends = await intake.pushAll(jobs)
      const refused = ends.find(({ status }) => status !== 'created')
      if (refused !== undefined) throw new BenchError(`a push was refused: ${refused.status}`)
    }
  }
  await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, worker))
  return { seconds: (performance.now() - began) / 1000 }
}

function newJob(team: string, queue: string, url: string, start: Filling['start']): NewJob {
  const request: JobRequest = {
    ...{ url, method: 'POST', headers: {}, payload: PAYLOAD },
    ...{ callbackUrl: null, callbackEvents: null, tags: {}, timeoutSeconds: null, retryDelays: null },
    ...{ retriesEnabled: null, successAssertions: null, cron: null },
  }
  return { team, queue, request, start: start ?? { delaySeconds: 0 }, idempotency: null }
}

/** With it the JSON of a push has about as many bytes as those of the other benchmarks. */
const PAYLOAD = JSON.stringify({ pad: 'x'.repeat(70) })

function nothing(): void {
  // Neither logs nor counts.
}
