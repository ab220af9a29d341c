import { teamsOf } from '../../../support/no-own-secrets.ts'
import { describe, expect, test } from 'vitest'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import { reasonOf } from '../../../../src/domain/errors.ts'
import { createCallRunner } from '../../../../src/executor/calls/call-runner.ts'
import type { ChainSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { HttpCall, HttpCaller } from '../../../../src/ports/http-caller.ts'
import type { ClaimedWork } from '../../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { FAKE_EPOCH_MS } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import {
  answered,
  claimedCallback,
  claimedJob,
  createRecordingMetrics,
  cutCall,
  failedCall,
} from '../executor-fixture.ts'

const jobIds = new JobIds(4, '0123456789ab')
const rootId = jobIds.idOf(2, 9, 1)
const retryId = jobIds.idOf(2, 9, 3)
const teamSettings = { ...NO_TEAM_SETTINGS, version: 7 }

function setUp(keepsSuccess = true) {
  const call = latched<HttpCaller['call']>(() => answered())
  const defects: string[] = []
  const metrics = createRecordingMetrics()
  const sampled: string[] = []
  let localFaults = 0
  const runCall = createCallRunner({
    caller: { call, close: () => Promise.resolve() },
    teams: teamsOf((team) => {
      if (team === 'unreadable') throw new Error('no settings')
      return team === 'shop' ? teamSettings : NO_TEAM_SETTINGS
    }),
    jobIds,
    random: () => 0.5,
    keepsSuccess: (team, queue) => {
      sampled.push(`${team} ${queue}`)
      return keepsSuccess
    },
    metrics,
    noteDefect: (part, error, { jobId }) => defects.push(`${part} of ${jobId}: ${reasonOf(error)}`),
    onLocalFault: () => (localFaults += 1),
  })
  const { signal } = new AbortController()
  const run = (work: ClaimedWork) => runCall(work, signal, () => FAKE_EPOCH_MS + 1_999)
  const made = (): HttpCall => call.calls[0]?.args[0] as HttpCall
  return { call, defects, metrics, sampled, signal, run, made, localFaults: () => localFaults }
}

describe('a target that asks to be left alone', () => {
  test.each([
    [429, 'Retry-After', '30', 30_000],
    [503, 'retry-after', '30', 30_000],
    [500, 'Retry-After', '30', undefined],
    [200, 'Retry-After', '30', undefined],
    [503, 'Retry-After', 'soon', undefined],
    [503, 'X-Other', '30', undefined],
  ])('by %i with %s: %s is heard as %s ms', async (status, name, value, retryAfterMs) => {
    const { call, run } = setUp()
    call.rule = () => answered({ status, headers: [[name, value]] })
    const end = await run(claimedJob({}))
    expect(end).toMatchObject({ type: 'ended' })
    expect('retryAfterMs' in end ? end.retryAfterMs : undefined).toBe(retryAfterMs)
  })
})

describe('a job’s call', () => {
  test.each([
    [{ payload: 'AP8=', bodyEncoding: 'base64' }, Buffer.from([0, 0xff]), 'application/octet-stream'],
    [{ payload: 'AP8=', bodyEncoding: 'text' }, 'AP8=', 'text/plain; charset=utf-8'],
    [{ payload: '[1.50]', bodyEncoding: 'json' }, '[1.50]', 'application/json'],
    [{ payload: null, bodyEncoding: 'base64' }, null, 'application/octet-stream'],
  ] as const)('sends what %j stands for', async (request, body, contentType) => {
    const { run, made } = setUp()
    await run(claimedJob({ request }))
    expect(made()).toMatchObject({ body, contentType })
  })

  test('follows its request, signed for its team at Redis time', async () => {
    const { call, signal, run, made } = setUp()
    await run(
      claimedJob({
        team: 'shop',
        jobId: retryId,
        rootId,
        attempt: 3,
        shard: 2,
        token: '41',
        request: { method: 'PUT', headers: { 'X-A': 'b' }, payload: '{"n": 1}' },
        settings: {
          timeoutSeconds: 17,
          successAssertions: [
            { type: 'body_contains', value: 'done' },
            { type: 'status_code_equals', value: 201 },
            { type: 'body_contains', value: 'ok' },
          ],
        },
      }),
    )
    expect(made()).toEqual({
      team: 'shop',
      settings: teamSettings,
      url: 'http://target.test/',
      method: 'PUT',
      headers: { 'X-A': 'b' },
      body: '{"n": 1}',
      contentType: 'application/json',
      sought: ['done', 'ok'],
      timeoutMs: 17_000,
      webhookId: jobIds.uuidOf(rootId),
      timestampSeconds: FAKE_EPOCH_MS / 1000 + 1,
      identity: { 'Job-Id': String(retryId), Attempt: '3', 'Fencing-Token': '2-41', Depth: '1' },
    })
    expect(call.calls[0]?.args[1]).toBe(signal)
  })

  test('has the same webhook id in every attempt of its chain', async () => {
    const { call, run } = setUp()
    for (const attempt of [1, 2, 3]) {
      await run(claimedJob({ jobId: jobIds.idOf(2, 9, attempt), rootId, attempt }))
    }
    expect(new Set(call.calls.map(({ args }) => args[0].webhookId)).size).toBe(1)
  })
})

describe('a job’s end', () => {
  test('is success, with the call as it happened', async () => {
    const { run } = setUp()
    const work = claimedJob({ jobId: rootId, rootId })
    expect(await run(work)).toMatchObject({
      type: 'ended',
      work,
      end: {
        kind: 'success',
        attempts: [{ completedAtMs: FAKE_EPOCH_MS + 1_999, durationMs: 12, responseStatus: 200 }],
      },
      callback: null,
      call: { jobId: rootId, failureReason: null },
    })
  })

  test('omits the call of a success that is not sampled, by team, shard and queue', async () => {
    const { sampled, run } = setUp(false)
    expect(await run(claimedJob({ shard: 3 }))).toMatchObject({ type: 'ended', call: null })
    expect(sampled).toEqual(['default 3:7'])
  })

  test('always keeps the call of a failure, without asking the sampler', async () => {
    const { call, sampled, run } = setUp(false)
    call.rule = () => failedCall()
    expect(await run(claimedJob())).toMatchObject({
      end: { kind: 'retry', retryDelaySeconds: 60 },
      call: { failureReason: 'connection_error' },
    })
    expect(sampled).toEqual([])
  })

  test('has a callback when one is due', async () => {
    const { run } = setUp()
    const request = { callbackUrl: 'http://caller.test/done' }
    expect(await run(claimedJob({ jobId: rootId, rootId, request }))).toMatchObject({
      callback: { url: 'http://caller.test/done', webhookId: `${jobIds.uuidOf(rootId)}_cb` },
    })
  })

  test('has a callback for every attempt when the job asks for it', async () => {
    const { call, run } = setUp()
    call.rule = () => answered({ status: 500 })
    const request = { callbackUrl: 'http://caller.test/done' }
    const settings = { callbackEvents: 'every_attempt' } as const
    expect(await run(claimedJob({ rootId, request, settings }))).toMatchObject({
      end: { kind: 'retry' },
      callback: { webhookId: `${jobIds.uuidOf(rootId)}_cb_1` },
    })
  })

  test('is never before its start, even if the clock of Redis goes back', async () => {
    const { run } = setUp()
    const startedAtMs = FAKE_EPOCH_MS + 60_000
    expect(await run(claimedJob({ startedAtMs }))).toMatchObject({
      end: { attempts: [{ startedAtMs, completedAtMs: startedAtMs }] },
    })
  })

  test('is a failed attempt when a defect of ours prevents the call', async () => {
    const { call, defects, run } = setUp()
    call.rule = () => Promise.reject(new TypeError('oops'))
    const errorMessage = 'The call was ended by a defect in Punctual.'
    expect(await run(claimedJob())).toMatchObject({
      type: 'ended',
      end: { kind: 'retry', attempts: [{ failureReason: 'unknown', errorMessage, durationMs: 0 }] },
    })
    expect(defects).toEqual(['call of 0: oops'])
  })
})

/** Settings as another version may have stored them. */
function strange(settings: Record<string, unknown>): Partial<ChainSettings> {
  return settings
}

test('what throws before a call fails the attempt, and nothing is sent', async () => {
  const { call, defects, run } = setUp()
  const errorMessage = 'The call could not be made because of a defect in Punctual.'
  expect(await run(claimedJob({ team: 'unreadable' }))).toMatchObject({
    type: 'ended',
    end: { kind: 'retry', attempts: [{ failureReason: 'unknown', errorMessage }] },
  })
  expect(call.calls).toEqual([])
  // Nothing is recorded of a team that may mask what would be shown.
  expect(defects).toEqual(['call of 0: no settings', 'call_record of 0: no settings'])
})

describe('settings that this executor does not know', () => {
  test('an assertion: the call is made once, and the attempt fails and says so', async () => {
    const { call, defects, run } = setUp()
    const settings = strange({ successAssertions: [{ type: 'json_path_equals', value: '$.ok' }] })
    expect(await run(claimedJob({ settings }))).toMatchObject({
      end: {
        kind: 'retry',
        attempts: [
          {
            failureReason: 'unknown',
            errorMessage: 'This executor does not know the assertion type "json_path_equals".',
            responseStatus: 200,
          },
        ],
      },
    })
    expect(call.calls).toHaveLength(1)
    expect(defects).toEqual([])
  })

  test.each([
    ['no list', { retryDelays: { first: 60, factor: 2 } }],
    ['no numbers', { retryDelays: [{ seconds: 60 }] }],
    ['nothing', { retryDelays: undefined }],
    ['a policy', { retriesEnabled: 'exponential' }],
  ])('retries that are %s: a failure is a dead letter that says so', async (_, settings) => {
    const { call, defects, run } = setUp()
    call.rule = () => answered({ status: 503 })
    expect(await run(claimedJob({ settings: strange(settings) }))).toMatchObject({
      end: {
        kind: 'dead_letter',
        attempts: [
          {
            failureReason: 'http_server_error',
            errorMessage:
              'The target answered 503. This executor does not know the retry settings of this job, so there is no retry.',
          },
        ],
      },
    })
    expect(defects).toEqual([])
  })

  test('retries: a success is a success', async () => {
    const { run } = setUp()
    const settings = strange({ retryDelays: { first: 60 } })
    expect(await run(claimedJob({ settings }))).toMatchObject({ end: { kind: 'success' } })
  })

  test.each([undefined, Number.NaN, 0, '1m', null])(
    'a timeout of %s: no call is made',
    async (timeoutSeconds) => {
      const { call, run } = setUp()
      expect(await run(claimedJob({ settings: strange({ timeoutSeconds }) }))).toMatchObject({
        end: { attempts: [{ errorMessage: 'This executor does not know the timeout of this job.' }] },
      })
      expect(call.calls).toEqual([])
    },
  )

  test('when a callback goes out: it does at the end', async () => {
    const { run } = setUp()
    const settings = strange({ callbackEvents: 'on_failure' })
    const request = { callbackUrl: 'http://caller.test/done' }
    expect(await run(claimedJob({ jobId: rootId, rootId, request, settings }))).toMatchObject({
      end: { kind: 'success' },
      callback: { url: 'http://caller.test/done' },
    })
  })
})

describe('no attempt is counted', () => {
  test('for a fault of this machine, which pauses claims', async () => {
    const { call, run, localFaults } = setUp()
    call.rule = () => cutCall('local_fault')
    const work = claimedJob()
    expect(await run(work)).toEqual({ type: 'released', work })
    expect(localFaults()).toBe(1)
  })

  test('for an abort by our own stop, which pauses nothing', async () => {
    const { call, run, localFaults } = setUp()
    call.rule = () => cutCall('aborted')
    const work = claimedJob()
    expect(await run(work)).toEqual({ type: 'released', work, isCut: true })
    expect(localFaults()).toBe(0)
  })

  test('for a callback either', async () => {
    const { call, metrics, run } = setUp()
    call.rule = () => cutCall('aborted')
    const work = claimedCallback()
    expect(await run(work)).toEqual({ type: 'released', work, isCut: true })
    expect(metrics.counts).toEqual([])
  })
})

describe('a callback', () => {
  test('is a POST of its body without the job’s identity', async () => {
    const { run, made } = setUp()
    const work = claimedCallback({ team: 'shop' })
    expect(await run(work)).toEqual({ type: 'callback_ended', work })
    expect(made()).toEqual({
      team: 'shop',
      settings: teamSettings,
      url: 'http://caller.test/done',
      method: 'POST',
      headers: {},
      body: '{"status":"success"}',
      contentType: 'application/json',
      sought: [],
      timeoutMs: 10_000,
      webhookId: 'uuid_cb',
      timestampSeconds: FAKE_EPOCH_MS / 1000 + 1,
      identity: { Depth: '1' },
    })
  })

  test.each([
    ['200', answered({ status: 200 }), 'delivered'],
    ['204', answered({ status: 204 }), 'delivered'],
    ['302', answered({ status: 302 }), 'failed'],
    ['500', answered({ status: 500 }), 'failed'],
    ['no answer', failedCall(), 'failed'],
  ])('answered by %s is over in one try and counted', async (_, result, outcome) => {
    const { call, metrics, run } = setUp()
    call.rule = () => result
    const work = claimedCallback()
    expect(await run(work)).toEqual({ type: 'callback_ended', work })
    expect(metrics.counts).toEqual([`callbackFinished:${outcome}`])
  })
})
