import { describe, expect, test } from 'vitest'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import { createCallRunner } from '../../../../src/executor/calls/call-runner.ts'
import type { HttpCall, HttpCallResult } from '../../../../src/ports/http-caller.ts'
import type { ClaimedJob, ClaimedWork } from '../../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import {
  NO_TRACING,
  type CallEnd,
  type TracedCall,
  type Tracing,
} from '../../../../src/ports/tracing/tracing.ts'
import { FAKE_EPOCH_MS } from '../../../support/fake-clock.ts'
import { teamsOf } from '../../../support/no-own-secrets.ts'
import {
  answered,
  claimedCallback,
  claimedJob,
  createRecordingMetrics,
  cutCall,
  failedCall,
} from '../executor-fixture.ts'

const GIVEN = { parent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, state: 'a=1' }
const INSIDE = { parent: `00-${'1'.repeat(32)}-${'3'.repeat(16)}-01` }
const jobIds = new JobIds(4, '0123456789ab')
const rootId = jobIds.idOf(2, 9, 1)

const plain = claimedJob({ jobId: rootId, rootId, attempt: 1 })
const traced: ClaimedJob = { ...plain, request: { ...plain.request, trace: GIVEN } }

function setUp(tracing: Tracing, result: HttpCallResult = answered()) {
  const calls: HttpCall[] = []
  const defects: string[] = []
  const runCall = createCallRunner({
    caller: {
      call: (call) => {
        calls.push(call)
        return Promise.resolve(result)
      },
      close: () => Promise.resolve(),
    },
    teams: teamsOf(() => NO_TEAM_SETTINGS),
    jobIds,
    tracing,
    random: () => 0.5,
    keepsSuccess: () => false,
    metrics: createRecordingMetrics(),
    noteDefect: (part) => defects.push(part),
    onLocalFault: () => undefined,
  })
  const run = (work: ClaimedWork) => runCall(work, new AbortController().signal, () => FAKE_EPOCH_MS + 1_999)
  return { calls, defects, run }
}

function recording() {
  const begun: TracedCall[] = []
  const ends: CallEnd[] = []
  const tracing: Tracing = {
    ...NO_TRACING,
    beginCall: (call) => {
      begun.push(call)
      return { context: INSIDE, end: (end) => void ends.push(end) }
    },
  }
  return { begun, ends, tracing }
}

describe('where nothing is recorded', () => {
  test('the context of a job is sent as it is, and goes on to its callback', async () => {
    const { calls, run } = setUp(NO_TRACING)
    const request = { ...traced.request, callbackUrl: 'http://a.test/cb' }
    expect(await run({ ...traced, request })).toMatchObject({ type: 'ended', callback: { trace: GIVEN } })
    expect(calls[0]?.trace).toEqual(GIVEN)
  })

  test('a job without one is sent none', async () => {
    const { calls, run } = setUp(NO_TRACING)
    await run(plain)
    expect(Object.keys(calls[0] ?? {})).not.toContain('trace')
  })
})

describe('where traces are recorded', () => {
  test('a job without a context costs no look at them', async () => {
    const { begun, tracing } = recording()
    await setUp(tracing).run(plain)
    expect(begun).toEqual([])
  })

  test('the target is sent where the attempt is, and the callback goes on from there', async () => {
    const { begun, ends, tracing } = recording()
    const { calls, run } = setUp(tracing)
    const request = { ...traced.request, callbackUrl: 'http://a.test/cb' }
    expect(await run({ ...traced, request })).toMatchObject({ callback: { trace: INSIDE } })
    expect(calls[0]?.trace).toEqual(INSIDE)
    expect(begun).toEqual([
      expect.objectContaining({ context: GIVEN, job: { jobId: rootId, attempt: 1 }, team: traced.team }),
    ])
    expect(ends).toEqual([{ status: 200, failure: null }])
  })

  test.each([
    [answered({ status: 503 }), { status: 503, failure: 'http_server_error' }],
    [failedCall(), { status: null, failure: 'connection_error' }],
    [cutCall('aborted'), { status: null, failure: 'released' }],
  ])('a call that ends as %j ends its span as %j', async (result, end) => {
    const { ends, tracing } = recording()
    await setUp(tracing, result).run(traced)
    expect(ends).toEqual([end])
  })

  test('a callback is a call of its trace, without a job or a wait', async () => {
    const { begun, ends, tracing } = recording()
    const work = claimedCallback()
    const { calls, run } = setUp(tracing, answered({ status: 404 }))
    await run({ ...work, callback: { ...work.callback, trace: GIVEN } })
    expect(begun).toEqual([expect.objectContaining({ context: GIVEN, job: null, waitMs: null })])
    expect(calls[0]?.trace).toEqual(INSIDE)
    expect(ends).toEqual([{ status: 404, failure: 'http_client_error' }])
  })
})

test.each(['begin', 'end'])('traces that throw at the %s of a call do not stop it', async (at) => {
  const fail = (): never => {
    throw new Error('a defect')
  }
  const tracing: Tracing = {
    ...NO_TRACING,
    beginCall: () => (at === 'begin' ? fail() : { context: INSIDE, end: fail }),
  }
  const { calls, defects, run } = setUp(tracing)
  expect(await run(traced)).toMatchObject({ type: 'ended', end: { kind: 'success' } })
  expect([calls.length, defects]).toEqual([1, ['aside']])
})
