import { expect, it } from 'vitest'
import type { AuditRecord } from '../../../src/domain/access/audit-record.ts'
import { stopIn } from '../../../src/domain/queue-stop.ts'

const ADA = { kind: 'user', name: 'ada', via: 'dashboard', address: null } as const

function entry(change: Partial<AuditRecord>): AuditRecord {
  return {
    id: '1',
    atMs: 5,
    count: 1,
    lastAtMs: 5,
    ids: [],
    outcome: 'done',
    actor: ADA,
    action: 'pause',
    resource: { kind: 'queue', id: 7, name: 'emails' },
    before: {},
    after: {},
    ...change,
  }
}

const FOUND = { atMs: 5, by: 'ada', via: 'dashboard', reason: null }

it.each<[string, Partial<AuditRecord>]>([
  ['a pause', {}],
  ['an edit', { action: 'edit', after: { is_active: false } }],
  ['a change of the resource', { action: 'edit', after: { active: false } }],
])('finds who paused by %s', (_how, change) => {
  expect(stopIn([entry(change)], 'pause')).toEqual(FOUND)
  expect(stopIn([entry(change)], 'drain')).toBe(null)
})

it('finds who let it drain, with the reason', () => {
  const records = [
    entry({ action: 'resume', after: { is_active: true } }),
    entry({ action: 'edit', after: { is_draining: true, reason: 7 } }),
    entry({ action: 'drain', after: { is_draining: true, reason: 'It moves.' } }),
  ]
  expect(stopIn(records, 'drain')).toEqual(FOUND)
  expect(stopIn(records.slice(2), 'drain')).toEqual({ ...FOUND, reason: 'It moves.' })
})

it('passes over what was refused, and the end of a pause', () => {
  const records = [
    entry({ outcome: 'refused', after: null }),
    entry({ action: 'edit', after: { active: true } }),
  ]
  expect(stopIn(records, 'pause')).toBe(null)
})
