import { expect, it } from 'vitest'
import type { WindowSettings } from '../../../src/domain/windows/maintenance-window.ts'
import { here, problems, read, settled, start, useFolder, write } from './folder-fixture.ts'
import { editWindow, removeWindow } from './folder-writes.ts'

useFolder()

const ONCE: WindowSettings = {
  action: 'hold',
  resource: { kind: 'queue', name: 'Mails: out' },
  reason: null,
  times: {
    kind: 'once',
    startMs: Date.parse('2026-12-01T22:00:00Z'),
    endMs: Date.parse('2026-12-01T23:30:00Z'),
  },
}
const NIGHTLY: WindowSettings = {
  action: 'mute',
  resource: null,
  reason: 'Backup',
  times: {
    kind: 'recurring',
    schedules: [{ cronExpression: '0 1 * * sat', timeZone: 'Europe/Berlin', durationSeconds: 7_200 }],
  },
}
const added = (settings: WindowSettings) => ({ ...named(settings), former: null })
const named = (settings: WindowSettings) => ({ team: 'default', name: 'night', settings })

it('a new window gets a manifest, in force when it is answered', async () => {
  const store = await start()
  expect(await editWindow(store, added(ONCE))).toEqual({ status: 'edited', settings: ONCE })
  expect(here.changes).toMatchObject([{ windows: [named(ONCE)] }])
  expect(read('night.yaml')).toContain('start: 2026-12-01T22:00:00Z\n')
})

it.each([
  ['YAML', 'night.yaml', (text: string) => `# mine\n${text}`],
  ['JSON', 'night.json', (text: string) => text],
])('an edit in %s replaces one kind of times by the other, and back', async (kind, file, given) => {
  const manifest = {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'MaintenanceWindow',
    metadata: { name: 'night' },
    spec: { start: '2026-12-01T22:00:00Z', end: '2026-12-01T23:00:00Z', reason: 'old' },
  }
  const yaml =
    'apiVersion: punctual.dev/v1alpha1\nkind: MaintenanceWindow\nmetadata: { name: night }\nspec:\n' +
    '  start: 2026-12-01T22:00:00Z # late\n  end: 2026-12-01T23:00:00Z\n  reason: old\n'
  write(file, given(kind === 'JSON' ? JSON.stringify(manifest) : yaml))
  const store = await start()
  for (const settings of [NIGHTLY, ONCE, NIGHTLY]) {
    const former = store.snapshot().windows[0]?.settings ?? null
    expect(await editWindow(store, { ...named(settings), former })).toEqual({ status: 'edited', settings })
    expect(store.snapshot().windows).toEqual([named(settings)])
  }
  if (kind === 'YAML') expect(read(file)).toContain('# mine\n')
  expect(problems(store)).toEqual([])
})

it('an edit writes only what it changes onto the file as it is now', async () => {
  const store = await start()
  await editWindow(store, added(ONCE))
  write('night.yaml', read('night.yaml').replace('23:30', '23:45'))
  const times = { ...ONCE.times, startMs: Date.parse('2026-12-01T21:00:00Z') } as WindowSettings['times']
  const edit = { ...named({ ...ONCE, times }), former: ONCE }
  const settings = { ...ONCE, times: { ...times, endMs: Date.parse('2026-12-01T23:45:00Z') } }
  await settled(store)
  expect(await editWindow(store, edit)).toEqual({ status: 'edited', settings })
  expect(store.snapshot().windows).toEqual([named(settings)])
})

it('a new window never changes a manifest that is there', async () => {
  const store = await start()
  await editWindow(store, added(ONCE))
  expect(await editWindow(store, added(NIGHTLY))).toEqual({
    status: 'refused',
    reason: 'Manifest folder: there is MaintenanceWindow night already, in night.yaml.',
  })
  expect(store.snapshot().windows).toEqual([named(ONCE)])
})

it('a removed window loses its manifest, and one whose manifest is removed ends', async () => {
  const store = await start()
  await editWindow(store, added(ONCE))
  expect(await removeWindow(store, { team: 'default', name: 'night' })).toEqual({ status: 'removed' })
  expect(here.changes.at(-1)).toMatchObject({ removedWindows: [{ team: 'default', name: 'night' }] })
  expect(await removeWindow(store, { team: 'default', name: 'night' })).toEqual({ status: 'not_found' })
})

it('an impossible edit of a file leaves the window as it was', async () => {
  const store = await start()
  await editWindow(store, added(NIGHTLY))
  write('night.yaml', read('night.yaml').replace('Europe/Berlin', 'Mars/Base'))
  await settled(store)
  expect(problems(store)[0]).toContain('spec.recurring[0].timeZone: must be the IANA name')
  expect(store.snapshot().windows).toEqual([named(NIGHTLY)])
})
