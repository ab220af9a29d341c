import type { ApiToken } from '../../../src/domain/access/api-token.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { EditRefusedError, ResourceApiError } from '../../../src/domain/errors.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { WindowSettings } from '../../../src/domain/windows/maintenance-window.ts'
import { createSigningSecrets } from '../../../src/editors/signing-secrets.ts'
import type { FolderKindName } from '../../../src/folder-store/edits/folder-kind.ts'
import type { FolderStore } from '../../../src/folder-store/folder-store.ts'
import { type KubeObject, refOf } from '../../../src/ports/resource-store.ts'
import { settingsOfCronSpec, specOfCronSettings } from '../../../src/resources/cron-spec.ts'
import type {
  HttpCronSpec,
  HttpQueueSpec,
  MaintenanceWindowSpec,
} from '../../../src/resources/generated/kinds.ts'
import { newCronSpec } from '../../../src/resources/manifests/cron-manifest.ts'
import { pushedQueueResource } from '../../../src/resources/manifests/queue-manifest.ts'
import { newWindowSpec } from '../../../src/resources/manifests/window-manifest.ts'
import { settingsOfSpec, specOfSettings } from '../../../src/resources/queue-spec.ts'
import { specOfToken } from '../../../src/resources/token-spec.ts'
import { changedWindowSpec, settingsOfWindowSpec } from '../../../src/resources/window-spec.ts'
import { createHandClock } from './hand-clock.ts'

interface Named {
  readonly team: string
  readonly name: string
}

type End<T> =
  | { readonly status: 'edited'; readonly settings: T }
  | { readonly status: 'refused'; readonly reason: string }
type Removal =
  | { readonly status: 'removed' | 'not_found' }
  | { readonly status: 'refused'; readonly reason: string }

type Specced<Spec> = KubeObject & { readonly spec: Spec }

async function orRefused<T>(run: () => Promise<T>): Promise<T | { status: 'refused'; reason: string }> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof EditRefusedError || error instanceof ResourceApiError)
      return { status: 'refused', reason: error.message }
    throw error
  }
}

const metadataOf = ({ team, name }: Named) => ({ name, namespace: team })

/** What somebody edits, and what they see of the end. A first manifest has the current settings with the change. */
export function editQueue(
  store: FolderStore,
  { team, name, change, current }: Named & { change: Partial<QueueSettings>; current: QueueSettings },
): Promise<End<QueueSettings>> {
  const kind = store.kind<Specced<HttpQueueSpec>>('HttpQueue')
  return orRefused(async () => {
    await store.sync()
    const [owner] = store.queuesNamed(team, name)
    const { spec } =
      owner === undefined
        ? await kind.create(pushedQueueResource({ team, name }, { ...current, ...change }))
        : await kind.patchSpec(refOf(owner), { ...specOfSettings(change) }, null)
    return { status: 'edited', settings: settingsOfSpec(spec) }
  })
}

export function removeQueue(store: FolderStore, { team, name }: Named): Promise<Removal> {
  return orRefused(async () => {
    await store.sync()
    const found = store.queuesNamed(team, name)
    for (const one of found.toReversed()) await store.kind('HttpQueue').remove(refOf(one))
    return { status: found.length === 0 ? 'not_found' : 'removed' }
  })
}

export function editCron(
  store: FolderStore,
  edit: Named & { change: Partial<CronSettings>; current: CronSettings },
): Promise<End<CronSettings>> {
  const kind = store.kind<Specced<HttpCronSpec>>('HttpCron')
  return orRefused(async () => {
    const found = await kind.read(edit.team, edit.name)
    const { spec } =
      found === null
        ? await kind.create({
            metadata: metadataOf(edit),
            spec: newCronSpec({ ...edit.current, ...edit.change }),
          })
        : await kind.patchSpec(refOf(found), { ...specOfCronSettings(edit.change) }, null)
    return { status: 'edited', settings: settingsOfCronSpec(edit.name, spec) }
  })
}

export const removeCron = (store: FolderStore, cron: Named) => removeNamed(store, 'HttpCron', cron)

export function editWindow(
  store: FolderStore,
  edit: Named & { settings: WindowSettings; former: WindowSettings | null },
): Promise<End<WindowSettings>> {
  const kind = store.kind<Specced<MaintenanceWindowSpec>>('MaintenanceWindow')
  return orRefused(async () => {
    const found = edit.former === null ? null : await kind.read(edit.team, edit.name)
    const { spec } =
      found === null
        ? await kind.create({ metadata: metadataOf(edit), spec: newWindowSpec(edit.settings) })
        : await kind.patchSpec(
            refOf(found),
            { ...changedWindowSpec(edit.former ?? edit.settings, edit.settings) },
            null,
          )
    return { status: 'edited', settings: settingsOfWindowSpec(spec) }
  })
}

export const removeWindow = (store: FolderStore, window: Named) =>
  removeNamed(store, 'MaintenanceWindow', window)

export function createToken(store: FolderStore, token: ApiToken): Promise<End<ApiToken>> {
  return orRefused(async () => {
    await store.kind('ApiToken').create({ metadata: metadataOf(token), spec: specOfToken(token) })
    return { status: 'edited', settings: token }
  })
}

export const removeToken = (store: FolderStore, token: Named) => removeNamed(store, 'ApiToken', token)

function removeNamed(store: FolderStore, kind: FolderKindName, { team, name }: Named): Promise<Removal> {
  return orRefused(async () => {
    const found = await store.kind(kind).read(team, name)
    if (found === null) return { status: 'not_found' }
    await store.kind(kind).remove(refOf(found))
    return { status: 'removed' }
  })
}

const secretsIn = (store: FolderStore) =>
  createSigningSecrets({
    settings: store.kind('TeamSettings') as Parameters<typeof createSigningSecrets>[0]['settings'],
    secrets: store.kind('Secret'),
    isUsed: () => true,
    isWatched: () => true,
    isReadOnly: () => false,
    clock: createHandClock(),
  })

export const signingSecretsOf = (store: FolderStore, team: string) => secretsIn(store).list(team)

export const createSigningSecret = (
  store: FolderStore,
  { team, ...given }: { team: string; name: string; text: string },
) => orRefused(async () => ({ status: 'edited', settings: await secretsIn(store).create(team, given) }))

export const removeSigningSecret = (store: FolderStore, { team, id }: { team: string; id: string }) =>
  orRefused(async () => ({ status: await secretsIn(store).remove(team, id) }))
