import { expect, test } from 'vitest'
import { alertMessage, queueFacts } from '../../../../src/domain/alerts/alert-message.ts'
import { queueAlerts } from '../../../../src/domain/alerts/alert-rules.ts'
import { endAttempt } from '../../../../src/domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'

function endOf(attempt: number, retriesEnabled: boolean, failed = true) {
  const settings = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [60, 90], retriesEnabled }
  return endAttempt(
    { attempt, createdAtMs: 1, scheduledAtMs: 1, startedAtMs: 2, earlier: [], settings },
    {
      completedAtMs: 3,
      durationMs: 1,
      responseStatus: failed ? null : 200,
      failureReason: failed ? 'timeout' : null,
      errorMessage: null,
    },
  )
}

test.each([
  [
    'the first failure',
    1,
    true,
    ['warning'],
    'attempt 1 (timeout at target.example:8443); it is tried again in 60 s.',
  ],
  [
    'a failed retry',
    2,
    true,
    undefined,
    'attempt 2 (timeout at target.example:8443); it is tried again in 90 s.',
  ],
  [
    'the last retry',
    3,
    true,
    ['failure'],
    'attempt 3 (timeout at target.example:8443) and is a dead letter.',
  ],
  [
    'a failure without retries',
    1,
    false,
    ['warning', 'failure'],
    'attempt 1 (timeout at target.example:8443); it has no retries.',
  ],
])('%s', (_, attempt, retriesEnabled, types, message) => {
  const end = endOf(attempt, retriesEnabled)
  expect(queueAlerts(attempt, true, end)?.types).toEqual(types)
  expect(queueAlerts(attempt, false, end)).toBeNull()
  const resource = { kind: 'queue', id: 7, name: 'emails' } as const
  const told = {
    type: types?.[0] === 'failure' ? 'failure' : 'warning',
    reason: 'timeout',
    resource,
  } as const
  expect(
    alertMessage(
      { ...told, jobId: 5 },
      queueFacts(attempt, end, 'https://me:pw@target.example:8443/a?token=s'),
    ),
  ).toBe(`Job 5 of queue emails failed at ${message}`)
})

test('a success raises nothing', () => {
  expect(queueAlerts(1, true, endOf(1, true, false))).toBeNull()
})

test.each([
  [
    'warning',
    [1, 3, 'target.example'],
    'Cron nightly failed once (timeout at target.example); a failure is raised at 3.',
  ],
  ['failure', [3, 3], 'Cron nightly failed 3 times in a row (timeout).'],
  ['recovery', [4], 'Cron nightly succeeded after it had failed 4 times in a row (timeout).'],
] as const)('a %s of a cron says how often it failed', (type, facts, message) => {
  const resource = { kind: 'cron', id: 7, name: 'nightly' } as const
  expect(alertMessage({ type, reason: 'timeout', resource, jobId: 5 }, facts)).toBe(message)
})
