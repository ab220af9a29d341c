import { describe, expect, test } from 'vitest'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import type { AttemptSummary, FailureReason, JobChain, OpenAttempt } from '../../../../src/domain/jobs/job.ts'
import { type JobView, viewChain, viewJob } from '../../../../src/domain/jobs/job-view.ts'

const ids = new JobIds(3, '0123456789ab')
const id = (attempt: number) => ids.idOf(2, 40, attempt)

const ended = (attempt: number, failureReason: FailureReason | null): AttemptSummary => ({
  createdAtMs: attempt * 1000,
  scheduledAtMs: attempt * 1000 + 100,
  startedAtMs: attempt * 1000 + 200,
  completedAtMs: attempt * 1000 + 300,
  failureReason,
  errorMessage: failureReason === null ? null : 'no',
  responseStatus: failureReason === null ? 200 : 500,
  durationMs: 100,
})

const open = (attempt: number, status: 'pending' | 'processing'): OpenAttempt => ({
  attempt,
  status,
  createdAtMs: attempt * 1000,
  scheduledAtMs: attempt * 1000 + 100,
  startedAtMs: status === 'pending' ? null : attempt * 1000 + 200,
})

function chain(
  outcomes: readonly (FailureReason | null)[],
  openAttempt: OpenAttempt | null,
  end: JobChain['end'],
): JobChain {
  return {
    rootId: id(1),
    queueId: 1,
    queueName: 'q',
    request: {
      url: 'https://example.com',
      method: 'POST',
      headers: {},
      payload: null,
      callbackUrl: null,
      callbackEvents: null,
      tags: {},
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: null,
    },
    attempts: outcomes.map((outcome, index) => ended(index + 1, outcome)),
    open: openAttempt,
    end,
    replayedAs: null,
    calls: [],
  }
}

const fault = 'http_server_error'
/** status, final_status, has_pending_retry, dead_lettered_at of each job of the chain. */
type Row = readonly [string, string | null, boolean, number | null]

describe('the transition table of the contract', () => {
  test.each<[string, JobChain, Row[]]>([
    ['pending', chain([], open(1, 'pending'), null), [['pending', null, false, null]]],
    ['in flight', chain([], open(1, 'processing'), null), [['processing', null, false, null]]],
    ['2xx at once', chain([null], null, 'success'), [['completed', 'success', false, null]]],
    [
      'fails, retry waits',
      chain([fault], open(2, 'pending'), null),
      [
        ['failed', 'retrying', true, null],
        ['pending', null, false, null],
      ],
    ],
    [
      'fails, retry in flight',
      chain([fault], open(2, 'processing'), null),
      [
        ['failed', 'retrying', true, null],
        ['processing', null, false, null],
      ],
    ],
    [
      'fails with retries off',
      chain([fault], null, 'failed_no_retries'),
      [['failed', 'failed_no_retries', false, null]],
    ],
    [
      'a retry fails, another is made',
      chain([fault, 'timeout'], open(3, 'pending'), null),
      [
        ['failed', 'retrying', true, null],
        ['failed', 'failed_with_retries', false, null],
        ['pending', null, false, null],
      ],
    ],
    [
      'a retry succeeds',
      chain([fault, fault, null], null, 'success'),
      [
        ['failed', 'success', false, null],
        ['failed', 'failed_with_retries', false, null],
        ['completed', 'success', false, null],
      ],
    ],
    [
      'the last retry fails',
      chain([fault, fault, fault], null, 'dead_lettered'),
      [
        ['failed', 'dead_lettered', false, 3300],
        ['failed', 'failed_with_retries', false, null],
        ['failed', 'failed_with_retries', false, null],
      ],
    ],
  ])('%s', (_name, given, rows) => {
    const views = viewChain(given, ids)
    expect(views.map((v) => [v.status, v.finalStatus, v.hasPendingRetry, v.deadLetteredAtMs])).toEqual(rows)
    for (const [index, view] of views.entries()) {
      expect(viewJob(given, id(index + 1), ids)).toEqual(view)
      expect(view).toMatchObject({
        jobId: id(index + 1),
        originalJobId: id(1),
        attempt: index + 1,
        isRetry: index > 0,
      })
    }
  })
})

test('an attempt that ended shows its times and its fault', () => {
  expect(viewJob(chain(['timeout'], open(2, 'pending'), null), id(1), ids)).toMatchObject({
    createdAtMs: 1000,
    scheduledAtMs: 1100,
    startedAtMs: 1200,
    completedAtMs: 1300,
    failureReason: 'timeout',
    errorMessage: 'no',
    responseStatus: 500,
    durationMs: 100,
  } satisfies Partial<JobView>)
})

test('a job in flight shows when it was started and nothing of its end', () => {
  expect(viewJob(chain([], open(1, 'processing'), null), id(1), ids)).toMatchObject({
    startedAtMs: 1200,
    completedAtMs: null,
    failureReason: null,
    errorMessage: null,
    responseStatus: null,
    durationMs: null,
  } satisfies Partial<JobView>)
})

test('a job the chain does not have is null', () => {
  const given = chain([fault], open(2, 'pending'), null)
  expect(viewJob(given, id(3), ids)).toBeNull()
  expect(viewJob(given, ids.idOf(2, 41, 1), ids)).toBeNull()
  expect(viewJob(given, ids.idOf(1, 40, 1), ids)).toBeNull()
})
