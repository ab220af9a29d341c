import assert from 'node:assert/strict'
import { expect, test } from 'vitest'
import { readJobQuery } from '../../../../src/contract/requests/job-list-query.ts'
import { basedCursor, readPageQuery } from '../../../../src/contract/requests/list-query.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'

const NOW_MS = 1_800_000_000_000

test('an empty query is the first page of everything', () => {
  const all = { filter: ANY_JOB, order: null, limit: 100, cursor: null }
  expect(readJobQuery('', NOW_MS)).toEqual({ kind: 'valid', value: all })
})

test('every filter', () => {
  const search = new URLSearchParams({
    queue: 'a b',
    status: 'failed',
    final_status: 'retrying',
    failure_reason: 'timeout',
    response_status: '503',
    host: 'API.Bücher.example',
    tag: 'tenant:a:b',
    cron_id: '0',
    created_after: '2026-11-21T10:00:00Z',
    created_before: '2026-11-21T10:00:00.001Z',
    scheduled_after: '1970-01-01T00:00:00Z',
    ended_before: '1970-01-01T01:00:00.5+01:00',
    text: '%_.*é"',
    order: 'newest',
    limit: '1000',
    cursor: 'x',
  })
  expect(readJobQuery(search.toString(), NOW_MS)).toEqual({
    kind: 'valid',
    value: {
      filter: {
        queue: 'a b',
        status: 'failed',
        finalStatus: 'retrying',
        failureReason: 'timeout',
        responseStatus: 503,
        host: 'api.xn--bcher-kva.example',
        tag: { name: 'tenant', value: 'a:b' },
        cronId: 0,
        created: { afterMs: 1_795_255_200_000, beforeMs: 1_795_255_200_001 },
        scheduled: { afterMs: 0, beforeMs: null },
        ended: { afterMs: null, beforeMs: 500 },
        text: '%_.*é"',
      },
      order: 'newest',
      limit: 1000,
      cursor: 'x',
    },
  })
  // A plus sign that was not escaped.
  const plus = readJobQuery('created_after=1970-01-01T01:00:00+01:00', NOW_MS)
  expect(plus.kind === 'valid' && plus.value.filter.created.afterMs).toBe(0)
  expect(readPageQuery('limit=1')).toEqual({ kind: 'valid', value: { limit: 1, cursor: null } })
})

test.each(['newest', 'oldest', 'queue'])('a list may ask for the order %s', (order) => {
  expect(readJobQuery(`order=${order}`, NOW_MS)).toMatchObject({ value: { order } })
})

test.each(['text=x', 'order=newest'])('the jobs of a bulk are not listed by %s', (other) => {
  expect(readJobQuery(`bulk_id=7&${other}`, NOW_MS)).toMatchObject({
    problem: { errors: { bulk_id: [expect.stringContaining('prohibits')] } },
  })
})

test('the jobs of a bulk', () => {
  const result = readJobQuery('bulk_id=457310208000017&status=failed', NOW_MS)
  expect(result.kind === 'valid' && result.value.filter).toMatchObject({
    bulkId: 457_310_208_000_017,
    status: 'failed',
  })
})

test('spans of time are counted back from now, and on later pages from when the first was read', () => {
  const first = readJobQuery('ended_after=1h&ended_before=15m', NOW_MS)
  assert.ok(first.kind === 'valid')
  const ended = { afterMs: NOW_MS - 3_600_000, beforeMs: NOW_MS - 900_000 }
  expect(first.value.filter.ended).toEqual(ended)
  const cursor = basedCursor('x', first.spansFromMs ?? null)
  const later = readJobQuery(`ended_after=1h&ended_before=15m&cursor=${cursor}`, NOW_MS + 60_000)
  assert.ok(later.kind === 'valid')
  expect(later.value).toMatchObject({ filter: { ended }, cursor: 'x' })
  expect(later.spansFromMs).toBe(NOW_MS)
  const days = readJobQuery('created_after=7d&scheduled_after=2w', NOW_MS)
  assert.ok(days.kind === 'valid')
  expect(days.value.filter.created.afterMs).toBe(NOW_MS - 7 * 86_400_000)
  expect(days.value.filter.scheduled.afterMs).toBe(NOW_MS - 14 * 86_400_000)
  expect(basedCursor(null, NOW_MS)).toBeNull()
  expect(basedCursor('x', null)).toBe('x')
  for (const wrong of ['1y', '-1h', '1.5h', 'h', '1 h', '1h30m']) {
    expect(readJobQuery(`ended_after=${wrong}`, NOW_MS)).toMatchObject({
      problem: { message: expect.stringContaining('or a span back from now such as 15m, 1h or 7d') },
    })
  }
})

test.each(['127.0.0.1', '[::1]', 'localhost', 'a.example.'])('the host %s', (host) => {
  const result = readJobQuery(`host=${host}`, NOW_MS)
  expect(result.kind === 'valid' && result.value.filter.host).toBe(host)
})

test.each([
  ['bulk_id=7&text=a', 'bulk_id', 'The bulk id field prohibits text from being present.'],
  ['bulk_id=x', 'bulk_id', 'The bulk id field must be an integer.'],
  ['limit=0', 'limit', 'The limit field must be between 1 and 1000.'],
  ['limit=1001', 'limit', 'The limit field must be between 1 and 1000.'],
  ['limit=ten', 'limit', 'The limit field must be an integer.'],
  ['limit=1.5', 'limit', 'The limit field must be an integer.'],
  ['limit=-1', 'limit', 'The limit field must be an integer.'],
  ['limit=1&limit=2', 'limit', 'The limit field must be given only once.'],
  ['queue=a&queue=', 'queue', 'The queue field must be given only once.'],
  ['queue=', 'queue', 'The queue field must have a value.'],
  ['queue', 'queue', 'The queue field must have a value.'],
  ['status=', 'status', 'The status field must have a value.'],
  ['limit=', 'limit', 'The limit field must have a value.'],
  ['cursor=', 'cursor', 'The cursor field must have a value.'],
  ['status=done', 'status', 'The selected status is invalid.'],
  [`queue=${'q'.repeat(256)}`, 'queue', 'The queue field must not be greater than 255 characters.'],
  [`cursor=${'c'.repeat(8193)}`, 'cursor', 'The cursor field must not be greater than 8192 characters.'],
  ['final_status=failed', 'final_status', 'The selected final status is invalid.'],
  ['failure_reason=bad', 'failure_reason', 'The selected failure reason is invalid.'],
  ['response_status=99', 'response_status', 'The response status field must be between 100 and 599.'],
  ['response_status=5xx', 'response_status', 'The response status field must be an integer.'],
  ['host=', 'host', 'The host field must have a value.'],
  ...['a.example:80', 'http://a', 'a/b', 'u@a', '::1', 'a..b', 'a b', 'a?', '[::1]:80'].map((host) => [
    `host=${encodeURIComponent(host)}`,
    'host',
    'The host field must be a host name or address without a port.',
  ]),
  ['tag=tenant', 'tag', 'The tag field must be the name of a tag, a colon, and its value.'],
  ['tag=:acme', 'tag', 'The tag field must be the name of a tag, a colon, and its value.'],
  [`tag=a:${'b'.repeat(320)}`, 'tag', 'The tag field must not be greater than 321 characters.'],
  ['cron_id=-1', 'cron_id', 'The cron id field must be an integer.'],
  ['cron_id=9007199254740993', 'cron_id', 'The cron id field must be between 0 and 9007199254740991.'],
  [
    'ended_after=now',
    'ended_after',
    'The ended after field must be a valid ISO 8601 timestamp with an offset, or a span back from now such as 15m, 1h or 7d.',
  ],
  ['text=', 'text', 'The text field must have a value.'],
  [`text=${'t'.repeat(257)}`, 'text', 'The text field must not be greater than 256 characters.'],
  ['sort=asc', 'sort', 'The sort field is unknown.'],
  ['__proto__=1', '__proto__', 'The __proto__ field is unknown.'],
])('%s', (search, field, text) => {
  const result = readJobQuery(search, NOW_MS)
  expect(result.kind === 'invalid' && Object.entries(result.problem.errors)).toEqual([[field, [text]]])
})

test('the query of a list without filters has the same mistakes', () => {
  const result = readPageQuery('limit=&cursor=&cursor=x&queue=a')
  expect(result.kind === 'invalid' && result.problem.errors).toEqual({
    limit: ['The limit field must have a value.'],
    cursor: ['The cursor field must be given only once.'],
    queue: ['The queue field is unknown.'],
  })
})
