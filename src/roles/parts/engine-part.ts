import type { KeyObject } from 'node:crypto'
import { EgressGuard } from '../../outbound/egress/egress-guard.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import { RoleEndedError } from '../../domain/errors.ts'
import { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import { CompiledWindows } from '../../redis/control/compiled-windows.ts'
import { InstallationWatch } from '../../redis/installation/installation-watch.ts'
import { SecretBox } from '../../redis/control/secret-box.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { denyOwnRedis } from '../startup/own-redis.ts'
import { openStore, type Store, type StoreRole, type StoreSettings } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'

/** What every role on an installation's Redis needs. */
export interface OpenEngine {
  readonly store: Store
  readonly box: SecretBox
}

export async function openEngine(
  settings: StoreSettings & { readonly secretsKey: KeyObject },
  role: StoreRole,
): Promise<OpenEngine> {
  return { store: await openStore(settings, role), box: new SecretBox(settings.secretsKey) }
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
    ...{ runner: engine.runner, clock: systemClock },
    logger: telemetry.logger,
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

interface EgressPartSettings {
  readonly egressAllow: readonly string[]
  readonly egressDeny: readonly string[]
  readonly egressAllowable: readonly string[] | null
}

/** Judges the URLs of channels when they are applied. Where our own Redis is, only the calls need to know. */
export function channelEgress(settings: EgressPartSettings): EgressPolicy {
  const { egressAllow: allow, egressDeny: deny, egressAllowable: allowable } = settings
  return new EgressGuard({ allow, deny, allowable })
}

/** What calls may reach by the installation's settings: never the Redis that holds the jobs. */
export async function openEgress(settings: EgressPartSettings, redisUrl: string): Promise<EgressGuard> {
  return new EgressGuard({
    allow: settings.egressAllow,
    deny: [...settings.egressDeny, ...(await denyOwnRedis(redisUrl))],
    allowable: settings.egressAllowable,
  })
}
