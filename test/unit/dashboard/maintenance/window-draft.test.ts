import { expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import {
  creationOf,
  draftOf,
  editOf,
  newDraft,
} from '../../../../dashboard/src/features/maintenance/window-draft.ts'
import {
  clockText,
  effectText,
  timesText,
} from '../../../../dashboard/src/features/maintenance/window-text.ts'

const NOW = Date.parse('2026-11-23T10:00:30Z')
const FRESH = newDraft(NOW, 'Europe/Berlin')
const WINDOW: MaintenanceWindow = {
  id: 'night',
  name: 'night',
  resource: { kind: 'queue', id: 12, name: 'mail' },
  action: 'hold',
  start_at: null,
  end_at: null,
  reason: 'Move',
  active: false,
  active_since: null,
  ends_at: null,
  recurring: [{ cron_expression: '0 1 * * sat', time_zone: 'UTC', duration_seconds: 7_200 }],
  next_start_at: null,
  problem: null,
}

test('a new window begins with this minute, for an hour', () => {
  expect(creationOf({ ...FRESH, resource: 'cron/4', reason: ' ' })).toEqual({
    start_at: '2026-11-23T10:00:00.000Z',
    end_at: '2026-11-23T11:00:00.000Z',
    action: 'mute',
    resource: { kind: 'cron', id: 4 },
    reason: null,
  })
})

test('an edit sends what was changed alone', () => {
  const before = draftOf(WINDOW, FRESH)
  expect(editOf(before, before)).toEqual({})
  expect(editOf(before, { ...before, resource: '', reason: '' })).toEqual({ resource: null, reason: null })
  const [schedule] = before.schedules
  const longer = { ...before, schedules: schedule === undefined ? [] : [{ ...schedule, minutes: '90' }] }
  expect(editOf(before, longer)).toEqual({
    recurring: [{ cron_expression: '0 1 * * sat', time_zone: 'UTC', duration_seconds: 5_400 }],
  })
  expect(editOf(before, { ...before, isOnce: true })).toEqual({ start_at: FRESH.start, end_at: FRESH.end })
})

test('a window says what it does, and when', () => {
  expect(effectText(WINDOW)).toBe('Jobs of queue mail are held, and its alerts are muted')
  expect(effectText({ action: 'mute', resource: null })).toBe('All alerts are muted')
  // An API that is newer than the page has other actions.
  const later = 'slow' as MaintenanceWindow['action']
  expect(effectText({ action: later, resource: null })).toBe('slow: the whole team')
  expect(effectText({ ...WINDOW, action: later })).toBe('slow: queue mail')
  expect(timesText(WINDOW, 'UTC')).toBe('0 1 * * sat UTC, for 2 h')
  const once = { start_at: '2026-11-23T23:30:00Z', end_at: '2026-11-24T01:00:00Z', recurring: null }
  expect(timesText(once, 'UTC')).toBe('2026-11-23 23:30 – 2026-11-24 01:00')
  expect(timesText(once, 'Europe/Berlin')).toBe('2026-11-24 00:30 – 02:00')
  expect([0, 24].map((hours) => clockText(NOW + hours * 3_600_000, NOW, 'UTC'))).toEqual([
    '10:00',
    'Tue 11-24 10:00',
  ])
})
