import { expect, it } from 'vitest'
import { WINDOWS_PER_TEAM_MAX } from '../../../../src/domain/limits.ts'
import type { MaintenanceWindow, WindowSettings } from '../../../../src/domain/windows/maintenance-window.ts'
import type { WindowChange } from '../../../../src/ports/windows.ts'
import type { FolderStore } from '../../../../src/folder-store/folder-store.ts'
import { folderEditors } from '../../../../src/roles/parts/folder-part.ts'
import { createWindowEditor, windowsInEngine } from '../../../../src/roles/editors/window-editor.ts'

const SETTINGS: WindowSettings = {
  ...{ action: 'mute', resource: null, reason: 'The database: moves' },
  times: { kind: 'once', startMs: 1, endMs: 2 },
}

const to =
  (change: Partial<WindowSettings>): WindowChange =>
  async (current) => ({ ...current, ...change })

function setUp() {
  const kept = new Map<string, MaintenanceWindow>()
  const keyOf = (team: string, name: string) => `${team}/${name}`
  const editor = createWindowEditor({
    newSuffix: () => '0a1b2c3d',
    windows: {
      get: async (team, name) => kept.get(keyOf(team, name)) ?? null,
      list: async ({ team, limit }) => {
        const windows = [...kept.values()].filter((window) => window.team === team).slice(0, limit)
        return { windows, nextCursor: null }
      },
    },
    keeper: {
      create: async (window) => kept.set(keyOf(window.team, window.name), window),
      edit: windowsInEngine({
        putWindow: async (window) => {
          kept.set(keyOf(window.team, window.name), window)
          return { status: 'applied' }
        },
        removeWindow: () => Promise.reject(new Error('not asked for')),
      }).edit,
      remove: async (team, name) => (kept.delete(keyOf(team, name)) ? 'removed' : 'not_found'),
    },
  })
  return { editor, kept }
}

it('a window is made under its name, or under one of its reason', async () => {
  const { editor, kept } = setUp()
  expect(await editor.create('shop', 'night', SETTINGS)).toMatchObject({ team: 'shop', name: 'night' })
  expect(await editor.create('shop', null, SETTINGS)).toMatchObject({ name: 'the-database-moves-0a1b2c3d' })
  expect(await editor.create('shop', null, { ...SETTINGS, reason: null })).toMatchObject({
    name: 'window-0a1b2c3d',
  })
  expect(kept.size).toBe(3)
})

it('a name in use is refused, and changes nothing; another team may have it', async () => {
  const { editor, kept } = setUp()
  await editor.create('shop', 'night', SETTINGS)
  await expect(editor.create('shop', 'night', { ...SETTINGS, action: 'hold' })).rejects.toThrow('already')
  expect(kept.get('shop/night')).toMatchObject({ action: 'mute' })
  await editor.create('office', 'night', SETTINGS)
})

it('one more than a team may have is refused', async () => {
  const { editor, kept } = setUp()
  for (let i = 0; i < WINDOWS_PER_TEAM_MAX; i += 1) await editor.create('shop', `w${i}`, SETTINGS)
  await expect(editor.create('shop', 'one-more', SETTINGS)).rejects.toThrow('the most allowed')
  expect(kept.size).toBe(WINDOWS_PER_TEAM_MAX)
  await editor.edit('shop', 'w0', to({ action: 'hold' }))
})

it('an edit and a removal need a window', async () => {
  const { editor, kept } = setUp()
  expect(await editor.edit('shop', 'night', to({}))).toBeNull()
  expect(await editor.remove('shop', 'night')).toBe('not_found')
  expect(kept.size).toBe(0)
  await editor.create('shop', 'night', SETTINGS)
  expect(await editor.edit('shop', 'night', to({ action: 'hold' }))).toMatchObject({ action: 'hold' })
  expect(await editor.edit('shop', 'night', async () => 'refused')).toBe('refused')
  expect(kept.get('shop/night')).toEqual({ team: 'shop', name: 'night', ...SETTINGS, action: 'hold' })
  expect(await editor.remove('shop', 'night')).toBe('removed')
})

it('an edit in a folder begins with what people have changed in the files', async () => {
  let applied: MaintenanceWindow = { team: 'shop', name: 'night', ...SETTINGS }
  const folder: Partial<FolderStore> = {
    sync: async () => void (applied = { ...applied, reason: 'by hand' }),
    editWindow: async ({ settings }) => ({ status: 'edited', settings }),
  }
  const stores = { windows: { get: async () => applied } } as unknown as Parameters<typeof folderEditors>[1]
  const { windowEditor } = folderEditors(folder as FolderStore, stores)
  const found: unknown[] = []
  await windowEditor.edit('shop', 'night', async (current) => {
    found.push(current.reason)
    return current
  })
  expect(found).toEqual(['by hand'])
})

it('of two edits at once, both stay', async () => {
  const { editor, kept } = setUp()
  await editor.create('shop', 'night', SETTINGS)
  await Promise.all([
    editor.edit('shop', 'night', to({ action: 'hold' })),
    editor.edit('shop', 'night', to({ times: { kind: 'once', startMs: 1, endMs: 9 } })),
  ])
  expect(kept.get('shop/night')).toMatchObject({ action: 'hold', times: { startMs: 1, endMs: 9 } })
})
