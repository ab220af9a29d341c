import type { KeyObject } from 'node:crypto'
import { EgressGuard } from '../../outbound/egress/egress-guard.ts'
import { RoleEndedError } from '../../domain/errors.ts'
import { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import { InstallationWatch } from '../../redis/installation/installation-watch.ts'
import { SecretBox } from '../../redis/control/secret-box.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { denyOwnRedis } from '../startup/own-redis.ts'
import { openStore, type Store } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'

/** What a role over an installation's Redis begins with. */
export interface OpenEngine {
  readonly store: Store
  readonly box: SecretBox
}

/** @param role.name as Redis lists the connection */
export async function openEngine(
  settings: {
    readonly redisUrl: string
    readonly redisCa: string | null
    readonly shards: number
    readonly allowUnsafeRedis: boolean
    readonly secretsKey: KeyObject
  },
  role: {
    readonly name: string
    readonly commandTimeoutMs: number
    readonly isGuarded?: boolean
    readonly telemetry: Telemetry
    readonly lifecycle: Lifecycle
  },
): Promise<OpenEngine> {
  const { logger, metrics } = role.telemetry
  const store = await openStore({
    url: settings.redisUrl,
    redisCa: settings.redisCa,
    name: role.name,
    commandTimeoutMs: role.commandTimeoutMs,
    isGuarded: role.isGuarded ?? false,
    shards: settings.shards,
    allowUnsafeRedis: settings.allowUnsafeRedis,
    logger,
    metrics,
    lifecycle: role.lifecycle,
  })
  return { store, box: new SecretBox(settings.secretsKey) }
}

/** The copy of what resources say about teams and tokens, read once and from then on looked at. */
export async function startCompiledSettings(
  { store, box }: OpenEngine,
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<CompiledSettings> {
  const compiled = new CompiledSettings({
    connection: store.connection,
    box,
    clock: systemClock,
    logger: telemetry.logger,
  })
  lifecycle.onStop('compiled settings', () => compiled.stop())
  await compiled.start()
  return compiled
}

/** Ends a role whose Redis was emptied or replaced: its next start begins on the data that is there then. */
export async function endWithInstallation(store: Store, lifecycle: Lifecycle): Promise<void> {
  const watch = new InstallationWatch({
    connection: store.connection,
    clock: systemClock,
    onLost: () =>
      lifecycle.fail(
        new RoleEndedError(
          'Redis has lost its data, or another took its place: the jobs and queues of before are gone. ' +
            'A new start works on what is there now.',
        ),
      ),
  })
  lifecycle.onStop('installation watch', () => watch.stop())
  await watch.start()
}

/** What calls may reach, as the installation says. The Redis that holds the jobs is never among it. */
export async function openEgress(
  settings: {
    readonly egressAllow: readonly string[]
    readonly egressDeny: readonly string[]
    readonly egressAllowable: readonly string[] | null
  },
  redisUrl: string,
): Promise<EgressGuard> {
  return new EgressGuard({
    allow: settings.egressAllow,
    deny: [...settings.egressDeny, ...(await denyOwnRedis(redisUrl))],
    allowable: settings.egressAllowable,
  })
}
