import { expect, it } from 'vitest'
import type { MaintenanceWindow as WindowObject } from '../../../../src/controller/kinds.ts'
import { EditRefusedError, ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import type { WindowChange } from '../../../../src/ports/windows.ts'
import { createResourceWindows } from '../../../../src/kubernetes/resources/resource-windows.ts'
import { settingsOfWindowSpec } from '../../../../src/resources/window-spec.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { createMemoryKind } from '../../controller/memory-kind.ts'

const SCHEDULE = { cronExpression: '0 1 * * *', timeZone: 'UTC', durationSeconds: 60 }
const NIGHT: MaintenanceWindow = {
  ...{ team: 'shop', name: 'night', action: 'mute', resource: { kind: 'queue', name: 'mails' } },
  ...{ times: { kind: 'once', startMs: 1_000, endMs: 2_500 }, reason: 'move' },
}

/** @param isApplying whether a controller takes over what is written, or Redis is away when that is asked */
function setUp(isApplying: boolean | 'away' = true) {
  const clock = createFakeClock()
  const kind = createMemoryKind<WindowObject>({
    ...{ kind: 'MaintenanceWindow', indexes: {}, defaults: { action: 'Mute' } },
  })
  const windows = createResourceWindows({
    ...{ writer: kind.writer, isWatched: (team: string) => team === 'shop', isReadOnly: () => true, clock },
    windows: {
      get: async (team, name) => {
        if (isApplying === 'away') throw new StoreUnavailableError('away')
        const found = isApplying ? kind.get(`${team}/${name}`) : undefined
        return found === undefined ? null : { team, name, ...settingsOfWindowSpec(found.spec) }
      },
    },
  })
  return { clock, kind, windows }
}

const to =
  (change: Partial<MaintenanceWindow>): WindowChange =>
  async (current) => ({ ...current, ...change })

const RECURRING = { kind: 'recurring', schedules: [SCHEDULE] } as const

it('a window becomes a resource, and an edit may change all of its spec', async () => {
  const { kind, windows } = setUp()
  await windows.create(NIGHT)
  const spec = {
    ...{ action: 'Mute', resource: { kind: 'HttpQueue', name: 'mails' }, reason: 'move' },
    ...{ start: '1970-01-01T00:00:01Z', end: '1970-01-01T00:00:02.500Z' },
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
    ...{ action: 'Mute', recurring: [{ ...SCHEDULE, cronExpression: 'never' }] },
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
    ...{ action: 'Hold', resource: { kind: 'HttpQueue', name: 'mails' }, reason: 'move' },
    ...{ start: '1970-01-01T00:00:02Z', end: '1970-01-01T00:00:02.500Z' },
  })
})

it('an edit begins with the resource, which the controller may not have taken over', async () => {
  const { clock, kind, windows } = setUp(false)
  kind.put('shop/night', { action: 'Hold', recurring: [SCHEDULE] })
  const editing = windows.edit(NIGHT, to({ action: 'mute' }))
  await clock.advance(2_100)
  expect(await editing).toMatchObject({ action: 'mute', times: RECURRING })
  expect(kind.get('shop/night')?.spec.action).toBe('Mute')
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
  const { clock, kind, windows } = setUp(false)
  let isDone = false
  const writing = windows.create(NIGHT).then(() => (isDone = true))
  await clock.advance(1_900)
  expect(isDone).toBe(false)
  await clock.advance(200)
  await writing
  await windows.remove('shop', 'night')
  expect(kind.writes).toEqual(['create shop/night', 'remove shop/night'])
})

it('what the API server refuses is told in its own words, and a foreign namespace is refused', async () => {
  const { kind, windows } = setUp()
  kind.writer.create = () =>
    Promise.reject(new ResourceApiError('invalid', 'spec.end: must be later than start'))
  await expect(windows.create(NIGHT)).rejects.toThrow(EditRefusedError)
  await expect(windows.create({ ...NIGHT, team: 'office' })).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  await expect(windows.edit({ ...NIGHT, team: 'office' }, to({}))).rejects.toThrow(
    'PUNCTUAL_WATCH_NAMESPACES',
  )
  await expect(windows.remove('office', 'night')).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
})
