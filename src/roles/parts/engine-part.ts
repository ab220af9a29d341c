import type { KeyObject } from 'node:crypto'
import { createNameResolver } from '../../outbound/dns/name-resolver.ts'
import { EgressGuard, type EgressSettings } from '../../outbound/egress/egress-guard.ts'
import { OwnAddresses } from '../../outbound/egress/own-addresses.ts'
import type { EgressBounds, EgressPolicy } from '../../ports/http-caller.ts'
import { RoleEndedError } from '../../domain/errors.ts'
import { lacksRight } from '../../redis/base/client/faults.ts'
import { CompiledSettings } from '../../redis/control/compiled/compiled-settings.ts'
import { CompiledWindows } from '../../redis/control/compiled/compiled-windows.ts'
import { InstallationWatch } from '../../redis/base/installation/installation-watch.ts'
import { readOwnAddresses } from '../../redis/control/compiled/own-addresses.ts'
import { SecretBox } from '../../redis/base/secret-box.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { ownHostsOf } from '../startup/own-hosts.ts'
import { denyOwnRedis, RedisAddresses } from '../startup/own-redis.ts'
import { REDIS_WAIT_MS } from '../startup/redis-wait.ts'
import { openStore, type RedisAccess, type Store, type StoreRole, type StoreSettings } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'

export interface KeySettings {
  readonly secretsKey: KeyObject
  readonly otherSecretsKeys: readonly KeyObject[]
}

/** An installation's Redis, opened, with what every role needs of it. */
export interface OpenEngine {
  readonly store: Store
  /** null = in the API of a cluster, which opens no secrets. */
  readonly box: SecretBox | null
}

export async function openEngine(
  settings: StoreSettings & KeySettings,
  role: StoreRole,
): Promise<OpenEngine & { readonly box: SecretBox }> {
  return { store: await openStore(settings, role), box: secretBoxOf(settings) }
}

export function secretBoxOf({ secretsKey, otherSecretsKeys }: KeySettings): SecretBox {
  return new SecretBox(secretsKey, otherSecretsKeys)
}

/** Reads the compiled settings of teams and tokens, and keeps them fresh. */
export async function startCompiledSettings(
  { store, box }: OpenEngine,
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<CompiledSettings> {
  const compiled = new CompiledSettings({
    connection: store.connection,
    box,
    clock: systemClock,
    logger: telemetry.logger,
    metrics: telemetry.metrics,
    loops: telemetry.loops,
  })
  lifecycle.onStop('compiled settings', () => compiled.stop())
  await compiled.start()
  return compiled
}

/** Reads the compiled maintenance windows, and keeps them fresh. */
export async function startCompiledWindows(
  { engine }: Store,
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<CompiledWindows> {
  const windows = new CompiledWindows({
    runner: engine.runner,
    clock: systemClock,
    logger: telemetry.logger,
    metrics: telemetry.metrics,
    loops: telemetry.loops,
  })
  lifecycle.onStop('compiled windows', () => windows.stop())
  await windows.start()
  return windows
}

/** Ends a role whose Redis was emptied or replaced; after a restart it works on the new data. */
export async function endWithInstallation(store: Store, lifecycle: Lifecycle): Promise<void> {
  const watch = new InstallationWatch({
    connection: store.connection,
    clock: systemClock,
    onLost: () =>
      lifecycle.fail(
        new RoleEndedError(
          'Redis has lost its data, or another Redis took its place: earlier jobs and queues are gone. ' +
            'After a restart this role works on the new data.',
        ),
      ),
  })
  lifecycle.onStop('installation watch', () => watch.stop())
  await watch.start()
}

export interface EgressPartSettings {
  readonly egressAllow: readonly string[]
  readonly egressDeny: readonly string[]
  readonly egressAllowable: readonly string[] | null
  readonly egressClusterCidrs: readonly string[]
  readonly egressOwnHosts: readonly string[]
  readonly publicUrl: string | null
}

/** Judges the URLs of channels when they are applied. Where our own Redis is, only the calls need to know. */
export function channelEgress(settings: EgressPartSettings): EgressPolicy & EgressBounds {
  return new EgressGuard(egressOf(settings))
}

/**
 * Opens the egress policy of the installation's settings: calls never reach the Redis that holds the jobs, our own pods
 * or the API server, wherever they are at present.
 */
export async function openEgress(
  settings: EgressPartSettings & Pick<RedisAccess, 'redisUrl' | 'redisSentinels'>,
  { connection, servers }: Pick<Store, 'connection' | 'servers'>,
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<EgressGuard> {
  const egress = egressOf(settings)
  const { logger } = telemetry
  const resolve = createNameResolver({ clock: systemClock })
  const own = new OwnAddresses({
    sources: [
      new RedisAddresses({ own: settings, servers, resolve, logger }),
      { name: 'pods and API server', read: () => readOwnAddresses(connection) },
    ],
    clock: systemClock,
    logger,
    startMsMax: REDIS_WAIT_MS,
    isRefusal: lacksRight,
  })
  lifecycle.onStop('own addresses', () => own.stop())
  await own.start()
  return new EgressGuard(
    { ...egress, deny: [...egress.deny, ...(await denyOwnRedis(settings, resolve))] },
    own,
  )
}

function egressOf(settings: EgressPartSettings): EgressSettings {
  return {
    allow: settings.egressAllow,
    deny: settings.egressDeny,
    allowable: settings.egressAllowable,
    clusterCidrs: settings.egressClusterCidrs,
    ownHosts: ownHostsOf(settings),
  }
}
