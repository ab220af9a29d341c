import { expect, test } from 'vitest'
import type { DeadLetterGroup } from '../../../../clients/typescript/src/client.ts'
import { filterOfGroup, mergeGroups } from '../../../../dashboard/src/features/jobs/dead-letters/groups.ts'

const group = (given: Partial<DeadLetterGroup>): DeadLetterGroup => ({
  queue_id: 12,
  queue: 'emails',
  failure_reason: 'http_server_error',
  response_status: 503,
  host: 'api.example.com',
  count: 1,
  first_ended_at: '2026-11-21T02:00:00.000+00:00',
  last_ended_at: '2026-11-21T02:00:00.000+00:00',
  next_purge_at: null,
  newest_job_id: 1,
  error_message: null,
  ...given,
})

test('a group that came on several pages is one, with the sum and the outer times', () => {
  const merged = mergeGroups([
    group({ count: 3, first_ended_at: '2026-11-21T03:00:00.000+00:00', newest_job_id: 9 }),
    group({ queue_id: 13, queue: 'sms', count: 90 }),
    group({
      count: 4,
      last_ended_at: '2026-11-21T05:00:00.000+00:00',
      next_purge_at: '2026-12-21T00:00:00.000+00:00',
      newest_job_id: 7,
    }),
  ])
  expect(merged.map(({ queue, count }) => [queue, count])).toEqual([
    ['sms', 90],
    ['emails', 7],
  ])
  expect(merged[1]).toMatchObject({
    first_ended_at: '2026-11-21T02:00:00.000+00:00',
    last_ended_at: '2026-11-21T05:00:00.000+00:00',
    next_purge_at: '2026-12-21T00:00:00.000+00:00',
    newest_job_id: 7,
  })
})

test('the filter of a group is within that of the page, and there is none for what no filter finds', () => {
  expect(filterOfGroup(group({}), { tag: 'tenant:acme' })).toEqual({
    tag: 'tenant:acme',
    status: 'dead_lettered',
    queue: 'emails',
    host: 'api.example.com',
    failure_reason: 'http_server_error',
    response_status: '503',
  })
  expect(filterOfGroup(group({ host: null }), {})).toBe(null)
  expect(filterOfGroup(group({ queue: null, queue_id: null }), {})).toBe(null)
})
