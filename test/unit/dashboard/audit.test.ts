import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../../clients/typescript/src/client.ts'
import { chipsOf, filterOf } from '../../../dashboard/src/features/audit/audit-filter.ts'
import { differencesOf } from '../../../dashboard/src/features/audit/difference.ts'
import { sentenceOf } from '../../../dashboard/src/features/audit/sentence.ts'

const AT = '2026-11-23T08:00:00.000+00:00'

type Given = Partial<Omit<AuditRecord, 'resource'>> & { readonly resource?: Partial<AuditRecord['resource']> }

function record({ resource, ...given }: Given): AuditRecord {
  return {
    id: '1-0-1',
    at: AT,
    count: 1,
    last_at: AT,
    ids: [],
    via: 'api',
    outcome: 'done',
    action: 'edit',
    actor: { kind: 'token', name: 'ann', address: '10.0.0.7' },
    resource: { kind: 'queue', id: 12, name: 'emails', ...resource },
    before: null,
    after: null,
    ...given,
  }
}

function told(given: Given): string {
  const { actor, before, thing, after } = sentenceOf(record(given))
  return `${actor} ${before} [${thing}] ${after}`.trim()
}

describe('a change in words', () => {
  test.each<[string, Given]>([
    ['ann paused the queue [emails]', { action: 'pause' }],
    ['ann tried to pause the queue [emails]', { action: 'pause', outcome: 'refused' }],
    ['ann asked to pause the queue [emails]', { action: 'pause', outcome: 'unknown' }],
    ['ann drained the queue [emails]', { action: 'drain', after: { is_draining: true } }],
    ['ann stopped draining the queue [emails]', { action: 'drain', after: { is_draining: false } }],
    ['ann replayed job [64] of emails', { action: 'replay', resource: { kind: 'job', id: 64 } }],
    ['ann replayed 37 jobs [] of emails', { action: 'replay', count: 37, resource: { kind: 'job', id: 64 } }],
    [
      'ann deleted 2 alerts []',
      { action: 'delete', count: 2, resource: { kind: 'alert', id: 64, name: null } },
    ],
    ['ann paused the queue [emails] , 3 times', { action: 'pause', count: 3 }],
    [
      'ann ran the cron [nightly] , 40 times',
      { action: 'run', count: 40, resource: { kind: 'cron', name: 'nightly' } },
    ],
    ['ann revoked the token [ci]', { action: 'delete', resource: { kind: 'token', id: 'ci', name: 'ci' } }],
    [
      'ann marked as read 7 alerts []',
      { action: 'read', resource: { kind: 'alert', id: null, name: null }, after: { count: 7 } },
    ],
    [
      'ann created the bulk [9] : replay 37 jobs',
      {
        action: 'create',
        resource: { kind: 'bulk', id: 9, name: null },
        after: { action: 'replay', matched: 37 },
      },
    ],
    [
      'ann tested the channel [ops] , which did not take it',
      { action: 'test', resource: { kind: 'channel', id: null, name: 'ops' }, after: { ok: false } },
    ],
    [
      'ann logged out [] everywhere',
      { action: 'logout', resource: { kind: 'session', id: null, name: null }, after: { everywhere: true } },
    ],
    [
      'ann created [] a link that logs in',
      { action: 'create', resource: { kind: 'session', id: null, name: null } },
    ],
    [
      'Somebody edited the settings of the team []',
      {
        via: 'folder',
        actor: { kind: 'user', name: 'unknown', address: null },
        resource: { kind: 'team', id: 'team', name: 'team' },
      },
    ],
    ['ann edited the queue [emails]', { action: 'edit' }],
    ['ann retried job [64] of emails', { action: 'retry', resource: { kind: 'job', id: 64 } }],
    ['ann ran the cron [nightly]', { action: 'run', resource: { kind: 'cron', name: 'nightly' } }],
  ])('%s', (sentence, given) => {
    expect(told(given)).toBe(sentence)
  })
})

describe('what a change changed', () => {
  test('has each field as it was and as it is', () => {
    const given = { before: { a: 1, b: null, c: 'x' }, after: { a: 2, b: ['y'], c: '' } }
    expect(differencesOf(record(given))).toEqual([
      { field: 'a', before: '1', after: '2' },
      { field: 'b', before: 'none', after: '["y"]' },
      { field: 'c', before: 'x', after: '' },
    ])
  })

  test('leaves out what the sentence says, and what was made without a value', () => {
    const paused = { action: 'pause', before: { is_active: true }, after: { is_active: false } }
    expect(differencesOf(record(paused))).toEqual([])
    const made = { action: 'create', after: { name: 'emails', headers: [], payload: null, method: 'POST' } }
    expect(differencesOf(record(made))).toEqual([{ field: 'method', before: null, after: 'POST' }])
  })

  test('does not take a name of every object for a field', () => {
    expect(differencesOf(record({ before: { toString: 1 }, after: {} }))).toEqual([
      { field: 'toString', before: '1', after: null },
    ])
  })
})

describe('filters of the audit log', () => {
  test('are those of the address that the API knows', () => {
    expect(filterOf({ actor: 'ann', resource_kind: 'queue', cursor: 'x', other: 'y' })).toEqual({
      actor: 'ann',
      resource_kind: 'queue',
    })
  })

  test('are shown in words and in the zone', () => {
    const values = { resource_kind: 'secret', after: '2026-11-23T08:00:00Z', before: 'nonsense' }
    expect(chipsOf(values, 'Europe/Berlin').map(({ label, value }) => `${label} ${value}`)).toEqual([
      'Of secret',
      'Since 2026-11-23 09:00:00',
      'Before nonsense',
    ])
  })
})
