import { describe, expect, test } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import { matchingJob } from '../../../../src/domain/jobs/job-match.ts'
import type { AttemptSummary, FailureReason, JobChain } from '../../../../src/domain/jobs/job.ts'
import { needlesOf } from '../../../../src/domain/jobs/text-needles.ts'

const ids = new JobIds(3, '0123456789ab')
const id = (attempt: number) => ids.idOf(2, 40, attempt)

function ended(attempt: number, failureReason: FailureReason | null): AttemptSummary {
  const atMs = attempt * 1_000
  return {
    createdAtMs: atMs,
    scheduledAtMs: atMs + 100,
    startedAtMs: atMs + 200,
    completedAtMs: atMs + 300,
    failureReason,
    errorMessage: null,
    responseStatus: failureReason === null ? 200 : failureReason === 'timeout' ? null : 500,
    durationMs: 100,
  }
}

/** A chain that failed so often, and then is open, or ended this way. */
function chain(failures: number, how: 'pending' | 'processing' | NonNullable<JobChain['end']>): JobChain {
  const isOpen = how === 'pending' || how === 'processing'
  const attempts = Array.from({ length: failures }, (_, i) => ended(i + 1, i === 0 ? 'timeout' : 'unknown'))
  if (how === 'success') attempts.push(ended(failures + 1, null))
  const atMs = (failures + 1) * 1_000
  const times = { createdAtMs: atMs, scheduledAtMs: atMs + 100, startedAtMs: null }
  return {
    rootId: id(1),
    queueId: 1,
    queueName: 'mail',
    request: {
      url: 'https://API.example.com:8443/Orders/7',
      method: 'POST',
      headers: {},
      payload: '{"name":"J\\u00f6rg","path":"a\\/b","say":"\\"Hi\\""}',
      callbackUrl: null,
      callbackEvents: null,
      tags: { tenant: 'acme' },
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: { cronId: 9, tickMs: 0, isManual: false },
    },
    attempts,
    open: isOpen ? { attempt: failures + 1, status: how, ...times } : null,
    end: isOpen ? null : how,
    replayedAs: null,
    calls: [],
  }
}

/** The attempt that is shown; 0 = none. */
function shown(filter: Partial<JobFilter>, of: JobChain): number {
  const jobId = matchingJob({ ...ANY_JOB, ...filter }, of, ids)
  return jobId === null ? 0 : ids.attemptOf(jobId)
}

const CHAINS = {
  pending: chain(0, 'pending'),
  retrying: chain(2, 'pending'),
  running: chain(1, 'processing'),
  success: chain(0, 'success'),
  lateSuccess: chain(2, 'success'),
  failed: chain(1, 'failed_no_retries'),
  dead: chain(3, 'dead_lettered'),
  replayed: { ...chain(3, 'dead_lettered'), replayedAs: 77 },
}

describe('the job that a list shows of a chain', () => {
  const shownOf = (filter: Partial<JobFilter>) =>
    Object.entries(CHAINS)
      .map(([name, each]) => `${name} ${shown(filter, each)}`)
      .filter((row) => !row.endsWith(' 0'))
  const all = [
    'pending 1',
    'retrying 3',
    'running 2',
    'success 1',
    'lateSuccess 1',
    'failed 1',
    'dead 1',
    'replayed 1',
  ]

  test.each<[Partial<JobFilter>, string[]]>([
    [{}, all],
    [{ status: 'pending' }, ['pending 1', 'retrying 3']],
    [{ status: 'processing' }, ['running 2']],
    [{ status: 'completed' }, ['success 1', 'lateSuccess 3']],
    [{ status: 'failed' }, ['retrying 1', 'running 1', 'lateSuccess 1', 'failed 1', 'dead 1', 'replayed 1']],
    [{ status: 'dead_lettered' }, ['dead 1']],
    [{ finalStatus: 'retrying' }, ['retrying 1', 'running 1']],
    [{ finalStatus: 'success' }, ['success 1', 'lateSuccess 1']],
    [{ finalStatus: 'success', status: 'completed' }, ['success 1', 'lateSuccess 3']],
    [{ finalStatus: 'failed_no_retries' }, ['failed 1']],
    [{ finalStatus: 'dead_lettered' }, ['dead 1', 'replayed 1']],
    [{ finalStatus: 'failed_with_retries' }, ['retrying 2', 'lateSuccess 2', 'dead 3', 'replayed 3']],
    [{ finalStatus: 'retrying', status: 'pending' }, []],
    [{ responseStatus: 200 }, ['success 1']],
    [{ responseStatus: 200, status: 'completed' }, ['success 1', 'lateSuccess 3']],
    [{ failureReason: 'timeout', status: 'dead_lettered' }, ['dead 1']],
    [{ failureReason: 'unknown' }, []],
  ])('%j', (filter, expected) => {
    expect(shownOf(filter)).toEqual(expected)
  })

  test('a time from after on, before before', () => {
    const at = (afterMs: number | null, beforeMs: number | null) => ({ afterMs, beforeMs })
    expect(shown({ created: at(1_000, 1_001) }, CHAINS.pending)).toBe(1)
    expect(shown({ created: at(1_001, null) }, CHAINS.pending)).toBe(0)
    expect(shown({ created: at(null, 1_000) }, CHAINS.pending)).toBe(0)
    expect(shown({ scheduled: at(3_100, 3_101) }, CHAINS.retrying)).toBe(3)
    expect(shown({ ended: at(1_300, 1_301) }, CHAINS.retrying)).toBe(1)
    expect(shown({ ended: at(0, null) }, CHAINS.pending)).toBe(0)
    expect(shown({ ended: at(0, null), status: 'pending' }, CHAINS.retrying)).toBe(0)
  })

  test('what it was asked to call', () => {
    expect(shown({ host: 'api.example.com' }, CHAINS.dead)).toBe(1)
    expect(shown({ host: 'example.com' }, CHAINS.dead)).toBe(0)
    expect(shown({ tag: { name: 'tenant', value: 'acme' } }, CHAINS.dead)).toBe(1)
    expect(shown({ tag: { name: 'tenant', value: 'ACME' } }, CHAINS.dead)).toBe(0)
    expect(shown({ tag: { name: 'toString', value: 'acme' } }, CHAINS.dead)).toBe(0)
    expect(shown({ cronId: 9 }, CHAINS.dead)).toBe(1)
    expect(shown({ cronId: 8 }, CHAINS.dead)).toBe(0)
    expect(shown({ queue: 'mail' }, CHAINS.dead)).toBe(1)
    expect(shown({ queue: 'mai' }, CHAINS.dead)).toBe(0)
  })

  test.each([
    'orders/7',
    'ORDERS',
    'api.EXAMPLE',
    'Jörg',
    'jÖrg',
    'a/b',
    'say":"',
    '"hi"',
    String.raw`\u00F6`,
  ])('text %s', (text) => {
    expect(shown({ text }, CHAINS.dead)).toBe(text === 'jÖrg' ? 0 : 1)
  })

  test('text is looked for in the payload only where it is kept', () => {
    const { dead } = CHAINS
    expect(shown({ text: 'rg' }, { ...dead, request: { ...dead.request, payload: null } })).toBe(0)
    expect(shown({ text: '.*' }, dead)).toBe(0)
  })
})

test('a text without special characters has one needle', () => {
  expect(needlesOf('Order 7')).toEqual(['order 7'])
  expect(needlesOf('/é"')).toEqual([
    '/é"',
    String.raw`\/é"`,
    String.raw`/é\"`,
    String.raw`\/é\"`,
    String.raw`/\u00e9\"`,
    String.raw`\/\u00e9\"`,
  ])
})
