import { expect, test } from 'vitest'
import type { Cron } from '../../../../clients/typescript/src/client.ts'
import { changesOf, draftOf, NEW_CRON } from '../../../../dashboard/src/features/crons/form/cron-draft.ts'

const DRAFT = draftOf({
  name: 'Nightly',
  url: 'https://example.com',
  method: 'POST',
  callback_url: null,
  queue: 'reports',
  cron_expression: '0 3 * * *',
  time_zone: 'UTC',
  timeout_seconds: 30,
  alert_threshold: 1,
  concurrency_policy: 'allow',
  missed_run_policy: 'latest',
  starting_deadline_seconds: 60,
  jitter_seconds: 0,
  headers: { 'X-A': '1' },
  payload: '{"a": 12345678901234567890}',
  success_assertions: [
    { type: 'status_code_equals', value: 200 },
    { type: 'body_contains', value: '1: ok' },
  ],
} as unknown as Cron)

test('nothing is sent of what was not touched', () => {
  expect(changesOf(DRAFT, DRAFT)).toEqual({ edit: {}, count: 0, mistakes: {} })
})

test('numbers are numbers, and what is emptied is taken out', () => {
  const { edit } = changesOf(DRAFT, {
    ...DRAFT,
    timeout_seconds: ' 60 ',
    jitter_seconds: 'x',
    queue: ' ',
    starting_deadline_seconds: '',
    payload: '',
  })
  expect(edit).toEqual({
    timeout_seconds: 60,
    jitter_seconds: 'x',
    queue: null,
    starting_deadline_seconds: null,
    payload: null,
  })
})

test('assertions and headers are read line by line', () => {
  expect(DRAFT.success_assertions).toBe('status_code_equals: 200\nbody_contains: 1: ok')
  const { edit, mistakes } = changesOf(DRAFT, {
    ...DRAFT,
    success_assertions: 'body_contains: 12\n\nresponse_time_under_ms:500\nnonsense',
    headers: 'X-A: 1\nX-B',
  })
  expect(edit.success_assertions).toEqual([
    { type: 'body_contains', value: '12' },
    { type: 'response_time_under_ms', value: 500 },
    { type: 'nonsense', value: '' },
  ])
  expect(mistakes).toEqual({ headers: 'Line 2 is not "name: value".' })
})

test('a new cron has what was filled in', () => {
  const { edit } = changesOf(NEW_CRON, { ...NEW_CRON, name: 'a', url: 'https://example.com' })
  expect(edit).toEqual({ name: 'a', url: 'https://example.com' })
})
