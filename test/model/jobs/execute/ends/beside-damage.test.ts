import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import { createJobStore } from '../../../../../src/redis/jobs/job-store.ts'
import type { QueueKeyName, ShardKeys } from '../../../../../src/redis/base/layout/keys.ts'
import { assertClean, claimed } from '../../../../support/engine/model-executor.ts'
import { openConnection } from '../../../../support/engine/model-world.ts'
import { loadWrappedScripts } from '../../../../support/lua/wrapped-scripts.ts'
import type { TestRedis } from '../../../../support/servers/redis-server.ts'
import { test } from '../../../../support/servers/shared-redis.ts'
import { BAD, DamageScene, DONE } from './damage-scene.ts'

let redis: TestRedis
let connection: RedisConnection
let scene: DamageScene

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  scene = await DamageScene.open(redis, connection)
})

const HELD = DONE.map(() => 'held')
/** A key of the bad queue that has another type, and how its jobs end then. */
const OF_QUEUES: ReadonlyArray<readonly [QueueKeyName, readonly string[]]> = [
  ['history', ['set aside', 'set aside', 'done', 'done', 'done']],
  ['summaries', ['set aside', 'set aside', 'done', 'done', 'done']],
  ['deadLetters', ['done', 'done', 'done', 'held', 'done']],
  ['deadLetterRecords', ['done', 'done', 'done', 'held', 'done']],
  ['failedCalls', DONE],
  ['successfulCalls', DONE],
  ['callRecords', DONE],
  ['records', HELD],
  ['inFlight', HELD],
  ['meta', HELD],
]

async function play(of: DamageScene, name: QueueKeyName, expected: readonly string[]): Promise<void> {
  const works = await of.claimBoth()
  await of.damage(of.keys.queueKey(name, BAD))
  assert.deepEqual(await of.endAll(works), { bad: expected, good: DONE })
  await of.assertGoodOnce(works)
  assert.ok(of.told.length > 0, 'nobody was told')
  await of.assertHeld(expected.filter((code) => code === 'held').length)
  if (name !== 'history') return
  // No count was lost on the way.
  await redis.client.del(of.keys.queueKey(name, BAD))
  await assertClean(of.world)
}

describe('a key of another type among those of a queue', () => {
  test.each(OF_QUEUES)('%s: the jobs of another team end, each once', async (name, expected) => {
    await assert.doesNotReject(play(scene, name, expected))
  })

  test.each(['inFlight', 'deadLetters'] as const)(
    '%s: what is held keeps its use of settings, which other teams use too',
    async (name) => {
      const works = await scene.claimBoth()
      const { settingsUses } = scene.keys
      const before = await redis.client.hgetall(settingsUses)
      await scene.damage(scene.keys.queueKey(name, BAD))
      const { bad = [], good = [] } = await scene.endAll(works)
      const ended = [...bad, ...good].filter((code, i) => code !== 'held' && i % DONE.length !== 2)
      const uses = Object.values(await redis.client.hgetall(settingsUses)).map(Number)
      const sum = Object.values(before).reduce((all, count) => all + Number(count), 0)
      // A job that was released goes on using them, as one that is retried does.
      const gone = ended.length - [bad, good].filter((codes) => codes[4] === 'done').length
      assert.equal(
        uses.reduce((all, count) => all + count, 0),
        sum - gone,
      )
    },
  )

  test('a job set aside is shown as damaged, and its queue goes on', async () => {
    const works = await scene.claimBoth()
    await scene.damage(scene.keys.queue(BAD).history)
    await scene.endAll(works)
    const chain = await createJobStore(scene.engine).get('bad', works[0]?.jobId ?? 0)
    assert.equal(chain?.attempts.at(-1)?.failureReason, 'damaged')
    const again = await claimed(scene.source, 64)
    assert.ok(again.some(({ kind, jobId }) => kind === 'job' && jobId === works[4]?.jobId))
  })
})

describe('a key of another type among those of a shard or a team', () => {
  test.each<[string, (keys: ShardKeys) => string]>([
    ['the log of ended jobs', (keys) => keys.statisticsLog],
    ['the usage of teams', (keys) => keys.teamUsage],
    ['the uses of settings', (keys) => keys.settingsUses],
    ['the alerts of the bad team', (keys) => keys.alertCounts('bad')],
  ])('%s: all jobs end, each once', async (_, keyOf) => {
    scene.world.newQueues = { ...scene.world.newQueues, alertsEnabled: true }
    const works = await scene.claimBoth()
    await scene.damage(keyOf(scene.keys))
    assert.deepEqual(await scene.endAll(works), { bad: DONE, good: DONE })
    await scene.assertGoodOnce(works)
    assert.ok(scene.told.some((line) => line.startsWith('A step left something out')))
  })
})

describe('a bug in a guard is found:', () => {
  test.each([
    {
      bug: 'jobs are ended without one',
      right: 'guarded(job.id, settle_job, batch, job)',
      wrong: '(settle_job(batch, job) or true)',
    },
    {
      bug: 'queues are written without one',
      right: 'guarded(queue.localId, close_queue, batch, queue)',
      wrong: 'true, close_queue(batch, queue)',
    },
    {
      bug: 'the heads of queues are read without one',
      right: 'guarded(queue.localId, read_live, queue.meta)',
      wrong: 'true, read_live(queue.meta)',
    },
    {
      bug: 'a job goes back before its queue is written',
      right: "add_to(queue, 'returned', job.id)",
      wrong: "call('LPUSH', queue.ready, job.id)",
    },
    {
      bug: 'summaries of a queue that threw stay',
      right: 'guarded(queue.localId, forget_summaries, queue, roots)',
      wrong: '',
    },
    {
      bug: 'what threw counts as done',
      right: "do codes[i] = 'x' end",
      wrong: "do codes[i] = 'd' end",
    },
    {
      bug: 'jobs of a queue that threw are let go',
      right: 'batch.freed, batch.ended_runs = freed, ended_runs',
      wrong: '',
    },
    {
      bug: 'settings of a queue that threw are let go',
      right: '(batch.settings_released[hash] or 0) - 1',
      wrong: '(batch.settings_released[hash] or 0)',
    },
    {
      bug: 'a callback comes before its queue is written',
      right: "add_to(queue, 'leaving', job)",
      wrong: 'Settle.leave(batch, queue, job)',
    },
    {
      bug: 'a queue whose head cannot be read counts as deleted',
      right: 'queue.is_failed = live or {}, not ok',
      wrong: 'queue.is_failed = live or {}, false',
    },
  ])('$bug', async ({ right, wrong }) => {
    let isPlanted = false
    const scripts = loadWrappedScripts((source, name) => {
      if (name !== 'finish') return source
      isPlanted = source.includes(right)
      return source.replace(right, () => wrong)
    })
    assert.ok(isPlanted, 'the step has changed: plant the bug in its new text')
    const found: string[] = []
    for (const [name, expected] of OF_QUEUES) {
      const spoilt = await DamageScene.open(redis, connection, scripts)
      await play(spoilt, name, expected).catch(() => found.push(name))
    }
    assert.notDeepEqual(found, [])
  })
})
