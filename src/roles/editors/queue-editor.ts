import { StoreUnavailableError } from '../../domain/errors.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { createMutex, type Mutex } from '../../domain/mutex.ts'
import type { Queue, QueueEditor, QueueStore } from '../../ports/queues.ts'

/** Where the settings of queues are kept. */
export interface QueueKeeper {
  /** Before an edit: puts in force what others have changed where the settings are kept. */
  sync?(): Promise<void>
  write(team: string, queue: Queue, change: Partial<QueueSettings>): Promise<unknown>
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/** @param keeper the engine itself when there are no manifests */
export function createQueueEditor(
  queues: QueueStore,
  keeper: QueueKeeper = {
    write: (team, { name, settings }, change) => queues.apply(team, name, { ...settings, ...change }),
    remove: (team, name) => queues.remove(team, name),
  },
): QueueEditor {
  const mutex = createEditMutex()
  return {
    edit: (team, queueId, change, check) =>
      mutex(async () => {
        await keeper.sync?.()
        const queue = await queues.get(team, queueId)
        if (queue === null) return null
        check?.(queue.settings)
        await keeper.write(team, queue, change)
        return queues.get(team, queueId)
      }),
    remove: (team, queueId) =>
      mutex(async () => {
        const queue = await queues.get(team, queueId)
        return queue === null ? 'not_found' : keeper.remove(team, queue.name)
      }),
  }
}

/**
 * One edit or removal at a time: the write of an edit would undo a removal that came after its read. What waited while
 * Redis did not answer has no time left to find that out again.
 */
export function createEditMutex(): Mutex {
  return createMutex((error) => error instanceof StoreUnavailableError)
}
