import { describe, expect, it, vi } from 'vitest'
import { WindowOpenings } from '../../../../../src/domain/windows/window-openings.ts'
import type { MaintenanceWindow, WindowTimes } from '../../../../../src/domain/windows/maintenance-window.ts'
import { SetAside } from '../../../../../src/domain/set-aside.ts'
import { WindowsInForce } from '../../../../../src/redis/control/compiled/windows-in-force.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'

const once = (startMs: number, endMs: number): WindowTimes => ({ kind: 'once', startMs, endMs })

function window(name: string, change: Partial<MaintenanceWindow> = {}): MaintenanceWindow {
  const times = once(1_000, 2_000)
  return { team: 'shop', name, action: 'mute', resource: null, times, reason: null, ...change }
}
const setAside = new SetAside('window', { logger: quietLogger, metrics: quietMetrics })
function windowsOf(
  windows: readonly MaintenanceWindow[],
  former: WindowsInForce | null = null,
): WindowsInForce {
  return new WindowsInForce(windows, { former, setAside })
}
const MAILS = { kind: 'queue', name: 'mails' } as const
const NIGHTLY = { kind: 'cron', name: 'nightly' } as const

describe('mutes', () => {
  it('names the window of all, of each queue and of each cron, from its start to its end', () => {
    const windows = windowsOf([
      window('all'),
      window('mails', { resource: MAILS, times: once(500, 1_500) }),
      window('nightly', { resource: NIGHTLY, action: 'hold' }),
    ])
    expect(windows.mutes('shop', 499)).toBeNull()
    const none = new Map()
    expect(windows.mutes('shop', 500)).toEqual({
      all: null,
      queues: new Map([['mails', 'mails']]),
      crons: none,
    })
    expect(windows.mutes('shop', 1_000)).toEqual({
      all: 'all',
      queues: new Map([['mails', 'mails']]),
      crons: new Map([['nightly', 'nightly']]),
    })
    expect(windows.mutes('shop', 1_500)).toEqual({
      all: 'all',
      queues: none,
      crons: new Map([['nightly', 'nightly']]),
    })
    expect(windows.mutes('shop', 2_000)).toBeNull()
    expect(windows.mutes('shop', 700)?.all).toBeNull()
    expect(windows.mutes('office', 1_000)).toBeNull()
  })

  it('names the window that ends last, of several such the first by name', () => {
    const longer = window('c', { times: once(1_000, 3_000) })
    const windows = windowsOf([window('a'), window('d', { times: once(0, 3_000) }), longer])
    expect(windows.mutes('shop', 1_500)?.all).toBe('c')
    expect(windowsOf([window('b'), window('a')]).mutes('shop', 1_500)?.all).toBe('a')
  })

  it('are the same object between two edges', () => {
    const windows = windowsOf([window('a'), window('b', { times: once(1_200, 1_800) })])
    const first = windows.mutes('shop', 1_000)
    expect(windows.mutes('shop', 1_199)).toBe(first)
    expect(windows.mutes('shop', 1_200)).not.toBe(first)
  })
})

describe('holds', () => {
  const hold = (name: string, change: Partial<MaintenanceWindow> = {}) =>
    window(name, { action: 'hold', ...change })

  it('are one for each resource, up to the latest end, and none of a mute', () => {
    const windows = windowsOf([
      hold('a'),
      hold('b', { times: once(1_500, 3_000) }),
      hold('c', { resource: MAILS }),
      hold('d', { resource: { ...NIGHTLY, name: 'mails' } }),
      hold('e', { team: 'office' }),
      window('f', { times: once(0, 9_000) }),
    ])
    expect(windows.holds(999)).toEqual([])
    expect(windows.holds(1_500)).toEqual([
      { team: 'shop', resource: null, untilMs: 3_000 },
      { team: 'shop', resource: MAILS, untilMs: 2_000 },
      { team: 'shop', resource: { ...NIGHTLY, name: 'mails' }, untilMs: 2_000 },
      { team: 'office', resource: null, untilMs: 2_000 },
    ])
    expect(windows.holds(2_000)).toEqual([{ team: 'shop', resource: null, untilMs: 3_000 }])
  })

  it('are the same array while nothing changes', () => {
    const windows = windowsOf([hold('a'), window('f', { times: once(1_100, 1_200) })])
    const first = windows.holds(1_000)
    expect(windows.holds(1_999)).toBe(first)
    expect(windows.holds(2_000)).toEqual([])
  })
})

it('a successor takes over the times of windows that are the same, and judges those that changed anew', () => {
  const edited = (endMs: number) => window('edited', { action: 'hold', times: once(1_000, endMs) })
  const schedules = Array.from({ length: 10 }, () => {
    return { cronExpression: '* * * * *', timeZone: 'UTC', durationSeconds: 604_800 }
  })
  const costly = window('costly', {
    action: 'hold',
    resource: MAILS,
    times: { kind: 'recurring', schedules },
  })
  const former = windowsOf([edited(2_000), costly])
  const [, ofCostly] = former.holds(1_500)
  const next = windowsOf([edited(1_400), { ...costly, reason: 'new' }], former)
  expect(next.holds(1_500 + 3_600_000)).toEqual([ofCostly])
  expect(next.mutes('shop', 1_500)?.all).toBeNull()
})

describe('a window that our own code throws over', () => {
  /** Counts as one whose times throw; asked how often. */
  const breakAt = (startMs: number) => {
    const { at } = WindowOpenings.prototype
    const asked: number[] = []
    vi.spyOn(WindowOpenings.prototype, 'at').mockImplementation(function (this: WindowOpenings, nowMs) {
      const state = at.call(this, nowMs)
      if (state.sinceMs !== startMs) return state
      asked.push(nowMs)
      throw new Error('odd')
    })
    return asked
  }

  it('counts as closed, and all others hold and mute', () => {
    const asked = breakAt(1_001)
    const bad = { times: once(1_001, 2_000) }
    const windows = windowsOf([
      window('bad', bad),
      window('good'),
      window('bad-hold', { ...bad, team: 'office', action: 'hold' }),
      window('good-hold', { action: 'hold', resource: MAILS }),
    ])
    expect(windows.mutes('shop', 1_500)?.all).toBe('good')
    expect(windows.holds(1_500)).toEqual([{ team: 'shop', resource: MAILS, untilMs: 2_000 }])
    // Within a minute it is not asked again.
    const tries = asked.length
    expect(windows.holds(1_600)).toHaveLength(1)
    expect(asked).toHaveLength(tries)
    vi.restoreAllMocks()
  })

  it('is asked again a minute later', () => {
    const times = once(1_001, 200_000)
    const windows = windowsOf([window('bad', { times, action: 'hold' })])
    breakAt(1_001)
    expect(windows.holds(1_500)).toEqual([])
    vi.restoreAllMocks()
    expect(windows.holds(61_499)).toEqual([])
    expect(windows.holds(61_500)).toHaveLength(1)
  })

  it('is left out from the first when its times cannot be taken', () => {
    const times = { kind: 'recurring', schedules: null } as unknown as WindowTimes
    const windows = windowsOf([window('bad', { times }), window('good')])
    expect(windows.mutes('shop', 1_500)?.all).toBe('good')
  })
})
