import { isDeepStrictEqual } from 'node:util'
import type { CronSettings } from '../../domain/crons/cron.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { WindowSettings } from '../../domain/windows/maintenance-window.ts'
import { editCronManifest, newCronManifest } from '../../resources/manifests/cron-manifest.ts'
import {
  editQueueManifest,
  nameOfPushedQueue,
  newQueueManifest,
} from '../../resources/manifests/queue-manifest.ts'
import { editWindowManifest, newWindowManifest } from '../../resources/manifests/window-manifest.ts'
import { identityOf, type Resource } from '../../resources/resource.ts'
import { changedWindowSettings, changedWindowSpec } from '../../resources/window-spec.ts'
import type { AppliedResources } from '../applied-resources.ts'
import { cronKey, queueKey, windowKey } from '../folder-snapshot.ts'
import {
  type EditParts,
  type ManifestEdit,
  type RefusedEdit,
  type Removal,
  writeEdit,
  writeRemoval,
  type WrittenEdit,
} from './manifest-edits.ts'

interface NamedResource {
  readonly team: string
  /** `spec.queueName` of a queue, `metadata.name` of another resource. */
  readonly name: string
}

interface SettingsEdit<Settings> extends NamedResource {
  readonly change: Partial<Settings>
  /** The present or initial settings; used when no manifest describes the resource yet. */
  readonly current: Settings
}

export type QueueEdit = SettingsEdit<QueueSettings>
export type CronEdit = SettingsEdit<CronSettings>
export interface WindowEdit extends NamedResource {
  readonly settings: WindowSettings
  /** The settings that the edit began with: what differs from them is written. null = the window is new. */
  readonly former: WindowSettings | null
}

/** Writes a queue's settings into its manifest, or into a new one, without applying them. */
export function writeQueueEdit(
  parts: EditParts,
  applied: AppliedResources,
  edit: QueueEdit,
): Promise<WrittenEdit<QueueSettings> | RefusedEdit> {
  const { team, name, change } = edit
  const [owner] = applied.queues.get(queueKey(edit)) ?? []
  const settings = { ...(owner?.resource.settings ?? edit.current), ...change }
  return writeSettings(parts, {
    place: owner ?? null,
    newFile: newFileName(nameOfPushedQueue(name), team, parts.team),
    make: () =>
      newQueueManifest(
        { name: nameOfPushedQueue(name), namespace: team === parts.team ? null : team },
        { name, settings },
      ),
    change: (text, document) => editQueueManifest(text, document, change),
    isTarget: (resource) =>
      resource.kind === 'HttpQueue' && resource.team === team && resource.queueName === name,
    key: queueKey(edit),
    settings,
  })
}

/** As `writeQueueEdit`, for a cron. */
export function writeCronEdit(
  parts: EditParts,
  applied: AppliedResources,
  edit: CronEdit,
): Promise<WrittenEdit<CronSettings> | RefusedEdit> {
  const { team, name, change } = edit
  const owner = applied.crons.get(cronKey(edit))
  const settings = { ...(owner?.resource.settings ?? edit.current), ...change }
  return writeSettings(parts, {
    place: owner ?? null,
    newFile: newFileName(name, team, parts.team),
    make: () => newCronManifest({ name, namespace: team === parts.team ? null : team }, settings),
    change: (text, document) => editCronManifest(text, document, change),
    isTarget: isNamed('HttpCron', edit),
    key: cronKey(edit),
    settings,
  })
}

/** As `writeQueueEdit`, for a maintenance window; a new one must have no manifest yet. */
export async function writeWindowEdit(
  parts: EditParts,
  applied: AppliedResources,
  edit: WindowEdit,
): Promise<WrittenEdit<WindowSettings> | RefusedEdit> {
  const { team, name, former } = edit
  const owner = applied.windows.get(windowKey(edit))
  if (owner !== undefined && former === null) {
    return { status: 'refused', reason: `${owner.file} has a maintenance window called ${name} already.` }
  }
  const change = changedWindowSpec(former ?? edit.settings, edit.settings)
  // The file may have changed since the edit began.
  const settings =
    owner === undefined ? edit.settings : changedWindowSettings(owner.resource.settings, change)
  return writeSettings(parts, {
    place: owner ?? null,
    newFile: newFileName(name, team, parts.team),
    make: () => newWindowManifest(name, team === parts.team ? null : team, settings),
    change: (text, document) => editWindowManifest(text, document, change),
    isTarget: isNamed('MaintenanceWindow', edit),
    key: windowKey(edit),
    settings,
  })
}

async function writeSettings<Settings>(
  parts: EditParts,
  edit: Omit<ManifestEdit, 'isDone'> & { readonly key: string; readonly settings: Settings },
): Promise<WrittenEdit<Settings> | RefusedEdit> {
  const { key, settings, ...manifest } = edit
  const isDone = (resource: Resource): boolean =>
    'settings' in resource && isDeepStrictEqual(resource.settings, settings)
  const end = await writeEdit(parts, { ...manifest, isDone })
  return end.status === 'refused' ? end : { status: 'edited', settings, key, undo: end.undo }
}

/** Removes every manifest of the queue, including those that an older one keeps from being applied. */
export function writeQueueRemoval(
  parts: EditParts,
  applied: AppliedResources,
  queue: NamedResource,
): Promise<Removal> {
  return writeRemoval(parts, applied.queues.get(queueKey(queue)) ?? [])
}

/** As `writeQueueRemoval`, for a cron. */
export function writeCronRemoval(parts: EditParts, cron: NamedResource): Promise<Removal> {
  return writeNamedRemoval(parts, isNamed('HttpCron', cron))
}

/** As `writeQueueRemoval`, for a maintenance window. */
export function writeWindowRemoval(parts: EditParts, window: NamedResource): Promise<Removal> {
  return writeNamedRemoval(parts, isNamed('MaintenanceWindow', window))
}

function writeNamedRemoval(parts: EditParts, isTarget: (resource: Resource) => boolean): Promise<Removal> {
  const places = parts.files
    .all()
    .flatMap(({ file, good }) =>
      (good?.resources ?? [])
        .filter(({ resource }) => isTarget(resource))
        .map(({ document }) => ({ file, document })),
    )
  return writeRemoval(parts, places)
}

function isNamed(kind: Resource['kind'], { team, name }: NamedResource): (resource: Resource) => boolean {
  const identity = identityOf({ kind, team, name })
  return (resource) => identityOf(resource) === identity
}

/** @param name a DNS name that is unique in the team, such as `metadata.name` */
function newFileName(name: string, team: string, ownTeam: string): string {
  return `${team === ownTeam ? '' : `${team}_`}${name}.yaml`
}
