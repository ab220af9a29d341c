import { expect, it } from 'vitest'
import type { MaintenanceWindow as WindowObject } from '../../../src/controller/kinds.ts'
import { EditRefusedError, ResourceApiError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { WINDOWS_PER_TEAM_MAX } from '../../../src/domain/limits.ts'
import type { MaintenanceWindow } from '../../../src/domain/windows/maintenance-window.ts'
import type { WindowChange } from '../../../src/ports/windows.ts'
import { createWindowEditor } from '../../../src/editors/window-editor.ts'
import { settingsOfWindowSpec } from '../../../src/resources/window-spec.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createMemoryKind } from '../controller/memory-kind.ts'

const SCHEDULE = { cronExpression: '0 1 * * *', timeZone: 'UTC', durationSeconds: 60 }
const NIGHT: MaintenanceWindow = {
  team: 'shop',
  name: 'night',
  action: 'mute',
  resource: { kind: 'queue', name: 'mails' },
  times: { kind: 'once', startMs: 1_000, endMs: 2_500 },
  reason: 'move',
}

/** @param isApplying whether a controller takes over what is written, or Redis goes away when something has been */
function setUp(isApplying: boolean | 'away' = true) {
  const clock = createFakeClock()
  const kind = createMemoryKind<WindowObject>({
    kind: 'MaintenanceWindow',
    indexes: {},
    defaults: { action: 'Mute' },
  })
  /** From a write on, until the next edit begins. */
  const isAway = () => isApplying === 'away' && kind.writes.length > seen
  let seen = 0
  /** In force although no controller has taken anything over. */
  const known = new Map<string, MaintenanceWindow>()
  const windowOf = (team: string, name: string): MaintenanceWindow | null => {
    const found = kind.get(`${team}/${name}`)
    if (isApplying === false || found === undefined) return known.get(`${team}/${name}`) ?? null
    return { team, name, ...settingsOfWindowSpec(found.spec) }
  }
  const editor = createWindowEditor({
    store: kind.writer,
    isWatched: (team) => team === 'shop',
    isReadOnly: () => true,
    newSuffix: () => '0a1b2c3d',
    clock,
    windows: {
      get: async (team, name) => {
        if (isAway()) throw new StoreUnavailableError('away')
        return windowOf(team, name)
      },
      list: async ({ team, limit }) => {
        const all = [...kind.informer.all()].filter(({ metadata }) => metadata.namespace === team)
        const windows = all.flatMap(({ metadata }) => windowOf(team, metadata.name) ?? [])
        return { windows: windows.slice(0, limit), nextCursor: null }
      },
    },
  })
  const windows = {
    create: ({ team, name, ...settings }: MaintenanceWindow) => editor.create(team, name, settings),
    edit: ({ team, name }: MaintenanceWindow, change: WindowChange) => {
      seen = kind.writes.length
      return editor.edit(team, name, change)
    },
    remove: (team: string, name: string) => editor.remove(team, name),
  }
  return { clock, kind, windows, known, editor }
}

const to =
  (change: Partial<MaintenanceWindow>): WindowChange =>
  async (current) => ({ ...current, ...change })

const RECURRING = { kind: 'recurring', schedules: [SCHEDULE] } as const

it('a window becomes a resource, and an edit may change all of its spec', async () => {
  const { kind, windows } = setUp()
  await windows.create(NIGHT)
  const spec = {
    action: 'Mute',
    resource: { kind: 'HttpQueue', name: 'mails' },
    reason: 'move',
    start: '1970-01-01T00:00:01Z',
    end: '1970-01-01T00:00:02.500Z',
  }
  expect(kind.get('shop/night')?.spec).toEqual(spec)
  const other = { action: 'hold', resource: null, reason: null, times: RECURRING } as const
  expect(await windows.edit(NIGHT, to(other))).toEqual({ ...NIGHT, ...other })
  expect(kind.get('shop/night')?.spec).toEqual({ action: 'Hold', recurring: [SCHEDULE] })
  const { team: _team, name: _name, ...settings } = NIGHT
  expect(await windows.edit(NIGHT, to(settings))).toEqual(NIGHT)
  expect(kind.get('shop/night')?.spec).toEqual(spec)
  expect(kind.writes).toEqual(['create shop/night', 'spec shop/night', 'spec shop/night'])
})

it('a window that is written is no failure because Redis goes away then', async () => {
  const { kind, windows } = setUp('away')
  await windows.create(NIGHT)
  expect(kind.writes).toEqual(['create shop/night'])
  const edited = { ...NIGHT, reason: 'longer' }
  expect(await windows.edit(NIGHT, to({ reason: 'longer' }))).toEqual(edited)
})

it('a window that somebody has applied is neither edited nor deleted where that is read-only', async () => {
  const { kind, windows } = setUp()
  kind.put('shop/night', { start: '1970-01-01T00:00:01Z' }, { specApplier: 'kubectl' })
  const refusal = /^MaintenanceWindow night is managed by kubectl apply,/
  await expect(windows.edit(NIGHT, to({}))).rejects.toThrow(refusal)
  await expect(windows.remove('shop', 'night')).rejects.toThrow(refusal)
  expect(kind.writes).toEqual([])
})

it('a new window never changes a resource that is there, though no controller has taken it over', async () => {
  const { kind, windows } = setUp(false)
  kind.put('shop/night', { recurring: [{ ...SCHEDULE, cronExpression: 'never' }] })
  await expect(windows.create(NIGHT)).rejects.toThrow(EditRefusedError)
  expect(kind.get('shop/night')?.spec).toEqual({
    action: 'Mute',
    recurring: [{ ...SCHEDULE, cronExpression: 'never' }],
  })
})

it('of two windows made at once under a name, the second is refused', async () => {
  const { kind, windows } = setUp()
  const ends = await Promise.allSettled([windows.create(NIGHT), windows.create({ ...NIGHT, action: 'hold' })])
  expect(ends).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected' }])
  expect(kind.get('shop/night')?.spec.action).toBe('Mute')
})

it('edits at once are made one after the other, each to what the one before has left', async () => {
  const { clock, kind, windows } = setUp()
  await windows.create(NIGHT)
  const edits = Promise.all([
    windows.edit(NIGHT, to({ action: 'hold' })),
    windows.edit(NIGHT, to({ times: { kind: 'once', startMs: 1_000, endMs: 9_000 } })),
    windows.edit(NIGHT, to({ times: { kind: 'once', startMs: 2_000, endMs: 2_500 } })),
  ])
  // The window as the first of them left it is in force for a moment only.
  await clock.advance(2_100)
  await edits
  expect(kind.get('shop/night')?.spec).toEqual({
    action: 'Hold',
    resource: { kind: 'HttpQueue', name: 'mails' },
    reason: 'move',
    start: '1970-01-01T00:00:02Z',
    end: '1970-01-01T00:00:02.500Z',
  })
})

it('an edit begins with the resource, which the controller may not have taken over', async () => {
  const { clock, kind, known, windows } = setUp(false)
  known.set('shop/night', NIGHT)
  kind.put('shop/night', { action: 'Hold', recurring: [SCHEDULE] })
  const editing = windows.edit(NIGHT, to({ action: 'mute' }))
  await clock.advance(2_100)
  expect(await editing).toMatchObject({ action: 'mute', times: RECURRING })
  expect(kind.get('shop/night')?.spec.action).toBe('Mute')
})

it('a window is made under its name, or under one of its reason', async () => {
  const { editor, kind } = setUp()
  const { team, name: _name, ...settings } = NIGHT
  expect(await editor.create(team, null, { ...settings, reason: 'The database: moves' })).toMatchObject({
    name: 'the-database-moves-0a1b2c3d',
  })
  expect(await editor.create(team, null, { ...settings, reason: null })).toMatchObject({
    name: 'window-0a1b2c3d',
  })
  expect(kind.writes).toEqual(['create shop/the-database-moves-0a1b2c3d', 'create shop/window-0a1b2c3d'])
})

it('one more than a team may have is refused, before anything is written', async () => {
  const { kind, windows } = setUp()
  for (let i = 0; i < WINDOWS_PER_TEAM_MAX; i += 1) kind.put(`shop/w${i}`, { recurring: [SCHEDULE] })
  await expect(windows.create(NIGHT)).rejects.toThrow('the most allowed')
  expect(kind.writes).toEqual([])
  expect(await windows.edit({ ...NIGHT, name: 'w0' }, to({ action: 'hold' }))).toMatchObject({
    action: 'hold',
  })
})

it('an edit and a removal need a window', async () => {
  const { kind, windows } = setUp()
  expect(await windows.edit(NIGHT, to({}))).toBeNull()
  expect(await windows.remove('shop', 'night')).toBe('not_found')
  expect(kind.writes).toEqual([])
})

it('an edit of a window without a resource makes none, and one that is being deleted is refused', async () => {
  const { kind, windows } = setUp()
  expect(await windows.edit(NIGHT, to({}))).toBeNull()
  kind.put('shop/night', { recurring: [SCHEDULE] }, { finalizers: ['one'] })
  expect(await windows.edit(NIGHT, async () => 'refused')).toBe('refused')
  kind.delete('shop/night')
  await expect(windows.edit(NIGHT, to({}))).rejects.toThrow('is being deleted')
  expect(kind.writes).toEqual([])
})

it('a write is answered after two seconds when no controller takes it over, and so is a removal', async () => {
  const { clock, kind, known, windows } = setUp(false)
  let isDone = false
  const writing = windows.create(NIGHT).then(() => (isDone = true))
  await clock.advance(1_900)
  expect(isDone).toBe(false)
  await clock.advance(200)
  await writing
  known.set('shop/night', NIGHT)
  const removing = windows.remove('shop', 'night')
  await clock.advance(2_100)
  expect(await removing).toBe('removed')
  expect(kind.writes).toEqual(['create shop/night', 'remove shop/night'])
})

it('what the API server refuses is told in its own words, and a foreign namespace is refused', async () => {
  const { kind, known, windows } = setUp()
  known.set('office/night', { ...NIGHT, team: 'office' })
  kind.writer.create = () =>
    Promise.reject(new ResourceApiError('invalid', 'spec.end: must be later than start'))
  await expect(windows.create(NIGHT)).rejects.toThrow(EditRefusedError)
  await expect(windows.create({ ...NIGHT, team: 'office', name: 'day' })).rejects.toThrow(
    'PUNCTUAL_WATCH_NAMESPACES',
  )
  await expect(windows.edit({ ...NIGHT, team: 'office' }, to({}))).rejects.toThrow(
    'PUNCTUAL_WATCH_NAMESPACES',
  )
  await expect(windows.remove('office', 'night')).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
})
