import { describe, expect, test } from 'vitest'
import type { CronSettings } from '../../../../src/domain/crons/cron.ts'
import type { FolderStore } from '../../../../src/folder-store/folder-store.ts'
import type { Cron, CronEditor, CronStore } from '../../../../src/ports/crons.ts'
import { createCronEditor } from '../../../../src/roles/editors/cron-editor.ts'
import { folderEditors } from '../../../../src/roles/parts/folder-part.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { quiescence } from '../../../support/fake-clock.ts'

/** One team's crons; an apply waits for the gate, and makes what is not there. */
function memoryCrons() {
  const crons = new Map<string, Cron>()
  let lastId = 0
  let gate = Promise.resolve()
  /** What people have changed in the files of the folder, and nobody has applied. */
  const inFiles: Array<() => Promise<unknown>> = []
  const apply = async (name: string, settings: CronSettings) => {
    await gate
    const cronId = crons.get(name)?.cronId ?? (lastId += 1)
    const state = { nextRunAtMs: null, lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 0 }
    crons.set(name, { cronId, team: 't', name, settings, ...state })
    return { cronId, nextRunAtMs: null }
  }
  const store: Partial<CronStore> = {
    get: async (_team, cronId) => [...crons.values()].find((cron) => cron.cronId === cronId) ?? null,
    getByName: async (_team, name) => crons.get(name) ?? null,
    apply: (_team, name, settings) => apply(name, settings),
    remove: async (_team, name) => (crons.delete(name) ? 'removed' : 'not_found'),
  }
  const folder: Partial<FolderStore> = {
    sync: async () => void (await inFiles.shift()?.()),
    editCron: async ({ name, change, current }) => {
      await apply(name, { ...current, ...change })
      return { status: 'written' } as never
    },
    removeCron: async ({ name }) => ({ status: crons.delete(name) ? 'removed' : 'not_found' }) as never,
  }
  return {
    crons,
    inFiles,
    store: store as CronStore,
    folder: folder as FolderStore,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
  }
}

const NO_STORES = {} as Parameters<typeof folderEditors>[1]
const EDITORS: ReadonlyArray<readonly [string, (crons: ReturnType<typeof memoryCrons>) => CronEditor]> = [
  ['the engine', ({ store }) => createCronEditor(store, () => '00000000')],
  [
    'a folder',
    ({ folder, store }) => folderEditors(folder, { ...NO_STORES, crons: store }, () => '00000000').cronEditor,
  ],
]

describe.each(EDITORS)('crons kept in %s', (_where, open) => {
  test('that are removed while they are edited stay removed', async () => {
    const kept = memoryCrons()
    const editor = open(kept)
    const made = await editor.create('t', cronSettings(), null)
    const { cronId } = made as Cron
    const release = kept.hold()
    const edited = editor.edit('t', cronId, { timeoutSeconds: 7 })
    await quiescence()
    const removed = editor.remove('t', cronId)
    await quiescence()
    release()
    expect(await edited).toMatchObject({ cronId, settings: { timeoutSeconds: 7 } })
    expect(await removed).toBe('removed')
    expect(kept.crons.size).toBe(0)
    expect(await editor.edit('t', cronId, { timeoutSeconds: 9 })).toBeNull()
    expect(kept.crons.size).toBe(0)
  })
})

test('an edit in a folder begins with what people have changed in the files', async () => {
  const kept = memoryCrons()
  const editor = folderEditors(kept.folder, { ...NO_STORES, crons: kept.store }, () => '00000000').cronEditor
  const settings = cronSettings({})
  const made = await editor.create('t', settings, null)
  if (made === 'key_used') throw new Error(made)
  kept.inFiles.push(() => kept.store.apply('t', made.name, { ...settings, timeoutSeconds: 8 }))
  const found: unknown[] = []
  const check = ({ timeoutSeconds }: CronSettings) => void found.push(timeoutSeconds)
  await editor.edit('t', made.cronId, { isActive: false }, check)
  expect(found).toEqual([8])
})
