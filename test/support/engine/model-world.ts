import type { Redis } from 'ioredis'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake } from '../../../src/ports/jobs.ts'
import { connectRedis, type RedisConnection } from '../../../src/redis/base/client/connection.ts'
import {
  createEngine,
  DEFAULT_RETENTION,
  type Engine,
  type Retention,
} from '../../../src/redis/base/engine/engine.ts'
import { openInstallation } from '../../../src/redis/base/installation/installation.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import type { StepName, Scripts } from '../../../src/redis/steps.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { withNewQueues } from './new-queues.ts'
import { quietLogger, quietMetrics } from '../quiet.ts'
import {
  createStepFaults,
  createTestClock,
  loadWrappedScripts,
  wrapRunner,
  type SentStep,
  type StepFaults,
  type TestClock,
} from '../lua/wrapped-scripts.ts'

/** The engine on wrapped scripts and a test clock. */
export interface World {
  readonly engine: Engine
  readonly connection: RedisConnection
  readonly clock: TestClock
  readonly faults: StepFaults
  /** The last step sent of each name, answered or not. */
  readonly sent: ReadonlyMap<StepName, SentStep>
  /** Settings of queues created by a push or a cron's run. */
  newQueues: QueueSettings
  newIntake(): JobIntake
  close(): void
}

const WRAPPED_SCRIPTS = loadWrappedScripts()

export async function openConnection(url: string, commandTimeoutMs = 10_000): Promise<RedisConnection> {
  return connectRedis({ url, commandTimeoutMs, name: 'test', clock: systemClock, logger: quietLogger })
}

/** A new world on an empty Redis. A `connection` that is passed in stays open for the next one. */
export async function openWorld(
  redis: { url: string; client: Pick<Redis, 'flushall'> },
  options: {
    connection?: RedisConnection
    shards?: number
    retention?: Partial<Retention>
    scripts?: Scripts
    startMs?: number
  } = {},
): Promise<World> {
  await redis.client.flushall()
  const connection = options.connection ?? (await openConnection(redis.url))
  const jobIds = await openInstallation(connection, options.shards ?? 2)
  const clock = createTestClock(options.startMs)
  const faults = createStepFaults()
  const sent = new Map<StepName, SentStep>()
  const inner = createStepRunner({
    connection,
    scripts: options.scripts ?? WRAPPED_SCRIPTS,
    clock: systemClock,
    metrics: quietMetrics,
  })
  const engine = createEngine({
    runner: withNewQueues(wrapRunner(inner, clock, faults, sent), () => world.newQueues),
    jobIds,
    logger: quietLogger,
    metrics: quietMetrics,
    retention: { ...DEFAULT_RETENTION, ...options.retention },
  })
  const world: World = {
    engine,
    connection,
    clock,
    faults,
    sent,
    newQueues: DEFAULT_QUEUE_SETTINGS,
    newIntake: () => createJobIntake(engine, { nowMs: () => clock.monotonicMs }),
    close: () => {
      if (options.connection === undefined) connection.disconnect()
    },
  }
  return world
}
