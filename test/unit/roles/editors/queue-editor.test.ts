import { describe, expect, test } from 'vitest'
import { EditConflictError } from '../../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { FolderStore } from '../../../../src/folder-store/folder-store.ts'
import type { Queue, QueueEditor, QueueStore } from '../../../../src/ports/queues.ts'
import { folderEditors } from '../../../../src/roles/parts/folder-part.ts'
import { createQueueEditor } from '../../../../src/roles/editors/queue-editor.ts'
import { quiescence } from '../../../support/fake-clock.ts'

/** One team's queues; an apply waits for the gate, and makes what is not there. */
function memoryQueues() {
  const queues = new Map<string, Queue>()
  let lastId = 0
  let gate = Promise.resolve()
  /** What people have changed in the files of the folder, and nobody has applied. */
  const inFiles: Array<() => Promise<unknown>> = []
  const apply = async (name: string, settings: QueueSettings) => {
    await gate
    const queueId = queues.get(name)?.queueId ?? (lastId += 1)
    const counts = { pending: 0, delayed: 0, processing: 0, dead: 0 }
    queues.set(name, { queueId, team: 't', name, settings, counts })
    return { queueId }
  }
  const store: Partial<QueueStore> = {
    get: async (_team, queueId) => [...queues.values()].find((queue) => queue.queueId === queueId) ?? null,
    apply: (_team, name, settings) => apply(name, settings),
    remove: async (_team, name) => (queues.delete(name) ? 'removed' : 'not_found'),
  }
  const folder: Partial<FolderStore> = {
    sync: async () => void (await inFiles.shift()?.()),
    editQueue: async ({ name, change, current }) => {
      await apply(name, { ...current, ...change })
      return { status: 'written' } as never
    },
    removeQueue: async ({ name }) => ({ status: queues.delete(name) ? 'removed' : 'not_found' }) as never,
  }
  return {
    queues,
    inFiles,
    apply,
    store: store as QueueStore,
    folder: folder as FolderStore,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
  }
}

const NO_STORES = {} as Parameters<typeof folderEditors>[1]
const EDITORS: ReadonlyArray<readonly [string, (queues: ReturnType<typeof memoryQueues>) => QueueEditor]> = [
  ['the engine', ({ store }) => createQueueEditor(store)],
  ['a folder', ({ folder, store }) => folderEditors(folder, { ...NO_STORES, queues: store }).editor],
]

describe.each(EDITORS)('queues kept in %s', (_where, open) => {
  test('that are removed while they are edited stay removed', async () => {
    const kept = memoryQueues()
    const editor = open(kept)
    const { queueId } = await kept.apply('emails', DEFAULT_QUEUE_SETTINGS)
    const release = kept.hold()
    const edited = editor.edit('t', queueId, { timeoutSeconds: 7 })
    await quiescence()
    const removed = editor.remove('t', queueId)
    await quiescence()
    release()
    expect(await edited).toMatchObject({ queueId, settings: { timeoutSeconds: 7 } })
    expect(await removed).toBe('removed')
    expect(kept.queues.size).toBe(0)
    expect(await editor.edit('t', queueId, { timeoutSeconds: 9 })).toBeNull()
    expect(kept.queues.size).toBe(0)
  })
})

test.each(EDITORS)('of two edits of the same version in %s, one is refused', async (_where, open) => {
  const kept = memoryQueues()
  const editor = open(kept)
  const { queueId } = await kept.apply('emails', DEFAULT_QUEUE_SETTINGS)
  const unchanged = ({ timeoutSeconds }: QueueSettings) => {
    if (timeoutSeconds !== DEFAULT_QUEUE_SETTINGS.timeoutSeconds) throw new EditConflictError('"2"')
  }
  const release = kept.hold()
  const edits = [7, 8].map((timeoutSeconds) => editor.edit('t', queueId, { timeoutSeconds }, unchanged))
  await quiescence()
  release()
  const ends = await Promise.allSettled(edits)
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(kept.queues.get('emails')?.settings.timeoutSeconds).toBe(7)
})

test('an edit in a folder begins with what people have changed in the files', async () => {
  const kept = memoryQueues()
  const editor = folderEditors(kept.folder, { ...NO_STORES, queues: kept.store }).editor
  const { queueId } = await kept.apply('emails', DEFAULT_QUEUE_SETTINGS)
  kept.inFiles.push(() => kept.apply('emails', { ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds: 8 }))
  const found: number[] = []
  await editor.edit(
    't',
    queueId,
    { retriesEnabled: false },
    ({ timeoutSeconds }) => void found.push(timeoutSeconds),
  )
  expect(found).toEqual([8])
})
