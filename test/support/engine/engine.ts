import type { JobRequest } from '../../../src/domain/jobs/job.ts'
import type { NewJob } from '../../../src/ports/jobs.ts'
import { connectRedis, type RedisConnection } from '../../../src/redis/base/client/connection.ts'
import type { RedisEndpoint } from '../../../src/redis/base/client/client-options.ts'
import { createEngine, type Engine, type Retention } from '../../../src/redis/base/engine/engine.ts'
import { guardConnection } from '../../../src/redis/base/client/guarded-connection.ts'
import { openInstallation } from '../../../src/redis/base/installation/installation.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { loadScripts, type Scripts } from '../../../src/redis/steps.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { quietLogger, quietMetrics } from '../quiet.ts'

export interface TestEngine {
  readonly engine: Engine
  readonly connection: RedisConnection
  readonly intake: ReturnType<typeof createJobIntake>
  close(): void
}

export interface TestEngineOptions {
  readonly shards?: number
  /** What belongs to the URL, such as sentinels. */
  readonly endpoint?: Omit<RedisEndpoint, 'url'>
  readonly scripts?: Scripts
  readonly retention?: Retention
  readonly commandTimeoutMs?: number
  readonly isGuarded?: boolean
}

export async function openEngine(url: string, options: TestEngineOptions = {}): Promise<TestEngine> {
  const plain = await connectRedis({
    url,
    ...options.endpoint,
    commandTimeoutMs: options.commandTimeoutMs ?? 5_000,
    name: 'test',
    clock: systemClock,
    logger: quietLogger,
  })
  const guarded =
    options.isGuarded === true ? guardConnection(plain, { clock: systemClock, logger: quietLogger }) : null
  const connection = guarded?.connection ?? plain
  const jobIds = await openInstallation(connection, options.shards ?? 4)
  const runner = createStepRunner({
    connection,
    scripts: options.scripts ?? loadScripts(),
    clock: systemClock,
    metrics: quietMetrics,
  })
  const engine = createEngine({
    runner,
    jobIds,
    logger: quietLogger,
    metrics: quietMetrics,
    ...(options.retention === undefined ? {} : { retention: options.retention }),
  })
  const intake = createJobIntake(engine, {
    nowMs: () => systemClock.monotonicMs(),
  })
  const close = (): void => {
    guarded?.stop()
    plain.disconnect()
  }
  return { engine, connection, intake, close }
}

export function jobRequest(change: Partial<JobRequest> = {}): JobRequest {
  return {
    url: 'http://target.test/',
    method: 'POST',
    headers: {},
    payload: null,
    callbackUrl: null,
    callbackEvents: null,
    tags: {},
    timeoutSeconds: null,
    retryDelays: null,
    retriesEnabled: null,
    successAssertions: null,
    cron: null,
    ...change,
  }
}

export function newJob(
  change: Partial<Omit<NewJob, 'request'>> & { request?: Partial<JobRequest> } = {},
): NewJob {
  return {
    team: 'default',
    queue: 'emails',
    start: { delaySeconds: 0 },
    idempotency: null,
    ...change,
    request: jobRequest(change.request),
  }
}
