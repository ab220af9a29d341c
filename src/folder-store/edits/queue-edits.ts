import { isDeepStrictEqual } from 'node:util'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import {
  editQueueManifest,
  nameOfPushedQueue,
  newQueueManifest,
} from '../../resources/manifests/queue-manifest.ts'
import { queueKey } from '../folder-snapshot.ts'
import type { InForce } from '../applied-resources.ts'
import { newFileName, writeEdit, writeRemoval } from './manifest-edits.ts'
import type { EditParts, RefusedEdit, Removal, WrittenEdit } from './manifest-edits.ts'

export interface QueueEdit {
  readonly team: string
  readonly name: string
  readonly change: Partial<QueueSettings>
  /** What the queue has now; used when no manifest describes it yet. */
  readonly current: QueueSettings
}

/** Writes a queue's settings into its manifest, or into a new one; what is in force is not touched. */
export async function writeQueueEdit(
  parts: EditParts,
  inForce: InForce,
  edit: QueueEdit,
): Promise<WrittenEdit<QueueSettings> | RefusedEdit> {
  const [owner] = inForce.queues.get(queueKey(edit)) ?? []
  const settings = { ...(owner?.resource.settings ?? edit.current), ...edit.change }
  const end = await writeEdit(parts, {
    place: owner ?? null,
    newFile: newFileName(nameOfPushedQueue(edit.name), edit.team, parts.team),
    make: () => newQueueManifest(edit.name, edit.team === parts.team ? null : edit.team, settings),
    change: (text, document) => editQueueManifest(text, document, edit.change),
    isMeant: (resource) =>
      resource.kind === 'HttpQueue' && resource.team === edit.team && resource.queueName === edit.name,
    isDone: (resource) => resource.kind === 'HttpQueue' && isDeepStrictEqual(resource.settings, settings),
  })
  return end.status === 'refused' ? end : { status: 'edited', settings, key: queueKey(edit), undo: end.undo }
}

/** Takes every manifest of the queue out of the folder, those whose name was taken as well. */
export function writeQueueRemoval(
  parts: EditParts,
  inForce: InForce,
  queue: { readonly team: string; readonly name: string },
): Promise<Removal> {
  return writeRemoval(parts, inForce.queues.get(queueKey(queue)) ?? [])
}
