import { describe, expect, test } from 'vitest'
import { endAttempt } from '../../../../src/domain/jobs/retry-policy.ts'
import { callbackFor } from '../../../../src/domain/jobs/callback.ts'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import {
  DEFAULT_QUEUE_SETTINGS,
  type CallbackEvents,
  type ChainSettings,
} from '../../../../src/domain/jobs/queue-settings.ts'
import { jobRequest } from '../../../support/engine/engine.ts'

const jobIds = new JobIds(4, '0123456789ab')
const rootId = jobIds.idOf(3, 12, 1)
const uuid = jobIds.uuidOf(rootId)
const T0 = Date.UTC(2026, 10, 21, 10, 0, 0, 7)

function callback(options: {
  attempt?: number
  status?: number
  events?: CallbackEvents
  settings?: Partial<ChainSettings>
  callbackUrl?: string | null
}) {
  const { attempt = 1, status = 200, events = 'terminal', callbackUrl = 'http://caller.test/done' } = options
  const isFailed = status !== 200
  const end = endAttempt(
    {
      attempt,
      createdAtMs: T0,
      scheduledAtMs: T0,
      startedAtMs: T0,
      earlier: [],
      settings: { ...DEFAULT_QUEUE_SETTINGS, ...options.settings },
    },
    {
      completedAtMs: T0 + 1_000,
      durationMs: 12.4,
      responseStatus: status,
      failureReason: isFailed ? 'http_server_error' : null,
      errorMessage: isFailed ? `The target answered ${status}.` : null,
    },
  )
  const request = jobRequest({ callbackUrl })
  const made = callbackFor({ rootId, attempt, request, events, end, jobIds })
  return made === null ? null : { ...made, body: JSON.parse(made.body) as unknown }
}

describe('when it goes out', () => {
  test('in flight, 2xx and all assertions pass: fires if callback_url is set', () => {
    expect(callback({})).toEqual({
      url: 'http://caller.test/done',
      webhookId: `${uuid}_cb`,
      body: {
        type: 'job_execution',
        job_id: uuid,
        job_number: rootId,
        status: 'success',
        response_status: 200,
        duration_ms: 12,
        error_message: null,
        attempt_number: 1,
        completed_at: '2026-11-21T10:00:01.007+00:00',
      },
    })
  })

  test('never without a callback_url', () => {
    expect(callback({ callbackUrl: null })).toBeNull()
    expect(callback({ callbackUrl: null, events: 'every_attempt', status: 500 })).toBeNull()
  })

  test('in flight, request fails, delays remain: not for terminal events', () => {
    expect(callback({ status: 500 })).toBeNull()
  })

  test('in flight, request fails, delays remain: for every_attempt, with an id of that attempt', () => {
    expect(callback({ status: 500, events: 'every_attempt' })).toMatchObject({
      webhookId: `${uuid}_cb_1`,
      body: { status: 'retrying', response_status: 500, error_message: 'The target answered 500.' },
    })
  })

  test('in flight, request fails, retries disabled: reports failed_no_retries', () => {
    expect(callback({ status: 500, settings: { retriesEnabled: false } })).toMatchObject({
      webhookId: `${uuid}_cb`,
      body: { status: 'failed_no_retries' },
    })
  })

  test('retry job in flight, attempt fails, delays remain: for every_attempt reports failed_with_retries', () => {
    expect(callback({ attempt: 2, status: 500 })).toBeNull()
    expect(callback({ attempt: 2, status: 500, events: 'every_attempt' })).toMatchObject({
      webhookId: `${uuid}_cb_2`,
      body: { status: 'failed_with_retries', attempt_number: 2 },
    })
  })

  test('retry job in flight, attempt succeeds: reports success under the original’s id', () => {
    expect(callback({ attempt: 3 })).toMatchObject({
      webhookId: `${uuid}_cb`,
      body: { status: 'success', job_id: uuid, job_number: rootId, attempt_number: 3 },
    })
  })

  test('failed, all retry attempts exhausted: reports dead_lettered', () => {
    expect(callback({ attempt: 4, status: 500 })).toMatchObject({
      webhookId: `${uuid}_cb`,
      body: { status: 'dead_lettered', attempt_number: 4 },
    })
  })
})

test('no two callbacks of a chain have one webhook id', () => {
  const ids = [1, 2, 3, 4].map(
    (attempt) => callback({ attempt, status: 500, events: 'every_attempt' })?.webhookId,
  )
  expect(new Set(ids).size).toBe(4)
})

test('an end without an attempt is a defect', () => {
  const request = jobRequest({ callbackUrl: 'http://caller.test/' })
  const end = {
    kind: 'success',
    retryDelaySeconds: 0,
    finalStatus: 'success',
    callbackStatus: 'success',
    isTerminal: true,
    attempts: [],
  } as const
  expect(() => callbackFor({ rootId, attempt: 1, request, events: 'terminal', end, jobIds })).toThrow(
    'an ended attempt has a summary',
  )
})
