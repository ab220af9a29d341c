import { loopsOf } from '../loops.ts'
import { teamsOf } from '../no-own-secrets.ts'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { capacityOf } from './capacity.ts'
import { Executor } from '../../../src/executor/executor.ts'
import { EgressGuard } from '../../../src/outbound/egress/egress-guard.ts'
import { createHttpCaller } from '../../../src/outbound/http-caller.ts'
import { NO_WINDOWS, type WindowSource } from '../../../src/ports/windows.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { Metrics } from '../../../src/ports/metrics.ts'
import type { CronStore } from '../../../src/ports/crons.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createEngine, type Engine } from '../../../src/redis/base/engine/engine.ts'
import { openInstallation } from '../../../src/redis/base/installation/installation.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { openConnection } from './model-world.ts'
import { quietLogger, quietMetrics } from '../quiet.ts'
import type { TestRedis } from '../servers/redis-server.ts'
import { createStepFaults, loadWrappedScripts, wrapRunner, type TestClock } from '../lua/wrapped-scripts.ts'

/** Executors and a store on a real Redis, whose clock runs from the time that a test sets. */
export interface CronWorld {
  readonly engine: Engine
  readonly store: CronStore
  readonly jobIds: JobIds
  /** Sets the clock of Redis, which runs on from there. */
  setTime(unixMs: number): void
  nowMs(): number
  startExecutor(windows?: WindowSource): Executor
  /** Stops the executors, so that no step runs and an inspection is exact. */
  stopExecutors(): Promise<void>
  close(): Promise<void>
}

function systemCaller(): HttpCaller {
  const egress = new EgressGuard({
    allow: ['127.0.0.0/8'],
    deny: [],
    allowable: null,
    clusterCidrs: [],
    ownHosts: [],
  })
  return createHttpCaller({ egress, clock: systemClock, logger: quietLogger, version: '0.0.0' })
}

const SCRIPTS = loadWrappedScripts()
const SHARDS = 4

export async function openCronWorld(
  redis: TestRedis,
  startMs: number,
  { metrics = quietMetrics, caller = systemCaller() }: { metrics?: Metrics; caller?: HttpCaller } = {},
): Promise<CronWorld> {
  await redis.client.flushall()
  const connection = await openConnection(redis.url)
  await openInstallation(connection, SHARDS)
  let aheadMs = 0
  const clock: TestClock = {
    get wallMs() {
      return Math.floor(performance.now() + aheadMs)
    },
    get monotonicMs() {
      return Math.round(performance.now())
    },
    advance: () => undefined,
    jump: () => undefined,
  }
  const inner = createStepRunner({ connection, scripts: SCRIPTS, clock: systemClock, metrics: quietMetrics })
  const jobIds = new JobIds(SHARDS, '0123456789ab')
  const engine = createEngine({
    runner: wrapRunner(inner, clock, createStepFaults(), new Map()),
    jobIds,
    logger: quietLogger,
    metrics: quietMetrics,
  })
  const executors: Executor[] = []
  const setTime = (unixMs: number) => {
    aheadMs = unixMs - performance.now()
  }
  setTime(startMs)
  const stopExecutors = async () => {
    await Promise.all(executors.map((executor) => executor.stop(2_000)))
  }
  return {
    engine,
    jobIds,
    store: createCronStore(engine),
    setTime,
    nowMs: () => clock.wallMs,
    startExecutor: (windows = NO_WINDOWS) => {
      const id = `e${executors.length}`
      let leases = 0
      const executor = new Executor({
        shards: engine.shards.map(({ shard }) => ({
          shard,
          openSource: (executorId) => new RedisJobSource(engine, shard, executorId, { windows }),
          maintenance: createShardMaintenance(engine, shard),
          crons: createCronSource(engine, shard),
        })),
        hints: { onWake: () => () => undefined },
        caller,
        teams: teamsOf(() => NO_TEAM_SETTINGS),
        windows,
        jobIds,
        clock: systemClock,
        logger: quietLogger,
        metrics,
        loops: loopsOf({ clock: systemClock, logger: quietLogger }),
        capacity: capacityOf(100),
        newExecutorId: () => `${id}.${(leases += 1)}`,
        random: Math.random,
        redisNowMs: (shard) => engine.runner.redisNowMs(shard),
      })
      executors.push(executor)
      executor.start()
      return executor
    },
    stopExecutors,
    close: async () => {
      await stopExecutors()
      await caller.close()
      connection.disconnect()
    },
  }
}
