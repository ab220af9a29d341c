import { expect, test } from 'vitest'
import type { Issue } from '../../../../clients/typescript/src/client.ts'
import {
  countOf,
  deadLettersOf,
  failureOf,
  hourly,
} from '../../../../dashboard/src/features/issues/issue-text.ts'

const AT = '2026-11-23T10:30:00.000Z'

function issueOf(given: Partial<Issue> = {}): Issue {
  return {
    id: '12-9f86d08188',
    resource: { kind: 'queue', id: 12, name: 'mail' },
    failure_reason: 'http_server_error',
    response_status: 503,
    host: 'a.example.com',
    state: 'open',
    muted_until: null,
    count: 412,
    dead_lettered: 330,
    first_at: AT,
    opened_at: AT,
    last_at: AT,
    sample_job_id: 16,
    by_hour: [],
    ...given,
  }
}

test('a failure is said by its answer and host, or by its reason', () => {
  expect(failureOf(issueOf())).toBe('503 from a.example.com')
  expect(failureOf(issueOf({ failure_reason: 'timeout', response_status: null }))).toBe(
    'Timeout: a.example.com',
  )
  expect(failureOf(issueOf({ failure_reason: 'assertion_failed', response_status: 200 }))).toBe(
    'An assertion failed (200): a.example.com',
  )
  expect(failureOf(issueOf({ failure_reason: null, response_status: null, host: null }))).toBe(
    'Other failures',
  )
})

test('dead letters are counted if there are any, else failed attempts', () => {
  expect(countOf(issueOf())).toBe('330 dead letters')
  expect(countOf(issueOf({ dead_lettered: 0, count: 1 }))).toBe('1 failed attempt')
})

test('the dead letters of an issue have a filter, unless it finds none or others', () => {
  const filter = {
    queue: 'mail',
    host: 'a.example.com',
    failure_reason: 'http_server_error',
    response_status: '503',
  }
  expect(deadLettersOf(issueOf())).toEqual(filter)
  expect(deadLettersOf(issueOf({ dead_lettered: 0 }))).toBeNull()
  expect(deadLettersOf(issueOf({ resource: { kind: 'cron', id: 12, name: 'mail' } }))).toBeNull()
  expect(deadLettersOf(issueOf({ failure_reason: null, host: null }))).toBeNull()
  const { response_status: _status, ...rest } = filter
  expect(deadLettersOf(issueOf({ response_status: 999 }))).toEqual(rest)
})

test('hours without a failure are empty, and the last one is that of now', () => {
  const hours = [
    { at: '2026-11-23T10:00:00.000+00:00', failed: 5, dead_lettered: 0 },
    { at: '2026-11-23T08:00:00.000+00:00', failed: 2, dead_lettered: 0 },
    { at: '2026-11-22T08:00:00.000+00:00', failed: 9, dead_lettered: 0 },
  ]
  expect(hourly(issueOf({ by_hour: hours }), 4, Date.parse(AT))).toEqual([0, 2, 0, 5])
})
