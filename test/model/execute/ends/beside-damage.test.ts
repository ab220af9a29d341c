import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { Finisher } from '../../../../src/executor/shard/finisher.ts'
import type { ClaimedJob, ClaimedWork, JobSource, WorkEnd } from '../../../../src/ports/jobs.ts'
import { shardKeys, type Engine } from '../../../../src/redis/client/engine.ts'
import type { RedisConnection } from '../../../../src/redis/client/connection.ts'
import { RedisJobSource } from '../../../../src/redis/execute/job-source.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { callbackQueueOf, type QueueKeyName } from '../../../../src/redis/layout/keys.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { callRecord, claimed, ended, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { until } from '../../../support/until.ts'

const CALLBACK = {
  request: { callbackUrl: 'http://caller.test/done', callbackEvents: 'every_attempt' },
} as const

let redis: TestRedis
let connection: RedisConnection
let world: World
let engine: Engine
let source: JobSource
let told: string[]

beforeAll(async () => {
  redis = await startRedis({ settings: ['--appendonly', 'no'] })
  connection = await openConnection(redis.url)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  told = []
  engine = {
    ...world.engine,
    logger: { ...quietLogger, error: (line, fields) => void told.push(`${line} ${JSON.stringify(fields)}`) },
    metrics: quietMetrics,
  }
  source = new RedisJobSource(engine, 0, 'e1')
  assert.equal((await source.beat(true)).status, 'ok')
})

const keys = () => shardKeys(engine, 0)
/** Of the bad team, which comes first, and of the good one. */
const [BAD, GOOD] = ['1', '2']
/** Calls that succeed, fail and are retried, fail for good, and are released. */
const KINDS = ['success', 'success', 'retry', 'dead_letter', 'released'] as const

/** Five jobs of each team, all claimed. */
async function claimBoth(): Promise<readonly ClaimedJob[]> {
  const intake = world.newIntake()
  await pushAll(intake, KINDS.length, { team: 'bad', queue: 'q', ...CALLBACK })
  await pushAll(intake, KINDS.length, { team: 'good', queue: 'q', ...CALLBACK })
  const works = await claimed(source, 64)
  assert.equal(works.length, 2 * KINDS.length)
  return works as readonly ClaimedJob[]
}

function endOf(work: ClaimedJob, kind: (typeof KINDS)[number]): WorkEnd {
  if (kind === 'released') return { type: 'released', work }
  const settings = kind === 'dead_letter' ? { ...work.settings, retryDelays: [] } : work.settings
  const call = callRecord(work, work.startedAtMs, 10)
  return ended(world, { ...work, settings }, { failed: kind !== 'success', call })
}

/** Ends all through a finisher. Answers the codes by team, in order; `held` for what it holds back. */
async function endAll(works: readonly ClaimedJob[]): Promise<Record<string, string[]>> {
  const codes = new Map<number, string>()
  const finisher = new Finisher<ClaimedWork>({
    source,
    clock: systemClock,
    noteDefect: (part, error, { jobId }) => told.push(`${part} of ${jobId}: ${String(error)}`),
    turns: { succeeded: () => undefined, failed: () => 600_000 },
    onSettled: (endings, settled) =>
      endings.forEach(({ end }, i) => {
        codes.set(
          end.work.jobId,
          end.type === 'quarantined' && settled[i] === 'done' ? 'set aside' : (settled[i] ?? ''),
        )
      }),
  })
  works.forEach((work, i) => finisher.add(endOf(work, KINDS[i % KINDS.length] ?? 'success'), work))
  await until('all ends are written or held', () => finisher.isIdle())
  const ofTeam = (team: string) =>
    works.filter((work) => work.team === team).map(({ jobId }) => codes.get(jobId) ?? 'held')
  const answer = { bad: ofTeam('bad'), good: ofTeam('good') }
  finisher.discard()
  await until('nothing is held', () => finisher.isIdle())
  assert.equal(codes.size, works.length)
  return answer
}

/** What Redis has of the good team: each job and each callback in one place, once. */
async function assertGoodOnce(works: readonly ClaimedJob[]): Promise<void> {
  const { client } = redis
  const good = works.filter(({ team }) => team === 'good').map(({ jobId }) => String(jobId))
  const [first = '', second = '', retried = '', dead = '', released = ''] = good
  const queue = keys().queue(GOOD)
  assert.deepEqual((await client.lrange(queue.history, 0, -1)).toSorted(), [first, second].toSorted())
  assert.deepEqual(await client.zrange(queue.deadLetters, '0', '-1'), [dead])
  assert.deepEqual(await client.lrange(queue.ready, 0, -1), [released])
  assert.deepEqual(await client.zrange(queue.inFlight, '0', '-1'), [])
  const retry = String(Number(retried) + 1)
  assert.deepEqual((await client.hkeys(queue.records)).toSorted(), [retry, released].toSorted())
  const number = (await client.hget(keys().teamNumbers, 'good')) ?? ''
  const callbacks = await client.lrange(keys().queue(callbackQueueOf(number)).ready, 0, -1)
  assert.deepEqual(callbacks.toSorted(), [first, second, retried, dead].toSorted())
  for (const id of good) assert.equal(await client.hget(keys().heldJobs('e1'), id), null)
}

const DONE = ['done', 'done', 'done', 'done', 'done']

describe('a key of another type among those of a queue', () => {
  test.each<[QueueKeyName, string[]]>([
    ['history', ['set aside', 'set aside', 'done', 'done', 'done']],
    ['summaries', ['set aside', 'set aside', 'done', 'done', 'done']],
    ['deadLetters', ['done', 'done', 'done', 'held', 'done']],
    ['deadLetterRecords', ['done', 'done', 'done', 'held', 'done']],
    ['failedCalls', DONE],
    ['successfulCalls', DONE],
    ['callRecords', DONE],
    ['records', ['held', 'held', 'held', 'held', 'held']],
    ['inFlight', ['held', 'held', 'held', 'held', 'held']],
    ['meta', ['held', 'held', 'held', 'held', 'held']],
  ])('%s: the jobs of another team end, each once', async (name, expected) => {
    const works = await claimBoth()
    const key = keys().queueKey(name, BAD)
    await redis.client.del(key)
    await redis.client.set(key, 'damaged')
    const codes = await endAll(works)
    assert.deepEqual(codes, { bad: expected, good: DONE })
    await assertGoodOnce(works)
    assert.ok(told.length > 0, 'nobody was told')
    // What is held back is still held in Redis, so that nobody else makes its call.
    const held = Object.keys(await redis.client.hgetall(keys().heldJobs('e1'))).filter(
      (id) => !id.startsWith('#'),
    )
    assert.equal(held.length, expected.filter((code) => code === 'held').length)
  })

  test('a job set aside is shown as damaged, and its queue goes on', async () => {
    const works = await claimBoth()
    await redis.client.set(keys().queue(BAD).history, 'damaged')
    await endAll(works)
    const chain = await createJobStore(engine).get('bad', works[0]?.jobId ?? 0)
    assert.equal(chain?.attempts.at(-1)?.failureReason, 'damaged')
    const again = await claimed(source, 64)
    assert.ok(again.some(({ kind, jobId }) => kind === 'job' && jobId === works[4]?.jobId))
  })
})

describe('a key of another type among those of a shard or a team', () => {
  test.each([
    ['the log of ended jobs', () => keys().statisticsLog],
    ['the usage of teams', () => keys().teamUsage],
    ['the uses of settings', () => keys().settingsUses],
    ['the alerts of the bad team', () => keys().alertCounts('bad')],
  ])('%s: all jobs end, each once', async (_, keyOf) => {
    world.newQueues = { ...world.newQueues, alertsEnabled: true }
    const works = await claimBoth()
    await redis.client.del(keyOf())
    await redis.client.set(keyOf(), 'damaged')
    assert.deepEqual(await endAll(works), { bad: DONE, good: DONE })
    await assertGoodOnce(works)
    assert.ok(told.some((line) => line.startsWith('A step left something out')))
  })
})
