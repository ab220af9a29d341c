import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  effectiveSettings,
  endAttempt,
  type EndingAttempt,
} from '../../../../src/domain/jobs/retry-policy.ts'
import { FAILURE_REASONS, type FailureReason } from '../../../../src/domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import { jobRequest } from '../../../support/engine/engine.ts'

const T0 = 1_800_000_000_000

/** Attempt n of a chain whose earlier attempts all failed. */
function attempt(n: number, settings: Partial<ChainSettings> = {}): EndingAttempt {
  const earlier = Array.from({ length: n - 1 }, (_, i) => ({
    createdAtMs: T0 + i * 1_000,
    scheduledAtMs: T0 + i * 1_000 + 1,
    startedAtMs: T0 + i * 1_000 + 2,
    completedAtMs: T0 + i * 1_000 + 3,
    durationMs: 1,
    responseStatus: 500,
    failureReason: 'http_server_error' as const,
    errorMessage: 'The target answered 500.',
  }))
  return {
    attempt: n,
    createdAtMs: T0 + n * 1_000,
    scheduledAtMs: T0 + n * 1_000 + 10,
    startedAtMs: T0 + n * 1_000 + 20,
    earlier,
    settings: { ...DEFAULT_QUEUE_SETTINGS, ...settings },
  }
}

function succeeds(ending: EndingAttempt) {
  return endAttempt(ending, {
    completedAtMs: ending.startedAtMs + 30,
    durationMs: 29,
    responseStatus: 200,
    failureReason: null,
    errorMessage: null,
  })
}

function fails(ending: EndingAttempt, failureReason: FailureReason = 'http_server_error') {
  return endAttempt(ending, {
    completedAtMs: ending.startedAtMs + 30,
    durationMs: 29,
    responseStatus: 500,
    failureReason,
    errorMessage: 'The target answered 500.',
  })
}

describe('settings of retries beyond the contract', () => {
  test.each([
    [500, [410, 404], 'retry'],
    [500, [410, 500], 'dead_letter'],
    [500, [], 'retry'],
  ] as const)(
    'a status %i ends the chain at once if it is among %j: %s',
    (_status, noRetryStatuses, kind) => {
      const end = fails(attempt(1, { noRetryStatuses }))
      expect(end).toMatchObject({ kind, isTerminal: kind === 'dead_letter' })
      expect(end.finalStatus).toBe(kind === 'retry' ? 'retrying' : 'dead_lettered')
    },
  )

  test('a status that ends chains ends a retry as the last one, and one without retries as it did', () => {
    const settings = { noRetryStatuses: [500] }
    expect(fails(attempt(2, settings))).toMatchObject({
      kind: 'dead_letter',
      finalStatus: 'failed_with_retries',
      callbackStatus: 'dead_lettered',
    })
    expect(fails(attempt(1, { ...settings, retriesEnabled: false })).kind).toBe('failed_no_retries')
  })

  test.each([
    [0, 0.9, 60],
    [50, 0, 60],
    [50, 0.5, 75],
    [100, 0.999_999, 120],
    [30, 0.123_456, 62.222],
  ])('a jitter of %i %% lengthens 60 s, at %d of it, to %d s', (retryJitterPercent, drawn, seconds) => {
    const outcome = { completedAtMs: T0, durationMs: 1, responseStatus: 500, errorMessage: null }
    const end = endAttempt(
      attempt(1, { retryJitterPercent }),
      { ...outcome, failureReason: 'http_server_error' },
      () => drawn,
    )
    expect(end.retryDelaySeconds).toBe(seconds)
  })
})

describe('the contract’s transition table', () => {
  test('in flight, 2xx and all assertions pass → completed, success', () => {
    expect(succeeds(attempt(1))).toMatchObject({
      kind: 'success',
      finalStatus: 'success',
      callbackStatus: 'success',
      isTerminal: true,
      retryDelaySeconds: 0,
    })
  })

  test('in flight, request fails, retries enabled, delays remain → failed, retrying, a new job after its delay', () => {
    expect(fails(attempt(1))).toMatchObject({
      kind: 'retry',
      finalStatus: 'retrying',
      callbackStatus: 'retrying',
      isTerminal: false,
      retryDelaySeconds: 60,
    })
  })

  test('in flight, request fails, retries disabled → failed, failed_no_retries', () => {
    expect(fails(attempt(1, { retriesEnabled: false }))).toMatchObject({
      kind: 'failed_no_retries',
      finalStatus: 'failed_no_retries',
      callbackStatus: 'failed_no_retries',
      isTerminal: true,
    })
  })

  test('retry job in flight, attempt fails, delays remain → failed, failed_with_retries, another retry', () => {
    expect(fails(attempt(2))).toMatchObject({
      kind: 'retry',
      finalStatus: 'failed_with_retries',
      callbackStatus: 'failed_with_retries',
      isTerminal: false,
      retryDelaySeconds: 1_800,
    })
  })

  test('retry job in flight, attempt fails, no delay remains → failed, failed_with_retries, the chain in the DLQ', () => {
    expect(fails(attempt(4))).toMatchObject({
      kind: 'dead_letter',
      finalStatus: 'failed_with_retries',
      isTerminal: true,
    })
  })

  test('retry job in flight, attempt succeeds → completed', () => {
    expect(succeeds(attempt(3))).toMatchObject({
      kind: 'success',
      finalStatus: 'success',
      isTerminal: true,
    })
  })

  test('failed, all retry attempts exhausted → dead_lettered, which the callback reports', () => {
    expect(fails(attempt(4))).toMatchObject({ kind: 'dead_letter', callbackStatus: 'dead_lettered' })
  })

  test('a chain with no delays at all is dead at its first failure', () => {
    expect(fails(attempt(1, { retryDelays: [] }))).toMatchObject({
      kind: 'dead_letter',
      finalStatus: 'dead_lettered',
      callbackStatus: 'dead_lettered',
    })
  })

  test('retries disabled decide also for a retry that was under way', () => {
    expect(fails(attempt(2, { retriesEnabled: false }))).toMatchObject({ kind: 'failed_no_retries' })
  })
})

describe('rule 1', () => {
  test('with the defaults attempt 2 waits 60 s, attempt 3 1800 s, attempt 4 10800 s', () => {
    expect([1, 2, 3].map((n) => fails(attempt(n)).retryDelaySeconds)).toEqual([60, 1_800, 10_800])
  })

  test('a chain makes one attempt more than it has delays, each after its own', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 86_400 }), { minLength: 1, maxLength: 10 }),
        fc.constantFrom(...FAILURE_REASONS),
        (retryDelays, reason) => {
          retryDelays.forEach((delay, i) => {
            const end = fails(attempt(i + 1, { retryDelays }), reason)
            expect(end).toMatchObject({ kind: 'retry', retryDelaySeconds: delay, isTerminal: false })
          })
          const last = fails(attempt(retryDelays.length + 1, { retryDelays }), reason)
          expect(last).toMatchObject({ kind: 'dead_letter', retryDelaySeconds: 0, isTerminal: true })
        },
      ),
    )
  })
})

describe('the summaries', () => {
  test('hold every attempt so far, this one last', () => {
    const ending = attempt(3)
    const { attempts } = fails(ending, 'timeout')
    expect(attempts.slice(0, 2)).toEqual(ending.earlier)
    expect(attempts[2]).toEqual({
      createdAtMs: ending.createdAtMs,
      scheduledAtMs: ending.scheduledAtMs,
      startedAtMs: ending.startedAtMs,
      completedAtMs: ending.startedAtMs + 30,
      durationMs: 29,
      responseStatus: 500,
      failureReason: 'timeout',
      errorMessage: 'The target answered 500.',
    })
    expect(attempts).toHaveLength(3)
  })
})

describe('a job’s own settings', () => {
  test('are the queue’s where the job says nothing', () => {
    expect(effectiveSettings(DEFAULT_QUEUE_SETTINGS, jobRequest())).toEqual(DEFAULT_QUEUE_SETTINGS)
  })

  test('go before the queue’s, false and short ones too', () => {
    const own = {
      timeoutSeconds: 1,
      retriesEnabled: false,
      retryDelays: [5],
      callbackEvents: 'every_attempt',
    } as const
    expect(effectiveSettings(DEFAULT_QUEUE_SETTINGS, jobRequest(own))).toEqual({
      ...DEFAULT_QUEUE_SETTINGS,
      ...own,
    })
    const less = jobRequest({ recordResponses: 'none' })
    expect(effectiveSettings(DEFAULT_QUEUE_SETTINGS, less).recordResponses).toBe('none')
  })
})
