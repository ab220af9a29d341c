import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { drawnSeeds } from '../../support/engine/drawn-seeds.ts'
import { openConnection } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { auditDifferences } from './engine-audits.ts'
import { listDifferences } from './engine-lists.ts'
import { QUEUES, story, type Op } from './engine-ops.ts'
import { readerDifferences } from './engine-readers.ts'
import { lossStory } from './loss-ops.ts'
import { Story } from './engine-story.ts'

/**
 * Drawn stories against the model. A failure prints seed and path; `SEED=… npm run test:model` draws the same stories
 * again, `STORY_PATH=…` goes straight to the shortest one, and `RUNS=5000` tells that many.
 */
const [SEED = 0] = drawnSeeds(1)
const RUNS = Number(process.env['RUNS'] ?? 90)
const PATH = process.env['STORY_PATH']

/** Of a test's time, for what comes after its stories. */
const REST_MS = 20_000

const timeoutOf = (runs: number) => 180_000 + runs * 1_000

const parameters = (runs: number) => ({
  seed: SEED,
  numRuns: Math.max(1, Math.ceil(runs)),
  // A failure is made smaller for as long as there is time, and told as far as that went.
  interruptAfterTimeLimit: timeoutOf(runs) - REST_MS,
  markInterruptAsFailure: true,
  ...(PATH === undefined ? {} : { path: PATH }),
})

/** Tells the stories; what a failure reports is enough to tell the failing one again, and says what went wrong in it. */
async function hold<Story>(property: fc.IAsyncProperty<Story>, runs: number): Promise<void> {
  const details = await fc.check(property, parameters(runs))
  if (!details.failed) return
  throw new Error(
    `${String(details.errorInstance)}\n${fc.defaultReportMessage(details as fc.RunDetails<unknown>)}`,
  )
}

describe.each([
  ['one server', false, RUNS],
  ['a Cluster', true, RUNS / 6],
] as const)('the engine on %s', (_, cluster, runs) => {
  let redis: TestRedis
  let connection: RedisConnection

  beforeAll(async () => {
    redis = await startRedis({ cluster, settings: ['--appendonly', 'no'] })
    connection = await openConnection(redis.url)
    process.stdout.write(`stories are drawn from SEED=${SEED}\n`)
  })
  afterAll(async () => {
    connection.disconnect()
    await redis.stop()
  })

  async function tell(ops: readonly Op[], limit: number | null, isInspectedAlways: boolean): Promise<void> {
    const told = await Story.begin(redis, connection)
    if (limit !== null)
      for (const queue of QUEUES.keys()) await told.callers.edit(queue, { max: limit }, false)
    for (const op of ops) {
      await told.run(op)
      await told.compare()
      if (!isInspectedAlways) continue
      assert.deepEqual(await inspect(told.world.engine), [], `after ${JSON.stringify(op)}`)
      assert.deepEqual(await readerDifferences(told.world, told.model), [], `after ${JSON.stringify(op)}`)
    }
    assert.deepEqual(await readerDifferences(told.world, told.model), [])
    assert.deepEqual(await inspect(told.world.engine), [])
    assert.deepEqual(await listDifferences(told.world.engine, told.model), [])
    const shards = told.world.engine.shards
    assert.deepEqual(await auditDifferences(redis.client, shards, told.model), [])
    await told.drain()
    await told.compare()
    assert.deepEqual(await inspect(told.world.engine), [])
    await told.clear()
    assert.deepEqual(await inspect(told.world.engine), [])
    const kept =
      /^punctual:(meta|namespaces|own-addresses|revoked|secrets|teams|tokens|windows|\{h\d+-\w+\}:(clk|seq|qseq|tok|term|use|tu|mark|tn|teams|q:1099\d+|idem:\d+|im:[\w-]+|a[dofn]:\w+|d?auc?:\w+|np|gc|fq|sl))$/
    const left = await redis.client.keys('*')
    assert.deepEqual(
      left.filter((key) => !kept.test(key)),
      [],
      'keys were left behind',
    )
  }

  async function countAlike(ops: readonly Op[]): Promise<void> {
    const told = await Story.begin(redis, connection)
    for (const op of ops) {
      await told.run(op)
      assert.deepEqual(await readerDifferences(told.world, told.model), [], `after ${JSON.stringify(op)}`)
    }
    await told.compare()
    assert.deepEqual(await inspect(told.world.engine), [])
  }

  /** Of all queues at the beginning. */
  const limit = fc.constantFrom(null, 1, 2, 3)

  test('does what the model says in long stories', { timeout: timeoutOf(runs) }, async () => {
    const property = fc.asyncProperty(story(80), limit, (ops, given) => tell(ops, given, false))
    await assert.doesNotReject(hold(property, runs))
  })

  test(
    'passes the inspection after every step of short stories',
    { timeout: timeoutOf(runs / 6) },
    async () => {
      const property = fc.asyncProperty(story(25), limit, (ops, given) => tell(ops, given, true))
      await assert.doesNotReject(hold(property, runs / 6))
    },
  )

  test(
    'everything that counts jobs counts alike, whatever is lost, cancelled or paused',
    {
      timeout: timeoutOf(runs / 8),
    },
    async () => {
      const property = fc.asyncProperty(lossStory(30), countAlike)
      await assert.doesNotReject(hold(property, runs / 8))
    },
  )
})
