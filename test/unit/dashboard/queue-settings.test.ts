import { expect, test } from 'vitest'
import type { Queue } from '../../../clients/typescript/src/client.ts'
import {
  differencesOf,
  draftOf,
  changesOf,
  SETTINGS,
} from '../../../dashboard/src/features/queues/settings.ts'

const QUEUE: Queue = {
  ...{ queue_id: 7, name: 'emails', is_active: true, is_draining: false, timeout_seconds: 30 },
  ...{ retries_enabled: true, retry_delays: [60, 1800], success_assertions: [], alerts_enabled: false },
  ...{ max_parallelism: null, dlq_retention_days: 14, callback_events: 'terminal' },
  ...{ strict_parallelism: false, counts: { pending: 0, delayed: 0, processing: 0, dead: 0 } },
  managed_by: null,
}
const wordsOf = (queue: Queue): readonly string[] => SETTINGS.map(({ words }) => words(queue))

test('settings are told in words', () => {
  expect(wordsOf(QUEUE)).toEqual([
    ...['Running', 'No limit', '30 s', 'After 1 min, then 30 min', 'Status 2xx'],
    ...['When the chain has ended', '14 days', 'None'],
  ])
  const other: Queue = {
    ...{ ...QUEUE, is_active: false, is_draining: true, retries_enabled: false, max_parallelism: 1 },
    ...{ callback_events: 'every_attempt', alerts_enabled: true },
    success_assertions: [
      { type: 'status_code_equals', value: 201 },
      { type: 'body_contains', value: 'ok' },
      { type: 'response_time_under_ms', value: 1_500 },
    ],
  }
  expect(wordsOf(other)).toEqual([
    ...['Paused, draining', 'At most 1 call', '30 s', 'None'],
    'Status 2xx, status 201, “ok” in the body, less than 1500 ms',
    ...['After every attempt', '14 days', 'When jobs fail or limits are near'],
  ])
})

test('only what was changed is sent, and what is no number goes as it is', () => {
  const begun = draftOf(QUEUE)
  expect(changesOf(begun, begun)).toEqual({ edit: {}, count: 0 })
  expect(changesOf(begun, { ...begun, limit: '4', delays: '1 x, 900', days: '30' }).edit).toEqual({
    ...{ max_parallelism: 4, retry_delays: [1, 'x', 900], dlq_retention_days: 30 },
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
