import { randomBytes } from 'node:crypto'
import { type HttpCron, ResourceCronEditor } from '../../editors/cron-editor.ts'
import type { CronSecretStore } from '../../editors/cron-secrets.ts'
import { createManagedResources, type ResourcesOfQueue } from '../../editors/managed-resources.ts'
import { type HttpQueue, ResourceQueueEditor } from '../../editors/queue-editor.ts'
import { createNotificationChannels } from '../../editors/notification-channels.ts'
import { createSigningSecrets, type SigningSecretsOptions } from '../../editors/signing-secrets.ts'
import { createTokenStore, type TokenStoreOptions } from '../../editors/token-store.ts'
import { createWindowEditor, type WindowEditorOptions } from '../../editors/window-editor.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { TokenStore } from '../../ports/access/tokens.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { ChannelStore } from '../../ports/notifications.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { ResourceStore } from '../../ports/resource-store.ts'
import type { ManagedResources } from '../../ports/settings.ts'
import type { WindowEditor, WindowStore } from '../../ports/windows.ts'
import type { AppliedResources } from '../../domain/managed-by.ts'
import type { CompiledSettings } from '../../redis/control/compiled/compiled-settings.ts'
import { formatCursor, parseCursor } from '../../redis/base/names/list-cursor.ts'
import { systemClock } from '../../telemetry/system-clock.ts'

/** Stores of the resources of each kind: in the API server of a cluster, or in a folder. */
export interface ResourceStores {
  readonly queues: ResourceStore<HttpQueue>
  readonly crons: ResourceStore<HttpCron>
  readonly windows: WindowEditorOptions['store']
  readonly tokens: TokenStoreOptions['store']
  readonly settings: SigningSecretsOptions['settings']
  readonly secrets: SigningSecretsOptions['secrets']
  readonly resourcesOf: ResourcesOfQueue<HttpQueue>
  /** Absent in a folder. */
  readonly cronSecrets?: CronSecretStore
  isWatched(namespace: string): boolean
  readonly endLeftOver?: WindowEditorOptions['endLeftOver']
}

/** Queues, crons, windows and compiled settings as they are in force. */
export interface InForce {
  readonly queues: QueueStore
  readonly crons: CronStore
  readonly windows: WindowStore
  readonly compiled: Pick<CompiledSettings, 'of' | 'isAccepted'>
}

export interface Editors {
  readonly editor: QueueEditor
  readonly cronEditor: CronEditor
  readonly windowEditor: WindowEditor
  readonly tokenStore: TokenStore
  readonly signingSecrets: SigningSecretStore
  readonly channels: ChannelStore
  readonly managed: ManagedResources
}

export function createEditors(
  stores: ResourceStores,
  { queues, crons, windows, compiled }: InForce,
  { appliedResources }: { readonly appliedResources: AppliedResources },
): Editors {
  const { resourcesOf, endLeftOver } = stores
  const shared = {
    isWatched: (namespace: string) => stores.isWatched(namespace),
    isReadOnly: (team: string) => (compiled.of(team).appliedResources ?? appliedResources) === 'read-only',
    clock: systemClock,
  }
  return {
    editor: new ResourceQueueEditor({ ...shared, queues, resourcesOf, store: stores.queues }),
    cronEditor: new ResourceCronEditor({
      ...shared,
      crons,
      store: stores.crons,
      teamSettings: compiled,
      cronSecrets: stores.cronSecrets ?? null,
      newSuffix: newNameSuffix,
    }),
    windowEditor: createWindowEditor({
      ...shared,
      windows,
      store: stores.windows,
      newSuffix: newNameSuffix,
      ...(endLeftOver === undefined ? {} : { endLeftOver }),
    }),
    tokenStore: createTokenStore({
      ...shared,
      store: stores.tokens,
      isAccepted: (team, name) => compiled.isAccepted(team, name),
      cursors: {
        format: (team, position) => formatCursor(['tokens', team], position),
        parse: (team, cursor) => parseCursor(['tokens', team], cursor),
      },
    }),
    signingSecrets: createSigningSecrets({
      ...shared,
      settings: stores.settings,
      secrets: stores.secrets,
      isUsed: (team, id) => compiled.of(team).signingSecretIds.includes(id),
    }),
    channels: createNotificationChannels({
      ...shared,
      settings: stores.settings,
      secrets: stores.secrets,
      isUsable: (team, name) => compiled.of(team).channels.some((channel) => channel.name === name),
    }),
    managed: createManagedResources({ ...shared, resourcesOf, crons: stores.crons }),
  }
}

/** 8 random hex digits, which tell apart resources whose own names need not be unique. */
function newNameSuffix(): string {
  return randomBytes(4).toString('hex')
}
