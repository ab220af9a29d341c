import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { ManifestReader, ReadResource } from '../resources/manifest-reader.ts'
import {
  editQueueManifest,
  nameOfPushedQueue,
  newQueueManifest,
  removeDocuments,
} from '../resources/queue-manifest.ts'
import type { FolderFiles } from './folder-files.ts'
import { queueKey } from './folder-snapshot.ts'
import type { InForce } from './in-force.ts'
import { syncFolder, writeWhole } from './whole-file.ts'

export interface QueueEdit {
  readonly team: string
  readonly name: string
  readonly change: Partial<QueueSettings>
  /** What the queue has now; used when no manifest describes it yet. */
  readonly current: QueueSettings
}

/** Why a manifest was not touched, as a sentence for the person who asked. */
export interface RefusedEdit {
  readonly status: 'refused'
  readonly reason: string
}

export type QueueEditResult = { readonly status: 'edited'; readonly settings: QueueSettings } | RefusedEdit

export type QueueRemoval =
  | { readonly status: 'removed' }
  /** No manifest describes the queue. */
  | { readonly status: 'not_found' }
  | RefusedEdit

interface EditParts {
  readonly folder: string
  /** The team of manifests without a namespace. */
  readonly team: string
  readonly files: FolderFiles
}

/** Writes a queue's settings into its manifest, or into a new one; what is in force is not touched. */
export async function writeQueueEdit(
  { folder, team, files }: EditParts,
  inForce: InForce,
  edit: QueueEdit,
): Promise<QueueEditResult> {
  const [owner] = inForce.queues.get(queueKey(edit)) ?? []
  const settings = { ...(owner?.resource.settings ?? edit.current), ...edit.change }
  const file = owner?.file ?? newFileName(edit, team)
  const known = files.get(file)
  if (known !== undefined && (owner === undefined || known.candidate !== null))
    return refused(unsettledText(file))
  const text =
    owner === undefined
      ? newQueueManifest(edit.name, edit.team === team ? null : edit.team, settings)
      : editQueueManifest(known?.good?.text ?? '', owner.document, edit.change)
  if (text === null || !says(files.reader, file, text, known?.good?.resources ?? [], { ...edit, settings })) {
    return refused(`${file} is written in a way that cannot be changed from here: edit the file itself.`)
  }
  const fault = await failureOf(() => writeWhole(join(folder, file), text, 0o644))
  if (fault !== null) return refused(`${file} cannot be written: ${fault}.`)
  files.replace(file, text)
  return { status: 'edited', settings }
}

/** Takes every manifest of the queue out of the folder, those whose name was taken as well. */
export async function writeQueueRemoval(
  { folder, files }: EditParts,
  inForce: InForce,
  queue: { readonly team: string; readonly name: string },
): Promise<QueueRemoval> {
  const owners = inForce.queues.get(queueKey(queue)) ?? []
  if (owners.length === 0) return { status: 'not_found' }
  const names = [...new Set(owners.map((owner) => owner.file))]
  const unsettled = names.find((name) => files.get(name)?.candidate !== null)
  if (unsettled !== undefined) return refused(unsettledText(unsettled))
  for (const name of names) {
    const documents = owners.filter((owner) => owner.file === name).map((owner) => owner.document)
    const text = removeDocuments(files.get(name)?.good?.text ?? '', documents)
    const path = join(folder, name)
    const fault = await failureOf(async () => {
      if (text !== null) return writeWhole(path, text, 0o644)
      await rm(path, { force: true })
      await syncFolder(folder)
    })
    if (fault !== null) return refused(`${name} cannot be changed: ${fault}.`)
    files.replace(name, text)
  }
  return { status: 'removed' }
}

/** Whether the text describes the queue as it is to be, and everything else in it as it was. */
function says(
  reader: ManifestReader,
  file: string,
  text: string,
  before: readonly ReadResource[],
  edit: QueueEdit & { readonly settings: QueueSettings },
): boolean {
  const { resources, problems } = reader.read(file, text)
  const isMeant = ({ resource }: ReadResource) =>
    resource.kind === 'HttpQueue' && resource.team === edit.team && resource.queueName === edit.name
  const meant = resources
    .filter(isMeant)
    .map(({ resource }) => resource.kind === 'HttpQueue' && resource.settings)
  const others = (all: readonly ReadResource[]) => JSON.stringify(all.filter((one) => !isMeant(one)))
  return (
    problems.length === 0 &&
    meant.some((settings) => isDeepStrictEqual(settings, edit.settings)) &&
    others(resources) === others(before)
  )
}

function newFileName(queue: { readonly team: string; readonly name: string }, team: string): string {
  const prefix = queue.team === team ? '' : `${queue.team}_`
  return `${prefix}${nameOfPushedQueue(queue.name)}.yaml`
}

function unsettledText(file: string): string {
  return `${file} is being changed or is not valid: mend the file first.`
}

function refused(reason: string): RefusedEdit {
  return { status: 'refused', reason }
}

async function failureOf(run: () => Promise<void>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
