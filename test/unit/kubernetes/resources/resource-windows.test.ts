import { expect, it } from 'vitest'
import type { MaintenanceWindow as WindowObject } from '../../../../src/controller/kinds.ts'
import { EditRefusedError, ResourceApiError } from '../../../../src/domain/errors.ts'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import { createResourceWindows } from '../../../../src/kubernetes/resources/resource-windows.ts'
import { settingsOfWindowSpec } from '../../../../src/resources/window-spec.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { createMemoryKind } from '../../controller/memory-kind.ts'

const SCHEDULE = { cronExpression: '0 1 * * *', timeZone: 'UTC', durationSeconds: 60 }
const NIGHT: MaintenanceWindow = {
  ...{ team: 'shop', name: 'night', action: 'mute', resource: { kind: 'queue', name: 'mails' } },
  ...{ times: { kind: 'once', startMs: 1_000, endMs: 2_500 }, reason: 'move' },
}

/** @param isApplying whether a controller takes over what is written */
function setUp(isApplying = true) {
  const clock = createFakeClock()
  const kind = createMemoryKind<WindowObject>({
    ...{ kind: 'MaintenanceWindow', indexes: {}, defaults: { action: 'Mute' } },
  })
  const windows = createResourceWindows({
    ...{ writer: kind.writer, isWatched: (team: string) => team === 'shop', clock },
    windows: {
      get: async (team, name) => {
        const found = isApplying ? kind.get(`${team}/${name}`) : undefined
        return found === undefined ? null : { team, name, ...settingsOfWindowSpec(withoutNulls(found.spec)) }
      },
    },
  })
  return { clock, kind, windows }
}

/** As the API server drops them. */
function withoutNulls<T extends object>(spec: T): T {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null)) as T
}

it('a window becomes a resource, and an edit replaces all of its spec', async () => {
  const { kind, windows } = setUp()
  await windows.write(NIGHT)
  expect(kind.get('shop/night')?.spec).toEqual({
    ...{ action: 'Mute', resource: { kind: 'HttpQueue', name: 'mails' }, reason: 'move' },
    ...{ start: '1970-01-01T00:00:01Z', end: '1970-01-01T00:00:02.500Z' },
  })
  const times = { kind: 'recurring', schedules: [SCHEDULE] } as const
  await windows.write({ ...NIGHT, action: 'hold', resource: null, reason: null, times })
  expect(withoutNulls(kind.get('shop/night')?.spec ?? {})).toEqual({ action: 'Hold', recurring: [SCHEDULE] })
  await windows.write(NIGHT)
  expect(kind.get('shop/night')?.spec.recurring).toBeNull()
  expect(kind.writes).toEqual(['create shop/night', 'spec shop/night', 'spec shop/night'])
})

it('a write is answered after two seconds when no controller takes it over, and so is a removal', async () => {
  const { clock, kind, windows } = setUp(false)
  let isDone = false
  const writing = windows.write(NIGHT).then(() => (isDone = true))
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
  await expect(windows.write(NIGHT)).rejects.toThrow(EditRefusedError)
  await expect(windows.write({ ...NIGHT, team: 'office' })).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  await expect(windows.remove('office', 'night')).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
})
