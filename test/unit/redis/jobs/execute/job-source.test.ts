import { describe, expect, test } from 'vitest'
import { endAttempt } from '../../../../../src/domain/jobs/retry-policy.ts'
import { StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { HEADROOM_ENTRIES_MAX } from '../../../../../src/domain/limits.ts'
import { JobIds } from '../../../../../src/domain/jobs/job-ids.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../../src/domain/jobs/queue-settings.ts'
import type { ClaimedJob, WorkEnd } from '../../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import { createEngine } from '../../../../../src/redis/base/engine/engine.ts'
import { encodeRequest } from '../../../../../src/redis/base/layout/job-record.ts'
import { encodeSettings } from '../../../../../src/redis/base/layout/queue-record.ts'
import { RedisJobSource } from '../../../../../src/redis/jobs/execute/job-source.ts'
import type { StepRunner } from '../../../../../src/redis/base/engine/step-runner.ts'
import type { StepCall } from '../../../../../src/redis/base/engine/step.ts'
import { jobRequest } from '../../../../support/engine/engine.ts'
import { latched } from '../../../../support/latched.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'
import { grantOf } from '../../../../support/engine/claim-grant.ts'

const NOW_MS = 1_800_000_000_000
const AWAY = new StoreUnavailableError('silent')
const jobIds = new JobIds(1, '0123456789ab')
const { hash, json } = encodeSettings(DEFAULT_QUEUE_SETTINGS)

function setUp() {
  const run = latched<StepRunner['run']>()
  const jumps: string[] = []
  const reads = {
    /** Two queues of the first team. */
    ring: ['7', String(2 ** 37), '9', String(2 ** 37 + 1)],
    teams: ['2', '1'],
    llen: () => Promise.resolve(0),
  }
  const connection = {
    zrange: (_key: string, ...words: string[]) =>
      Promise.resolve(words.includes('WITHSCORES') ? reads.ring : reads.teams),
    llen: () => reads.llen(),
    zcard: () => Promise.resolve(0),
    lrange: () => Promise.resolve([]),
    hget: () => Promise.resolve(null),
    publish: () => Promise.resolve(0),
  } as unknown as RedisConnection
  const engine = createEngine({
    runner: {
      run,
      read: (read) => read(connection),
      redisNowMs: () => NOW_MS,
      noteRedisTime: () => undefined,
    },
    jobIds,
    logger: quietLogger,
    metrics: { ...quietMetrics, clockJumped: (direction) => jumps.push(direction) },
  })
  return { run, reads, jumps, source: new RedisJobSource(engine, 0, 'me') }
}

/** The `claim` step's answer to one that asks nobody: whom to ask, if anybody. */
function learnReply(candidates: ReadonlyArray<string | number> = ['1', 2, '7', '9']): unknown {
  return ['ok', String(NOW_MS), '', '', candidates.length / 2, candidates, [], [], [], [], '', []]
}

/** Answers a claim by what it asks. */
function answerClaim({ keys }: StepCall): unknown {
  return keys.length > FIXED_KEYS ? claimReply() : learnReply()
}

/** Keys of a claim that asks nobody. */
const FIXED_KEYS = 10

/** The `claim` step's answer with one job of the first queue asked. */
function claimReply(token = '5'): unknown {
  const record = `${NOW_MS}100030${hash}|${encodeRequest(jobRequest({ payload: '1' })).inline}`
  const jobId = String(jobIds.idOf(0, 3, 1))
  const job = [
    [1, 1, jobId, record],
    [1, 'shop/emails'],
    [hash, json],
  ]
  return ['ok', String(NOW_MS), token, '', 1, ['1', 1, '9'], ...job, ['garage'], '700', []]
}

function endOf(work: ClaimedJob): WorkEnd {
  const outcome = { completedAtMs: NOW_MS, durationMs: 1, responseStatus: 200 }
  const end = endAttempt(work, { ...outcome, failureReason: null, errorMessage: null })
  return { type: 'ended', work, end, callback: null, call: null }
}

async function claimOne(given: ReturnType<typeof setUp>): Promise<ClaimedJob> {
  given.run.rule = answerClaim
  const answer = await given.source.claim(grantOf(4))
  given.run.rule = null
  if (answer.status !== 'claimed' || answer.work[0]?.kind !== 'job') throw new Error('one job was given')
  return answer.work[0]
}

describe('claim', () => {
  test('reads the job, its queue’s name and its settings', async () => {
    const job = await claimOne(setUp())
    expect(job).toMatchObject({
      kind: 'job',
      shard: 0,
      token: '5',
      team: 'shop',
      queueName: 'emails',
      attempt: 1,
      location: { queue: '7', settingsHash: hash, isLarge: false },
      request: { url: 'http://target.test/', payload: '1' },
      settings: { retryDelays: [60, 1800, 10_800] },
    })
  })

  test('asks no queue when none can run', async () => {
    const { run, reads, source } = setUp()
    reads.ring = []
    expect(await source.claim(grantOf(4))).toEqual({
      status: 'claimed',
      work: [],
      runnable: 0,
      nextDueMs: null,
      crowdedTeams: [],
      bytesWanted: null,
    })
    expect(run.calls).toEqual([])
  })

  test('learns whom to ask by one that asks nobody, where more can run than one asks', async () => {
    const { run, reads, source } = setUp()
    reads.ring = Array.from({ length: 64 }, (_, i) => [String(i + 1), String(2 ** 37 + i)]).flat()
    run.rule = answerClaim
    expect(await source.claim(grantOf(4))).toMatchObject({ crowdedTeams: ['garage'] })
    const [learnt, first] = run.calls.map((call) => call.args[0].args)
    expect(learnt?.at(-1)).toBe(0)
    expect(first?.slice(-6)).toEqual([1, '1', 2, 2, '7', '9'])
  })

  test('is refused with more rooms than one can be told', async () => {
    const { run, source } = setUp()
    const rooms = new Map(Array.from({ length: HEADROOM_ENTRIES_MAX + 1 }, (_, i) => [`t${i}`, 1]))
    await expect(source.claim(grantOf(4, { teamHeadroom: rooms }))).rejects.toThrow('128 teams')
    await expect(source.claim(grantOf(4, { queueHeadroom: rooms }))).rejects.toThrow('128 teams')
    expect(run.calls).toEqual([])
  })

  test('without an answer is sent again as it was, whatever is wanted next', async () => {
    const given = setUp()
    await claimOne(given)
    const { run, source } = given
    run.rule = () => Promise.reject(AWAY)
    await expect(source.claim(grantOf(64, { otherTeamsHeadroom: 3 }))).rejects.toBe(AWAY)
    await expect(source.claim(grantOf(1))).rejects.toBe(AWAY)
    run.rule = () => claimReply()
    expect(await source.claim(grantOf(1))).toMatchObject({ status: 'claimed' })
    const sent = run.calls.slice(1)
    expect(sent).toHaveLength(3)
    for (const call of sent) expect(call.args).toEqual(sent[0]?.args)
  })

  test('after an answer is another claim, of the queues that the answer named', async () => {
    const given = setUp()
    await claimOne(given)
    await claimOne(given)
    const [first, second] = given.run.calls.map((call) => call.args[0].args)
    expect(first?.slice(-6)).toEqual([1, '1', 2, 2, '7', '9'])
    expect(second?.slice(-5)).toEqual([1, '1', 1, 1, '9'])
    expect(first?.[2]).not.toBe(second?.[2])
    expect(second).toContain('5')
  })

  test('tells the step what may be taken, and hands on what was passed over', async () => {
    const given = setUp()
    await claimOne(given)
    const grant = grantOf(5, {
      bytes: 900,
      otherTeamsHeadroom: 7,
      teamHeadroom: new Map([['garage', 0]]),
      otherQueuesHeadroom: 6,
      queueHeadroom: new Map([['9', 2]]),
      leadMs: 80,
    })
    given.run.rule = answerClaim
    expect(await given.source.claim(grant)).toMatchObject({ crowdedTeams: ['garage'], bytesWanted: 700 })
    const args = given.run.calls.at(-1)?.args[0].args
    expect(args?.slice(3, 5)).toEqual([5, 900])
    expect(args?.[7]).toBe(80)
    expect(args?.slice(12, 20)).toEqual([7, 6, 1, 'garage', 0, 1, '9', 2])
  })

  test('says that the lease is gone', async () => {
    const { run, source } = setUp()
    run.rule = () => ['lost']
    expect(await source.claim(grantOf(4))).toEqual({ status: 'lease_lost' })
  })
})

describe('finish', () => {
  test('tells each end apart', async () => {
    const given = setUp()
    const ends = [endOf(await claimOne(given)), endOf(await claimOne(given))]
    given.run.rule = () => [String(NOW_MS), 0, 0, 'ds', [], '']
    expect(await given.source.finish(ends)).toEqual(['done', 'stale'])
  })

  test('answers each end at its place, in whatever order the step has them', async () => {
    const given = setUp()
    const work = await claimOne(given)
    const of = (token: string, queue: string) =>
      endOf({ ...work, token, location: { ...work.location, queue } })
    const ends = [of('1', '9'), of('2', '9'), of('1', '7'), of('1', '9'), of('2', '9')]
    // Those of queue 9 and token 1, then of token 2, then of queue 7.
    given.run.rule = () => [String(NOW_MS), 0, 0, 'dsddd', [], '']
    expect(await given.source.finish(ends)).toEqual(['done', 'done', 'done', 'stale', 'done'])
  })

  test('of the same ends is the same step until it is answered, then another', async () => {
    const given = setUp()
    const ends = [endOf(await claimOne(given))]
    given.run.rule = () => Promise.reject(AWAY)
    await expect(given.source.finish(ends)).rejects.toBe(AWAY)
    given.run.rule = () => [String(NOW_MS), 0, 0, 'd', [], '']
    await given.source.finish(ends)
    await given.source.finish(ends)
    const [first, second, third] = given.run.calls.slice(1).map((call) => call.args[0].args[1])
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  test('is done though the old chains it was asked to forget cannot be read', async () => {
    const given = setUp()
    const ends = [endOf(await claimOne(given))]
    given.reads.llen = () => Promise.reject(AWAY)
    given.run.rule = () => [String(NOW_MS), 0, 0, 'd', ['7'], '']
    expect(await given.source.finish(ends)).toEqual(['done'])
  })
})

describe('beat', () => {
  test('says how many jobs Redis counts, or that the lease is gone', async () => {
    const { run, source } = setUp()
    run.rule = () => ['ok', String(NOW_MS), 3, 0, 0]
    expect(await source.beat(true)).toEqual({ status: 'ok', listed: 3, redisMs: NOW_MS })
    run.rule = () => ['lost', String(NOW_MS)]
    expect(await source.beat(false)).toEqual({ status: 'lease_lost' })
  })

  test('notes jumps of Redis’s clock that came since the last', async () => {
    const { run, jumps, source } = setUp()
    for (const [forward, back] of [
      [4, 2],
      [4, 2],
      [5, 2],
      [5, 3],
    ]) {
      run.rule = () => ['ok', String(NOW_MS), 0, forward, back]
      await source.beat(false)
    }
    expect(jumps).toEqual(['forward', 'backward'])
  })
})
