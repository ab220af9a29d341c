import { expect, test } from 'vitest'
import {
  readAlertDeletion,
  readAlertQuery,
  readAlertSelection,
} from '../../../../src/contract/requests/alert-query.ts'

const NOW_MS = 1_800_000_000_000

const ANY = {
  type: null,
  reason: null,
  resourceKind: null,
  resourceId: null,
  isRead: null,
  afterMs: null,
  beforeMs: null,
}
const REQUIRED =
  'The all field is required when none of type / reason / resource kind / resource id / read / after / before are present.'

test('an empty query is the first page of all alerts', () => {
  expect(readAlertQuery('', NOW_MS)).toEqual({
    kind: 'valid',
    value: { filter: ANY, limit: 100, cursor: null },
  })
})

test('every filter, in a query and in a body', () => {
  const filter = {
    type: 'failure',
    reason: 'quota_nearly_used',
    resourceKind: 'cron',
    resourceId: 0,
    isRead: false,
    afterMs: Date.UTC(2026, 10, 21, 10),
    beforeMs: Date.UTC(2026, 10, 21, 9, 30),
  }
  const search =
    'type=failure&reason=quota_nearly_used&resource_kind=cron&resource_id=0&read=false' +
    '&after=2026-11-21T10:00:00Z&before=2026-11-21T10:30:00%2B01:00'
  expect(readAlertQuery(`${search}&limit=7&cursor=x`, NOW_MS)).toEqual({
    kind: 'valid',
    value: { filter, limit: 7, cursor: 'x' },
  })
  expect(readAlertDeletion(search, NOW_MS)).toEqual({ kind: 'valid', value: filter })
  const body = {
    type: 'failure',
    reason: 'quota_nearly_used',
    resource_kind: 'cron',
    resource_id: 0,
    read: false,
    after: '2026-11-21T10:00:00Z',
    before: '2026-11-21T10:30:00+01:00',
  }
  expect(readAlertSelection(Buffer.from(JSON.stringify(body)))).toEqual({ kind: 'valid', value: filter })
})

test('a time as our answers write it, whose plus sign was not escaped', () => {
  expect(readAlertQuery('after=2026-11-21T10:00:00.000+00:00', NOW_MS)).toMatchObject({
    value: { filter: { afterMs: Date.UTC(2026, 10, 21, 10) } },
  })
})

test('everything is deleted or marked only when it is asked for', () => {
  expect(readAlertDeletion('all=true', NOW_MS)).toEqual({ kind: 'valid', value: ANY })
  expect(readAlertSelection(Buffer.from('{}'))).toEqual({ kind: 'valid', value: ANY })
  expect(readAlertSelection(Buffer.from('{"type":null}'))).toEqual({ kind: 'valid', value: ANY })
})

test.each([
  ['type=error', 'type', 'The selected type is invalid.'],
  ['reason=bad', 'reason', 'The selected reason is invalid.'],
  ['resource_kind=job', 'resource_kind', 'The selected resource kind is invalid.'],
  ['resource_id=-1', 'resource_id', 'The resource id field must be an integer.'],
  [
    'resource_id=9999999999999999',
    'resource_id',
    'The resource id field must be between 0 and 9007199254740991.',
  ],
  ['read=yes', 'read', 'The read field must be true or false.'],
  [
    'after=yesterday',
    'after',
    'The after field must be a valid ISO 8601 timestamp with an offset, or a span back from now such as 15m, 1h or 7d.',
  ],
  [
    'before=2026-11-21T10:00',
    'before',
    'The before field must be a valid ISO 8601 timestamp with an offset, or a span back from now such as 15m, 1h or 7d.',
  ],
  [`after=${'1'.repeat(65)}`, 'after', 'The after field must not be greater than 64 characters.'],
  ['type=', 'type', 'The type field must have a value.'],
  ['type=failure&type=warning', 'type', 'The type field must be given only once.'],
  ['sort=asc', 'sort', 'The sort field is unknown.'],
])('a list with %s', (search, field, text) => {
  const result = readAlertQuery(search, NOW_MS)
  expect(result.kind === 'invalid' && Object.entries(result.problem.errors)).toEqual([[field, [text]]])
})

test.each([
  ['', { all: [REQUIRED] }],
  ['all=false', { all: [REQUIRED] }],
  ['all=1', { all: ['The all field must be true or false.'] }],
  ['all=true&read=false', { all: ['The all field prohibits read from being present.'] }],
  // With an unset variable only the mistake is named, and nothing is deleted.
  ['type=', { type: ['The type field must have a value.'] }],
  ['limit=1', { all: [REQUIRED], limit: ['The limit field is unknown.'] }],
])('a deletion with %j', (search, errors) => {
  const result = readAlertDeletion(search, NOW_MS)
  expect(result.kind === 'invalid' && result.problem.errors).toEqual(errors)
})

test('all mistakes of a body are named at once, in the order of the contract', () => {
  const body = { before: 5, resource_id: '7', type: 'x', all: true }
  const result = readAlertSelection(Buffer.from(JSON.stringify(body)))
  expect(result.kind === 'invalid' && Object.entries(result.problem.errors)).toEqual([
    ['type', ['The selected type is invalid.']],
    ['resource_id', ['The resource id field must be an integer.']],
    ['before', ['The before field must be a string.']],
    ['all', ['The all field is unknown.']],
  ])
})
