import { EditRefusedError } from '../domain/errors.ts'
import type { FolderChange } from '../folder-store/folder-snapshot.ts'
import type { FolderStore } from '../folder-store/folder-store.ts'
import type { QueueEditor, QueueStore } from '../ports/queue-store.ts'
import type { SettingsCompiler } from '../ports/settings-compiler.ts'

/** Puts a change of the folder in force: what calls may reach and whose tokens count first, then queues, what is gone last. */
export async function applyFolderChange(change: FolderChange, compiler: SettingsCompiler): Promise<void> {
  for (const { team, policy } of change.teams) await compiler.putTeam(team, policy)
  for (const team of change.removedTeams) await compiler.removeTeam(team)
  for (const { team, name } of change.removedTokens) await compiler.removeToken(team, name)
  for (const { team, name, sha256Hex } of change.tokens) await compiler.putTokenHash(team, name, sha256Hex)
  for (const { team, name, settings } of change.queues) await compiler.applyQueue(team, name, settings)
  for (const { team, name } of change.removedQueues) await compiler.removeQueue(team, name)
}

/** Edits go into the queue's manifest, and from there into force, so that file and engine always agree. */
export function createFolderEditor(folder: FolderStore, queues: QueueStore): QueueEditor {
  return {
    edit: async (team, queueId, change) => {
      const queue = await queues.get(team, queueId)
      if (queue === null) return null
      const result = await folder.editQueue({ team, name: queue.name, change, current: queue.settings })
      if (result.status === 'refused') throw new EditRefusedError(result.reason)
      return queues.get(team, queueId)
    },
    remove: async (team, queueId) => {
      const queue = await queues.get(team, queueId)
      if (queue === null) return 'not_found'
      const result = await folder.removeQueue({ team, name: queue.name })
      if (result.status === 'refused') throw new EditRefusedError(result.reason)
      // A queue made by a push and never edited has no manifest.
      return result.status === 'not_found' ? queues.remove(team, queue.name) : 'removed'
    },
  }
}
