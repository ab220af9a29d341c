import { expect, test } from 'vitest'
import { auditedChange, AUDITED_VALUE_CHARACTERS_MAX } from '../../../../src/domain/access/audited-fields.ts'

test('of an edit, the fields that differ are kept, on both sides', () => {
  const state = { counts: { pending: 1 }, throttled: null }
  const before = { name: 'a', timeout_seconds: 30, retry_delays: [1, 2], ...state }
  const throttled = { reason: 'rate_limited', until: null }
  const after = { name: 'a', timeout_seconds: 5, retry_delays: [1], counts: { pending: 9 }, throttled }
  expect(auditedChange(before, after)).toEqual({
    before: { timeout_seconds: 30, retry_delays: [1, 2] },
    after: { timeout_seconds: 5, retry_delays: [1] },
  })
})

test('of a creation and of a deletion, all fields are kept', () => {
  expect(auditedChange(null, { name: 'a', queue: null })).toEqual({
    before: null,
    after: { name: 'a', queue: null },
  })
  expect(auditedChange({ name: 'a' }, null)).toEqual({ before: { name: 'a' }, after: null })
})

test('what may hold a secret is not kept', () => {
  const { after } = auditedChange(null, {
    url: 'https://user:secret-1@example.com/a?key=secret-2#secret-3',
    callback_url: 'https://example.com/b',
    headers: { Authorization: 'secret-4' },
    payload: 'secret-5',
    token: 'secret-6',
  })
  expect(after).toEqual({
    url: 'https://example.com/a?(hidden)',
    callback_url: 'https://example.com/b',
    headers: ['Authorization'],
    payload: '(hidden)',
    token: '(hidden)',
  })
  expect(JSON.stringify(after)).not.toContain('secret')
})

test('a change of a hidden field is shown as one', () => {
  expect(auditedChange({ payload: 'a' }, { payload: 'b' }).after).toEqual({ payload: '(hidden)' })
})

test.each([
  ['a map', { A: '1', B: '2' }, { A: '1', B: 'secret', C: '3' }],
  [
    'a list',
    [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
    [
      { name: 'A', value: '1' },
      { name: 'B', value: 'secret' },
      { name: 'C', value: '3' },
    ],
  ],
])('of headers as %s the names are kept, and which of them have another value', (_what, before, after) => {
  expect(auditedChange({ headers: before }, { headers: after })).toEqual({
    before: { headers: ['A', 'B'] },
    after: { headers: ['A', 'B (changed)', 'C'] },
  })
  expect(auditedChange(null, { headers: after }).after).toEqual({ headers: ['A', 'B', 'C'] })
})

test('long values are cut', () => {
  const { after } = auditedChange(null, { text: 'x'.repeat(10_000), list: Array(10_000).fill(1) })
  for (const value of Object.values(after ?? {})) {
    expect(String(value).length).toBe(AUDITED_VALUE_CHARACTERS_MAX)
  }
})
