import type { KeyObject } from 'node:crypto'
import type { FolderTeam } from '../../folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../folder-store/folder-store.ts'
import type { AppliedResources } from '../../domain/managed-by.ts'
import type { Logger } from '../../ports/runtime.ts'
import { NO_TEAM_SETTINGS } from '../../ports/settings.ts'
import { createAuditLog } from '../../redis/ledger/audit-log/audit-log.ts'
import { CompiledSettings } from '../../redis/control/compiled/compiled-settings.ts'
import type { CompiledWindows } from '../../redis/control/compiled/compiled-windows.ts'
import { createSettingsCompiler } from '../../redis/control/compiler/settings-compiler.ts'
import { createCronStore } from '../../redis/crons/cron-store.ts'
import { bindStoreId, whenThereIsRoom } from '../../redis/base/installation/installation.ts'
import { createQueueStore } from '../../redis/jobs/queues/queue-store.ts'
import { withoutChannelHosts } from '../../resources/team-channels.ts'
import { applySamples } from '../../standalone/samples.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import {
  channelEgress,
  type EgressPartSettings,
  type KeySettings,
  secretBoxOf,
  startCompiledWindows,
} from '../parts/engine-part.ts'
import { createEditors, type Editors, type InForce } from './editors-part.ts'
import { applyFolderChange, storesInFolder } from './folder-part.ts'
import { DEFAULT_TEAM } from './own-token.ts'
import type { Store } from '../parts/store.ts'
import type { Telemetry } from '../parts/telemetry-part.ts'

const INEFFECTIVE_TEXT =
  'Entries of spec.egress.allow open nothing: PUNCTUAL_EGRESS_ALLOWABLE does not let teams open it'

type FolderSettings = EgressPartSettings &
  Pick<KeySettings, 'otherSecretsKeys'> & { readonly appliedResources: AppliedResources }

interface FolderPaths {
  readonly resources: string
  /** File that remembers what was applied. */
  readonly statePath: string
  readonly secretsKey: KeyObject
  /** Puts the samples into an empty folder. */
  readonly withSamples: boolean
}

export interface OpenResources extends InForce {
  readonly compiled: CompiledSettings
  readonly windows: CompiledWindows
  readonly editors: Editors
}

/** Applies the folder of resources, and watches it from then on. */
export async function openFolderResources(
  settings: FolderSettings,
  paths: FolderPaths,
  store: Store,
  context: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<OpenResources & { readonly isFirstStart: boolean }> {
  const { lifecycle } = context
  const { logger, metrics, loops } = context.telemetry
  const { connection } = store
  const queues = createQueueStore(store.engine)
  const crons = createCronStore(store.engine)
  const box = secretBoxOf({ ...settings, secretsKey: paths.secretsKey })
  const compiler = createSettingsCompiler({ engine: store.engine, box, epoch: null })
  const compiled = new CompiledSettings({ connection, box, clock: systemClock, logger, metrics, loops })
  lifecycle.onStop('compiled settings', () => compiled.stop())

  const windows = await startCompiledWindows(store, context)
  const egress = channelEgress(settings)
  const folder = await openFolderStore({
    folder: paths.resources,
    team: DEFAULT_TEAM,
    statePath: paths.statePath,
    isTargetBlocked: (url, egressAllow) =>
      egress.refusalOf(url, { ...NO_TEAM_SETTINGS, egressAllow }) !== null,
    auditLog: createAuditLog(store.engine),
    logger,
    clock: systemClock,
  })
  await whenThereIsRoom(bindStoreId(connection, folder.storeId, paths.resources))
  // Only now is the folder known to be the right one; another, still empty, must stay as it is.
  const isFirstStart = paths.withSamples && applySamples(paths.resources).length > 0
  lifecycle.onStop('resources', () => folder.stop())
  await folder.start(async (change) => {
    for (const one of change.teams) warnOfIneffective(one, egress, logger)
    const refusals = await applyFolderChange(change, compiler)
    await Promise.all([compiled.refresh(), windows.refresh()])
    return refusals
  })
  await compiler.sealAnew()
  // Only now: secrets in Redis may be sealed under a former key until here.
  await compiled.start()
  const inForce = { queues, crons, compiled, windows }
  return {
    ...inForce,
    editors: createEditors(storesInFolder(folder, compiler), inForce, settings),
    isFirstStart,
  }
}

/** A warning that cannot be told keeps nothing from being applied. */
function warnOfIneffective(
  { team, policy }: FolderTeam,
  egress: Pick<ReturnType<typeof channelEgress>, 'ineffectiveEntries'>,
  logger: Logger,
): void {
  try {
    const entries = withoutChannelHosts(egress.ineffectiveEntries(policy.egressAllow), policy.channels ?? [])
    if (entries.length > 0) logger.warn(INEFFECTIVE_TEXT, { team, entries })
  } catch (error) {
    logger.warn('It cannot be told which entries of spec.egress.allow open nothing', { team, error })
  }
}
