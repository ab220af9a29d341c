import { EditRefusedError, StorageFullError } from '../../domain/errors.ts'
import { cronKey, queueKey } from '../../folder-store/folder-snapshot.ts'
import type { FolderChange, Refusals } from '../../folder-store/folder-snapshot.ts'
import type { FolderStore } from '../../folder-store/folder-store.ts'
import type { CronEdit } from '../../folder-store/edits/settings-edits.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import { createEditMutex, makeCron } from './engine-editors.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { SettingsCompiler } from '../../ports/settings.ts'

/**
 * Puts a change of the folder in force: what calls may reach and whose tokens count first, then queues and the crons
 * that run through them. A cron that is gone ticks no more before its queue goes, which goes last. What there is no
 * room for holds nothing else up: a deletion would make room.
 * @returns the queues and crons that there is no room for
 */
export async function applyFolderChange(change: FolderChange, compiler: SettingsCompiler): Promise<Refusals> {
  const refusals = new Map<string, Error>()
  const unlessFull = async (key: string, applied: Promise<unknown>): Promise<void> => {
    try {
      await applied
    } catch (error) {
      if (!(error instanceof StorageFullError)) throw error
      refusals.set(key, error)
    }
  }
  for (const { team, policy } of change.teams) await compiler.putTeam(team, policy)
  for (const team of change.removedTeams) await compiler.removeTeam(team)
  for (const { team, name } of change.removedTokens) await compiler.removeToken(team, name)
  for (const { team, name, sha256Hex } of change.tokens) await compiler.putTokenHash(team, name, sha256Hex)
  for (const { team, name } of change.removedCrons) await compiler.removeCron(team, name)
  for (const queue of change.queues) {
    await unlessFull(queueKey(queue), compiler.applyQueue(queue.team, queue.name, queue.settings))
  }
  for (const cron of change.crons) {
    await unlessFull(cronKey(cron), compiler.applyCron(cron.team, cron.name, cron.settings))
  }
  for (const { team, name } of change.removedQueues) await compiler.removeQueue(team, name)
  return refusals
}

/** Edits go into the queue's manifest, and from there into force, so that file and engine always agree. */
export function createFolderEditor(folder: FolderStore, queues: QueueStore): QueueEditor {
  // A removal between an edit's read and its write would be undone by that write.
  const mutex = createEditMutex()
  return {
    edit: (team, queueId, change) =>
      mutex(async () => {
        const queue = await queues.get(team, queueId)
        if (queue === null) return null
        const result = await folder.editQueue({ team, name: queue.name, change, current: queue.settings })
        if (result.status === 'refused') throw new EditRefusedError(result.reason)
        return queues.get(team, queueId)
      }),
    remove: (team, queueId) =>
      mutex(async () => {
        const queue = await queues.get(team, queueId)
        if (queue === null) return 'not_found'
        const result = await folder.removeQueue({ team, name: queue.name })
        if (result.status === 'refused') throw new EditRefusedError(result.reason)
        // A queue made by a push and never edited has no manifest.
        return result.status === 'not_found' ? queues.remove(team, queue.name) : 'removed'
      }),
  }
}

/**
 * As `createFolderEditor`, for crons.
 * @param newSuffix 8 random hex digits, another each time
 */
export function createFolderCronEditor(
  folder: FolderStore,
  crons: CronStore,
  newSuffix: () => string,
): CronEditor {
  const write = async (team: string, name: string, edit: Pick<CronEdit, 'change' | 'current'>) => {
    const result = await folder.editCron({ team, name, ...edit })
    if (result.status === 'refused') throw new EditRefusedError(result.reason)
    return crons.getByName(team, name)
  }
  const mutex = createEditMutex()
  return {
    create: (team, settings, key) =>
      mutex(() =>
        makeCron(crons, { team, settings, key }, newSuffix, (name) =>
          write(team, name, { change: {}, current: settings }),
        ),
      ),
    edit: (team, cronId, change) =>
      mutex(async () => {
        const cron = await crons.get(team, cronId)
        return cron === null ? null : write(team, cron.name, { change, current: cron.settings })
      }),
    remove: (team, cronId) =>
      mutex(async () => {
        const cron = await crons.get(team, cronId)
        if (cron === null) return 'not_found'
        const result = await folder.removeCron({ team, name: cron.name })
        if (result.status === 'refused') throw new EditRefusedError(result.reason)
        return result.status === 'not_found' ? crons.remove(team, cron.name) : 'removed'
      }),
  }
}
