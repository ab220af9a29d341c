import { randomBytes } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import { Executor, type ExecutorCapacity } from '../../executor/executor.ts'
import type { ShardPorts } from '../../executor/shard/shard-worker.ts'
import { reserveOf } from '../../executor/slots/fair-share.ts'
import { SOCKETS_PER_ORIGIN_MAX } from '../../domain/limits.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import { SOCKETS_MAX_DEFAULT } from '../../outbound/bounds.ts'
import { createHttpCaller } from '../../outbound/http-caller.ts'
import type { EgressGuard } from '../../outbound/egress/egress-guard.ts'
import type { CallQuotas } from '../../ports/quotas.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { BoundedTeamsSource } from '../../ports/settings.ts'
import { createCallQuotas } from '../../redis/quotas/call-quota-keeper.ts'
import { connectRedis } from '../../redis/client/connection.ts'
import { createCronSource } from '../../redis/crons/tick/cron-source.ts'
import type { Engine } from '../../redis/client/engine.ts'
import { executorIdOf } from '../../redis/layout/executor-id.ts'
import { RedisJobSource } from '../../redis/execute/job-source.ts'
import { SuspectCohort } from '../../redis/execute/claim/suspect-cohort.ts'
import { createShardMaintenance } from '../../redis/maintenance/upkeep.ts'
import { subscribeToWakeHints } from '../../redis/client/wake-hints.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { CapacitySettings } from '../../settings/role-settings.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS, type Store } from './store.ts'
import { VERSION } from '../startup/version.ts'

/** Starts an executor on a store; it is stopped with the lifecycle. */
export async function startExecutor(options: {
  /** By which its calls are told from those of others: the pod's or the host's. */
  name: string
  redisUrl: string
  redisCa?: string | null
  store: Store
  egress: EgressGuard
  teams: BoundedTeamsSource
  /** The installation's. */
  quotas: TeamQuotas
  capacity: CapacitySettings
  /** What running calls get at a stop. */
  graceMs: number
  logger: Logger
  metrics: Metrics
  lifecycle: Lifecycle
}): Promise<Executor> {
  const { store, logger, metrics, lifecycle } = options
  const { engine } = store
  const listener = await connectRedis({
    url: options.redisUrl,
    redisCa: options.redisCa ?? null,
    name: 'punctual-hints',
    commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
    logger,
  })
  lifecycle.onStop('hint connection', () => listener.disconnect())
  const capacity = capacityOf(options.capacity)
  const slots = capacity.concurrency + capacity.reserve
  const caller = createHttpCaller({
    egress: options.egress,
    clock: systemClock,
    logger,
    version: VERSION,
    // Slots bound the calls. Were sockets the tighter bound, one slow target would hold up every queue: a call
    // without a socket counts as a fault of this machine, for which all claiming rests.
    socketsMax: Math.max(SOCKETS_MAX_DEFAULT, slots),
    socketsPerOriginMax: Math.max(SOCKETS_PER_ORIGIN_MAX, slots),
  })
  lifecycle.onStop('outgoing connections', () => caller.close())
  const executor = new Executor({
    shards: shardPortsOf(engine, new SuspectCohort(capacity.concurrency)),
    hints: await subscribeToWakeHints(listener),
    caller,
    teams: options.teams,
    quotas: callQuotasOf(engine, options),
    jobIds: engine.jobIds,
    clock: systemClock,
    logger,
    metrics,
    capacity,
    newExecutorId: () => executorIdOf(options.name, randomBytes(9).toString('base64url')),
    random: Math.random,
    redisNowMs: (shard) => engine.runner.redisNowMs(shard),
  })
  lifecycle.onStop('executor', () => executor.stop(options.graceMs))
  executor.start()
  return executor
}

function callQuotasOf(
  engine: Engine,
  { teams, quotas }: { readonly teams: BoundedTeamsSource; readonly quotas: TeamQuotas },
): CallQuotas {
  return createCallQuotas({ engine, clock: systemClock, settings: teams, quotas })
}

function shardPortsOf(engine: Engine, cohort: SuspectCohort): ShardPorts[] {
  return engine.shards.map(({ shard }) => ({
    shard,
    openSource: (executorId) => new RedisJobSource(engine, shard, executorId, cohort),
    maintenance: createShardMaintenance(engine, shard),
    crons: createCronSource(engine, shard),
  }))
}

/** Of Node's heap: the rest is for whatever else there is, and for what the collector has not found yet. */
const CALL_BYTES_SHARE = 0.5

function capacityOf(settings: CapacitySettings): ExecutorCapacity {
  const shares = { team: settings.teamShare, queue: settings.queueShare }
  const concurrency = settings.executorConcurrency
  return {
    concurrency,
    reserve: settings.concurrencyReserve ?? reserveOf(concurrency, shares),
    callBytes: settings.callBytes ?? Math.floor(getHeapStatistics().heap_size_limit * CALL_BYTES_SHARE),
    shares,
  }
}
