import { expect, test } from 'vitest'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { matchingJob, usualOrder } from '../../../../src/domain/jobs/job-match.ts'
import type { CallRecord, JobChain } from '../../../../src/domain/jobs/job.ts'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'

const JOB_IDS = new JobIds(1, '0123456789ab')
const ROOT = JOB_IDS.idOf(0, 1, 1)

function chainWith(errorMessage: string | null, answer: string | null): JobChain {
  const attempt = {
    createdAtMs: 1,
    scheduledAtMs: 1,
    startedAtMs: 2,
    completedAtMs: 3,
    failureReason: 'http_server_error',
    errorMessage,
    durationMs: 1,
    responseStatus: 503,
  }
  const call = { jobId: ROOT, response: answer === null ? null : { status: 503, body: answer } }
  return {
    rootId: ROOT,
    queueName: 'q',
    request: { url: 'https://a.example/', payload: null, tags: {}, cron: null },
    attempts: [attempt],
    open: null,
    end: 'failed_no_retries',
    replayedAs: null,
    calls: [call as unknown as CallRecord],
  } as unknown as JobChain
}

test.each([
  ['an error', chainWith('The certificate of Ada has EXPIRED', null), 'has expired'],
  ['an answer', chainWith(null, '{"detail":"Quota of tenant 7 is used up"}'), 'tenant 7'],
  ['the URL', chainWith(null, null), 'a.example'],
])('a text is found in %s', (_, chain, text) => {
  expect(matchingJob({ ...ANY_JOB, text }, chain, JOB_IDS)).toBe(ROOT)
  expect(matchingJob({ ...ANY_JOB, text: 'somewhere else' }, chain, JOB_IDS)).toBeNull()
})

test('lists are by time where a filter asks for what has ended, for a host or for a time', () => {
  const byTime = [
    { status: 'failed' },
    { statuses: ['pending', 'completed'] },
    { finalStatus: 'retrying' },
    { failureReason: 'timeout' },
    { responseStatus: 503 },
    { slowerThanMs: 1 },
    { host: 'a.example' },
    { created: { afterMs: 1, beforeMs: null } },
    { ended: { afterMs: null, beforeMs: 1 } },
  ] as const
  const byQueue = [{}, { status: 'pending' }, { statuses: ['pending', 'processing'] }, { text: 'x' }] as const
  for (const asked of byTime)
    expect(usualOrder({ ...ANY_JOB, ...asked }), JSON.stringify(asked)).toBe('newest')
  for (const asked of byQueue)
    expect(usualOrder({ ...ANY_JOB, ...asked }), JSON.stringify(asked)).toBe('queue')
})
