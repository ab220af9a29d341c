import { expect, test } from 'vitest'
import type { Queue } from '../../../clients/typescript/src/client.ts'
import {
  differencesOf,
  draftOf,
  changesOf,
  NEW_SETTINGS,
  SETTINGS,
} from '../../../dashboard/src/features/queues/settings/settings.ts'
import { toldRate } from '../../../dashboard/src/features/queues/settings/flow-text.ts'

const QUEUE: Queue = {
  queue_id: 7,
  name: 'emails',
  is_active: true,
  is_draining: false,
  timeout_seconds: 30,
  retries_enabled: true,
  retry_delays: [60, 1800],
  success_assertions: [],
  alerts_enabled: false,
  max_parallelism: null,
  dlq_retention_days: 14,
  callback_events: 'terminal',
  record_responses: 'all',
  strict_parallelism: false,
  rate_limit: null,
  respect_retry_after: false,
  circuit_breaker: null,
  no_retry_statuses: [],
  retry_jitter_percent: 0,
  throttled: null,
  counts: { pending: 0, delayed: 0, processing: 0, dead: 0 },
  managed_by: null,
}
const wordsOf = (queue: Queue): readonly string[] => SETTINGS.map(({ words }) => words(queue))

test('the form of a new queue begins with what a queue has of which nothing is said', () => {
  expect(NEW_SETTINGS).toEqual(draftOf({ ...QUEUE, retry_delays: [60, 1800, 10800] }))
  expect(changesOf(NEW_SETTINGS, { ...NEW_SETTINGS, rate: '10' }).edit).toEqual({
    rate_limit: { limit: 10, period_seconds: 1 },
  })
})

test('settings are told in words', () => {
  expect(wordsOf(QUEUE)).toEqual([
    'Running',
    'No limit',
    'None',
    'Is ignored',
    'None',
    '30 s',
    'After 1 min, then 30 min',
    'Status 2xx',
    'When the chain has ended',
    'Status, headers and body',
    '14 days',
    'None',
  ])
  const other: Queue = {
    ...QUEUE,
    is_active: false,
    is_draining: true,
    retries_enabled: false,
    max_parallelism: 1,
    rate_limit: { limit: 10, period_seconds: 1 },
    respect_retry_after: true,
    circuit_breaker: { failure_percent: 50, min_calls: 10, window_seconds: 60, open_seconds: 30 },
    callback_events: 'every_attempt',
    record_responses: 'none',
    alerts_enabled: true,
    success_assertions: [
      { type: 'status_code_equals', value: 201 },
      { type: 'body_contains', value: 'ok' },
      { type: 'response_time_under_ms', value: 1_500 },
    ],
  }
  expect(wordsOf(other)).toEqual([
    'Paused, draining',
    'At most 1 call',
    'At most 10 calls a second, about one every 100 ms',
    'Keeps the queue waiting',
    'When 50 % of at least 10 calls within 1 min fail, no job begins for 30 s, then one tries',
    '30 s',
    'None',
    'Status 2xx, status 201, “ok” in the body, less than 1500 ms',
    'After every attempt',
    'The status alone',
    '14 days',
    'When jobs fail or limits are near',
  ])
})

test.each([
  [1, 1, 'At most 1 call a second'],
  [1, 3_600, 'At most 1 call an hour'],
  [600, 60, 'At most 600 calls a minute, about one every 100 ms'],
  [7, 86_400, 'At most 7 calls a day, about one every 3 h 26 min'],
  [50, 90, 'At most 50 calls in any 1 min 30 s, about one every 1.8 s'],
  [5_000, 1, 'At most 5,000 calls a second'],
])('a rate of %i in %i s is told in words', (limit, period, words) => {
  expect(toldRate({ limit, period_seconds: period })).toBe(words)
})

test('retries are told with what lengthens their delays, and what has none', () => {
  const retries = SETTINGS.find(({ label }) => label === 'Retries')
  expect(retries?.words({ ...QUEUE, retry_jitter_percent: 20, no_retry_statuses: [404, 410] })).toBe(
    'After 1 min, then 30 min; each up to 20 % later; none after status 404, 410',
  )
})

test('a rate and a breaker are sent as a whole, or end', () => {
  const begun = draftOf(QUEUE)
  expect(changesOf(begun, { ...begun, ratePeriod: '60', minCalls: '3' })).toEqual({ edit: {}, count: 0 })
  expect(
    changesOf(begun, { ...begun, rate: '10', ratePeriod: 'x', hasBreaker: true, minCalls: '3' }),
  ).toEqual({
    edit: {
      rate_limit: { limit: 10, period_seconds: 'x' },
      circuit_breaker: { failure_percent: 50, min_calls: 3, window_seconds: 60, open_seconds: 30 },
    },
    count: 2,
  })
  const breaker = { failure_percent: 20, min_calls: 5, window_seconds: 10, open_seconds: 5 }
  const set = draftOf({ ...QUEUE, rate_limit: { limit: 3, period_seconds: 2 }, circuit_breaker: breaker })
  expect(set).toMatchObject({ rate: '3', ratePeriod: '2', hasBreaker: true, failurePercent: '20' })
  expect(changesOf(set, { ...set, rate: ' ', hasBreaker: false }).edit).toEqual({
    rate_limit: null,
    circuit_breaker: null,
  })
  const others = { ...begun, respectsRetryAfter: true, noRetryStatuses: '410, x', jitter: '20' }
  expect(changesOf(begun, others)).toEqual({
    edit: { respect_retry_after: true, no_retry_statuses: [410, 'x'], retry_jitter_percent: 20 },
    count: 2,
  })
})

test('only what was changed is sent, and what is no number goes as it is', () => {
  const begun = draftOf(QUEUE)
  expect(changesOf(begun, begun)).toEqual({ edit: {}, count: 0 })
  expect(changesOf(begun, { ...begun, limit: '4', delays: '1 x, 900', days: '30' }).edit).toEqual({
    max_parallelism: 4,
    retry_delays: [1, 'x', 900],
    dlq_retention_days: 30,
  })
  const limited = draftOf({ ...QUEUE, max_parallelism: 4 })
  expect(changesOf(limited, { ...limited, limit: ' ' }).edit).toEqual({ max_parallelism: null })
  const assertions = 'status_code_equals: 204\n\nbody_contains: 7: x\n?'
  expect(changesOf(begun, { ...begun, assertions }).edit).toEqual({
    success_assertions: [
      { type: 'status_code_equals', value: 204 },
      { type: 'body_contains', value: '7: x' },
      { type: '?', value: '' },
    ],
  })
})

test('what others have changed is told in words, setting by setting', () => {
  const now: Queue = { ...QUEUE, max_parallelism: 9, timeout_seconds: 5, is_active: false }
  expect(differencesOf(QUEUE, now)).toEqual([
    { label: 'State', before: 'Running', after: 'Paused' },
    { label: 'Calls at once', before: 'No limit', after: 'At most 9 calls' },
    { label: 'Timeout of a call', before: '30 s', after: '5 s' },
  ])
})
