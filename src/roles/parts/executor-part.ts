import { randomBytes, randomUUID } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import { Executor, type ExecutorCapacity } from '../../executor/executor.ts'
import { BulkWorkers } from '../../executor/bulk/bulk-workers.ts'
import { Notifier } from '../../executor/notifier/notifier.ts'
import type { ShardPorts } from '../../executor/shard/shard-worker.ts'
import { reserveOf } from '../../executor/slots/fair-share.ts'
import { SOCKETS_PER_ORIGIN_MAX } from '../../domain/limits.ts'
import { SOCKETS_MAX_DEFAULT } from '../../outbound/bounds.ts'
import { createHttpCaller } from '../../outbound/http-caller.ts'
import type { EgressGuard } from '../../outbound/egress/egress-guard.ts'
import type { OwnSecretsSource } from '../../ports/access/own-secrets.ts'
import type { BoundedTeamsSource, NotifiedTeamsSource } from '../../ports/settings.ts'
import type { Tracing } from '../../ports/tracing/tracing.ts'
import type { WindowSource } from '../../ports/windows.ts'
import { createBulkActs } from '../../redis/jobs/bulk/acts.ts'
import { createBulkShard } from '../../redis/jobs/bulk/bulk-shard.ts'
import { QuotaKeeper } from '../../redis/ledger/quotas/quota-keeper.ts'
import { RedisCallQuotas } from '../../redis/ledger/quotas/call-quota-keeper.ts'
import { createCronSource } from '../../redis/crons/tick/cron-source.ts'
import type { Engine } from '../../redis/base/engine/engine.ts'
import { executorIdOf } from '../../redis/base/layout/executor-id.ts'
import { RedisJobSource } from '../../redis/jobs/execute/job-source.ts'
import { SuspectCohort } from '../../redis/jobs/execute/claim/suspect-cohort.ts'
import type { LimitScanOptions } from '../../redis/watch/limit-warnings/team-scan.ts'
import { createNotificationBoard } from '../../redis/ledger/notifications/notification-board.ts'
import { createShardMaintenance } from '../../redis/upkeep/maintenance/shard-maintenance.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { createChannelSender } from '../../senders/channel-sender.ts'
import type { MailSettings } from '../../settings/tables/mail-table.ts'
import { quotasOfSettings, type QuotaSettings } from '../../settings/tables/quota-table.ts'
import type { CapacitySettings } from '../../settings/role-settings.ts'
import { createQuotasOf } from './quota-part.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { openWakeHints, type RedisAccess, type Store } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'
import { VERSION } from '../startup/version.ts'

/** Sockets to chat services and webhooks; of its own, so that neither jobs nor messages take them from each other. */
const NOTIFIER_SOCKETS_MAX = 64

interface ExecutorPartOptions {
  /** Tells its calls from those of other executors: the pod's or the host's name. */
  name: string
  settings: CapacitySettings & QuotaSettings & MailSettings & RedisAccess & { graceSeconds: number }
  store: Store
  egress: EgressGuard
  teams: BoundedTeamsSource & NotifiedTeamsSource & OwnSecretsSource
  windows: WindowSource
  telemetry: Telemetry
  tracing: Tracing
  lifecycle: Lifecycle
}

/** Starts an executor on a store; it is stopped with the lifecycle. */
export async function startExecutor(options: ExecutorPartOptions): Promise<Executor> {
  const { settings, store, teams, tracing, lifecycle } = options
  const { logger, metrics, loops } = options.telemetry
  const { engine } = store
  const hints = await openWakeHints(settings, options)
  const capacity = capacityOf(settings)
  const slots = capacity.concurrency + capacity.reserve
  const caller = createHttpCaller({
    egress: options.egress,
    clock: systemClock,
    logger,
    version: VERSION,
    // Slots must be the tighter bound: a call without a socket counts as a fault of this machine and pauses all
    // claims, so one slow target would hold up every queue.
    socketsMax: Math.max(SOCKETS_MAX_DEFAULT, slots),
    socketsPerOriginMax: Math.max(SOCKETS_PER_ORIGIN_MAX, slots),
  })
  lifecycle.onStop('outgoing connections', () => caller.close())
  const notifier = openNotifier(options)
  await notifier.prepare()
  const executor = new Executor({
    shards: shardPortsOf(engine, {
      cohort: new SuspectCohort(capacity.concurrency),
      windows: options.windows,
      settings: teams,
      quotas: quotasOfSettings(settings),
      tracing,
    }),
    hints,
    caller,
    teams,
    quotas: new RedisCallQuotas({
      engine,
      clock: systemClock,
      settings: teams,
      quotas: quotasOfSettings(settings),
    }),
    windows: options.windows,
    jobIds: engine.jobIds,
    clock: systemClock,
    logger,
    metrics,
    tracing,
    loops,
    capacity,
    newExecutorId: () =>
      executorIdOf(options.name, {
        nonce: randomBytes(9).toString('base64url'),
        slots: capacity.concurrency,
      }),
    random: Math.random,
    redisNowMs: (shard) => engine.runner.redisNowMs(shard),
    aheadMs: () => store.testClock?.aheadMs ?? 0,
  })
  const graceMs = settings.graceSeconds * 1000
  lifecycle.onStop('executor', () => Promise.all([executor.stop(graceMs), notifier.stopSending(graceMs)]))
  executor.start()
  notifier.start()
  startBulks(options)
  return executor
}

/** Stops before the executor does, so that nothing is made of what nobody may claim. */
function startBulks({ settings, store, teams, telemetry, lifecycle }: ExecutorPartOptions): void {
  const { engine } = store
  const quotasOf = createQuotasOf(teams, quotasOfSettings(settings))
  const acts = createBulkActs(engine, new QuotaKeeper({ engine, clock: systemClock, quotasOf }))
  const workers = new BulkWorkers({
    shards: engine.shards.map(({ shard }) => createBulkShard(engine, shard, acts)),
    loops: telemetry.loops,
    clock: systemClock,
    logger: telemetry.logger,
    random: Math.random,
  })
  lifecycle.onStop('bulks', () => workers.stop())
  workers.start()
}

function openNotifier({
  settings,
  store,
  egress,
  teams,
  telemetry,
  lifecycle,
}: ExecutorPartOptions): Notifier {
  const { logger, metrics, loops } = telemetry
  const { mailServer: server, mailSender: from } = settings
  const caller = createHttpCaller({
    egress,
    clock: systemClock,
    logger,
    version: VERSION,
    socketsMax: NOTIFIER_SOCKETS_MAX,
    socketsPerOriginMax: NOTIFIER_SOCKETS_MAX,
  })
  lifecycle.onStop('connections of notifications', () => caller.close())
  const sender = createChannelSender({
    caller,
    mail: server === null || from === null ? null : { server, from },
    clock: systemClock,
  })
  lifecycle.onStop('mail connections', () => sender.close())
  return new Notifier({
    board: createNotificationBoard(store.engine),
    sender,
    teams,
    metrics,
    loops,
    logger,
    clock: systemClock,
    newId: randomUUID,
    random: Math.random,
  })
}

function shardPortsOf(
  engine: Engine,
  { cohort, tracing, ...limits }: { cohort: SuspectCohort; tracing: Tracing } & LimitScanOptions,
): ShardPorts[] {
  const { windows } = limits
  return engine.shards.map(({ shard }) => ({
    shard,
    openSource: (executorId) => new RedisJobSource(engine, shard, executorId, { cohort, windows }),
    maintenance: createShardMaintenance(engine, shard, windows, limits),
    crons: createCronSource(engine, shard, tracing),
  }))
}

/** Share of Node's heap; the rest holds everything else, and garbage that is not collected yet. */
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
