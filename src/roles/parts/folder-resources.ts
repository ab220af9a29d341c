import type { FolderTeam } from '../../folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../folder-store/folder-store.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { Logger } from '../../ports/runtime.ts'
import { NO_TEAM_SETTINGS } from '../../ports/settings.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { TokenKeeper } from '../../ports/access/tokens.ts'
import type { WindowEditor } from '../../ports/windows.ts'
import { createAuditLog } from '../../redis/audit-log/audit-log.ts'
import { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import type { CompiledWindows } from '../../redis/control/compiled-windows.ts'
import { createSettingsCompiler, putOwnToken } from '../../redis/control/settings-compiler.ts'
import { createCronStore } from '../../redis/crons/cron-store.ts'
import { bindStoreId, whenThereIsRoom } from '../../redis/installation/installation.ts'
import { createQueueStore } from '../../redis/queues/queue-store.ts'
import { withoutChannelHosts } from '../../resources/team-channels.ts'
import type { StandaloneSettings } from '../../settings/role-settings.ts'
import type { DataFolder } from '../../standalone/data-folder.ts'
import { applySamples } from '../../standalone/samples.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { channelEgress, secretBoxOf, startCompiledWindows } from './engine-part.ts'
import { applyFolderChange, folderEditors, signingSecretsInFolder, tokensInFolder } from './folder-part.ts'
import type { Store } from './store.ts'
import type { Telemetry } from './telemetry-part.ts'

const INEFFECTIVE_TEXT =
  'Entries of spec.egress.allow open nothing: PUNCTUAL_EGRESS_ALLOWABLE does not let teams open it'

export const STANDALONE_TEAM = 'default'

interface Resources {
  readonly queues: QueueStore
  readonly editor: QueueEditor
  readonly crons: CronStore
  readonly cronEditor: CronEditor
  readonly compiled: CompiledSettings
  readonly windows: CompiledWindows
  readonly windowEditor: WindowEditor
  readonly tokenKeeper: TokenKeeper
  readonly signingSecrets: SigningSecretStore
  /** The folder was empty, and got the samples. */
  readonly isFirstStart: boolean
}

/** Applies the token and the folder of resources, and watches the folder from then on. */
export async function openFolderResources(
  settings: StandaloneSettings,
  folder: DataFolder,
  store: Store,
  context: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<Resources> {
  const { lifecycle } = context
  const { logger, metrics, loops } = context.telemetry
  const { connection } = store
  const queues = createQueueStore(store.engine)
  const crons = createCronStore(store.engine)
  const box = secretBoxOf({ ...settings, secretsKey: folder.secretsKey })
  const compiler = createSettingsCompiler({ engine: store.engine, box, epoch: null })
  const compiled = new CompiledSettings({ connection, box, clock: systemClock, logger, metrics, loops })
  await putOwnToken(compiler, STANDALONE_TEAM, folder.token)
  lifecycle.onStop('compiled settings', () => compiled.stop())

  const windows = await startCompiledWindows(store, context)
  const egress = channelEgress(settings)
  const resources = await openFolderStore({
    folder: settings.manifests,
    team: STANDALONE_TEAM,
    statePath: folder.folderStatePath,
    isTargetBlocked: (url, egressAllow) =>
      egress.refusalOf(url, { ...NO_TEAM_SETTINGS, egressAllow }) !== null,
    auditLog: createAuditLog(store.engine),
    logger,
    clock: systemClock,
  })
  await whenThereIsRoom(bindStoreId(connection, resources.storeId, settings.manifests))
  // Only now is the folder known to be the right one; another, still empty, must stay as it is.
  const isFirstStart = applySamples(settings.manifests).length > 0
  lifecycle.onStop('resources', () => resources.stop())
  await resources.start(async (change) => {
    for (const one of change.teams) warnOfIneffective(one, egress, logger)
    const refusals = await applyFolderChange(change, compiler)
    await Promise.all([compiled.refresh(), windows.refresh()])
    return refusals
  })
  await compiler.sealAnew()
  // Only now: secrets in Redis may be sealed under a former key until here.
  await compiled.start()
  return {
    queues,
    crons,
    ...folderEditors(resources, { queues, crons, windows, compiler }),
    tokenKeeper: tokensInFolder(resources),
    signingSecrets: signingSecretsInFolder(resources),
    compiled,
    windows,
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
