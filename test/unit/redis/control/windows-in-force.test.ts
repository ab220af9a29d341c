import { describe, expect, it } from 'vitest'
import type { MaintenanceWindow, WindowTimes } from '../../../../src/domain/windows/maintenance-window.ts'
import { WindowsInForce } from '../../../../src/redis/control/windows-in-force.ts'

const once = (startMs: number, endMs: number): WindowTimes => ({ kind: 'once', startMs, endMs })

function window(name: string, change: Partial<MaintenanceWindow> = {}): MaintenanceWindow {
  const times = once(1_000, 2_000)
  return { team: 'shop', name, action: 'mute', resource: null, times, reason: null, ...change }
}
const MAILS = { kind: 'queue', name: 'mails' } as const
const NIGHTLY = { kind: 'cron', name: 'nightly' } as const

describe('mutes', () => {
  it('names the window of all, of each queue and of each cron, from its start to its end', () => {
    const windows = new WindowsInForce([
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
      ...{ all: 'all', queues: new Map([['mails', 'mails']]), crons: new Map([['nightly', 'nightly']]) },
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
    const windows = new WindowsInForce([window('a'), window('d', { times: once(0, 3_000) }), longer])
    expect(windows.mutes('shop', 1_500)?.all).toBe('c')
    expect(new WindowsInForce([window('b'), window('a')]).mutes('shop', 1_500)?.all).toBe('a')
  })

  it('are the same object between two edges', () => {
    const windows = new WindowsInForce([window('a'), window('b', { times: once(1_200, 1_800) })])
    const first = windows.mutes('shop', 1_000)
    expect(windows.mutes('shop', 1_199)).toBe(first)
    expect(windows.mutes('shop', 1_200)).not.toBe(first)
  })
})

describe('holds', () => {
  const hold = (name: string, change: Partial<MaintenanceWindow> = {}) =>
    window(name, { action: 'hold', ...change })

  it('are one for each resource, up to the latest end, and none of a mute', () => {
    const windows = new WindowsInForce([
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
    const windows = new WindowsInForce([hold('a'), window('f', { times: once(1_100, 1_200) })])
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
  const former = new WindowsInForce([edited(2_000), costly])
  const [, ofCostly] = former.holds(1_500)
  const next = new WindowsInForce([edited(1_400), { ...costly, reason: 'new' }], former)
  expect(next.holds(1_500 + 3_600_000)).toEqual([ofCostly])
  expect(next.mutes('shop', 1_500)?.all).toBeNull()
})
