import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import type { BulkShard } from '../../../../src/ports/bulk/bulk.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { drawnSeeds } from '../../../support/engine/drawn-seeds.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

const SEEDS = drawnSeeds(Number(process.env['BULK_SEEDS'] ?? 12))
const ACTIONS = ['cancel', 'replay', 'purge', 'delete', 'fire', 'retry'] as const
const QUEUES = ['emails', 'a', 'b']
const BULK_STEPS = [
  'create_bulk',
  'set_bulk',
  'put_part',
  'resume_part',
  'count_outcome',
  'take_lock',
  'move_part',
  'open_page',
  'delete_page',
  'purge_page',
  'remake_page',
] as const satisfies readonly StepName[]

/** Small and seeded: the same story for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** Which jobs there are, as the story made them: it does not ask the product. */
interface Jobs {
  readonly ready: number[]
  readonly delayed: number[]
  readonly dead: number[]
  /** Failed without a dead letter. */
  readonly failed: number[]
  /** The same, and their payloads are gone. */
  readonly lost: number[]
  readonly succeeded: number[]
}

/** What of them an action is for. */
const FOR: Readonly<Record<(typeof ACTIONS)[number], ReadonlyArray<keyof Jobs>>> = {
  cancel: ['ready', 'delayed'],
  fire: ['delayed'],
  purge: ['dead'],
  replay: ['dead'],
  retry: ['dead', 'failed'],
  delete: ['ready', 'delayed', 'dead', 'failed', 'lost', 'succeeded'],
}
const STATUS: Readonly<Record<(typeof ACTIONS)[number], JobFilter['status']>> = {
  cancel: 'pending',
  fire: 'pending',
  purge: 'dead_lettered',
  replay: 'dead_lettered',
  retry: 'failed',
  delete: null,
}

describe('a bulk whose executors die at any step', () => {
  let redis: TestRedis
  let connection: RedisConnection

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  test.each(SEEDS)('seed %d', async (seed) => {
    const world = await openWorld(redis, { connection })
    const random = randomOf(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const stage = new BulkStage(world)
    const jobs = await makeJobs(stage, random)
    world.clock.advance(10)
    const action = pick(ACTIONS)
    const meant = FOR[action].flatMap((kind) => jobs[kind])
    const named =
      random() < 0.4
        ? Object.values(jobs as unknown as Record<string, number[]>)
            .flat()
            .filter(() => random() < 0.5)
        : null
    const isNamed = named !== null && named.length > 0
    const before = await held(world)
    const bulk = await stage.create(action, isNamed ? named : { status: STATUS[action] })
    // Not of the bulk, as it is made later.
    await stage.push(3, { queue: 'a' })
    const wanted = isNamed ? meant.filter((id) => named.includes(id)) : meant
    const isAborted = random() < 0.4
    const isResumed = random() < 0.6

    let shards = [stage.openShards(), stage.openShards()]
    for (let round = 0; ; round += 1) {
      assert.ok(round < 500, 'the bulk does not end')
      breakSteps(world, random, round < 200 ? 0.3 : 0)
      if (isAborted && round === 2) await stage.store.abort(TEAM, bulk.id, AN_ACTOR).catch(() => undefined)
      const isBusy = await roundOfBoth(shards)
      if (isBusy === 'died') {
        shards = [stage.openShards(), stage.openShards()]
        world.clock.advance(6_000)
        continue
      }
      // The bulk itself is looked at again after a while, when who ended the last part has died.
      world.clock.advance(2_500)
      const state = (await stage.store.get(TEAM, bulk.id))?.state
      if (state === 'aborted' && isResumed)
        await stage.store.resume(TEAM, bulk.id, AN_ACTOR).catch(() => undefined)
      else if (state === 'done' || state === 'aborted') break
    }
    world.faults.before = () => undefined
    world.faults.lost.clear()

    const end = await stage.store.get(TEAM, bulk.id)
    assert.ok(end !== null)
    const after = await held(world)
    const done = end.done
    const open = before.open + 3
    const { dead, finished } = before
    if (action === 'cancel') assert.deepEqual(after, { open: open - done, dead, finished })
    if (action === 'fire') assert.deepEqual(after, { open, dead, finished })
    if (action === 'purge') assert.deepEqual(after, { open, dead: dead - done, finished })
    if (action === 'replay')
      assert.deepEqual(after, { open: open + done, dead: dead - done, finished: finished + done })
    if (action === 'retry') {
      assert.deepEqual([after.open, after.dead + after.finished], [open + done, dead + finished])
      const replayed = jobs.dead.filter((id) => wanted.includes(id)).length
      if (end.state === 'done') assert.equal(after.dead, dead - replayed)
    }
    if (action === 'delete')
      assert.equal(after.open + after.dead + after.finished, open + dead + finished - done)
    if (end.state === 'aborted' || action === 'fire') {
      // A job that became due meanwhile is not fired.
      assert.ok(done <= wanted.length)
    } else {
      // A filter finds them, for they have failed; but nothing is left to make a job of.
      const lost = action === 'retry' ? jobs.lost.length : 0
      const others = isNamed ? named.length - wanted.length : lost
      assert.deepEqual([done, end.failed, end.skipped], [wanted.length, others, 0])
    }
    assert.equal(end.state === 'aborted', isAborted && !isResumed && end.state !== 'done')
    if (end.outcome !== null) {
      const { succeeded, waiting, failedAgain, removed } = end.outcome
      assert.equal(succeeded + waiting + failedAgain + removed, done)
      assert.equal(await listed(world, bulk.id), done)
    }
    if (end.state === 'done' && action === 'fire') {
      const seen = done + end.skipped + end.failed
      assert.equal(seen, isNamed ? named.length : jobs.ready.length + jobs.delayed.length)
    }
    await assertClean(world)
    world.close()
  })

  /** How many jobs the bulk names as made by it, each once. */
  async function listed(world: World, bulkId: number): Promise<number> {
    const filter = { ...ANY_JOB, bulkId }
    const query = { team: TEAM, filter, queues: null, limit: 1_000, cursor: null }
    const page = await createJobStore(world.engine).list(query)
    assert.ok(typeof page === 'object')
    assert.ok(page.jobs.every(({ chain }) => chain.request.bulkId === bulkId))
    return new Set(page.jobs.map(({ jobId }) => jobId)).size
  }

  /** Jobs that have not ended and dead letters, counted in Redis itself. */
  async function held(world: World): Promise<{ open: number; dead: number; finished: number }> {
    const sum = { open: 0, dead: 0, finished: 0 }
    for (const keys of world.engine.shards) {
      for (const id of Object.values(await redis.client.hgetall(keys.queueIds))) {
        sum.open += await redis.client.hlen(keys.queue(id).records)
        sum.dead += await redis.client.zcard(keys.queue(id).deadLetters)
        sum.finished += await redis.client.hlen(keys.queue(id).summaries)
      }
    }
    return sum
  }
})

async function makeJobs(stage: BulkStage, random: () => number): Promise<Jobs> {
  const jobs: Jobs = { ready: [], delayed: [], dead: [], failed: [], lost: [], succeeded: [] }
  const some = (most: number) => Math.floor(random() * most)
  const payload = random() < 0.3 ? JSON.stringify('x'.repeat(30_000)) : '1'
  for (const queue of QUEUES)
    jobs.dead.push(...(await stage.deadLetters(some(90), { queue, request: { payload } })))
  for (const queue of QUEUES) {
    const change = { queue, request: { payload: '1' } }
    jobs.failed.push(...(await stage.finished(some(60), { failed: true, kept: true }, change)))
    jobs.lost.push(...(await stage.finished(some(10), { failed: true, kept: false }, change)))
    jobs.succeeded.push(...(await stage.finished(some(60), { failed: false, kept: true }, change)))
  }
  for (const queue of QUEUES) {
    jobs.ready.push(...(await stage.push(some(60), { queue, request: { payload } })))
    jobs.delayed.push(...(await stage.push(some(60), { queue, start: { delaySeconds: 1 + some(4_000) } })))
  }
  return jobs
}

/** Some steps are never sent, and the answers of some are lost. */
function breakSteps(world: World, random: () => number, share: number): void {
  world.faults.lost.clear()
  for (const name of BULK_STEPS) if (random() < share / 2) world.faults.lost.add(name)
  world.faults.before = ({ name }) => {
    const isOurs = BULK_STEPS.some((one) => one === name)
    if (isOurs && random() < share / 2) throw new StoreUnavailableError('the executor dies')
  }
}

/** Both executors do the same pieces at the same time. */
async function roundOfBoth([one = [], other = []]: readonly BulkShard[][]): Promise<
  'idle' | 'busy' | 'died'
> {
  let answer: 'idle' | 'busy' | 'died' = 'idle'
  for (const [i, shard] of one.entries()) {
    const due = await shard.due().catch(() => 'died' as const)
    if (due === 'died') return due
    for (const piece of due.work) {
      answer = 'busy'
      const ends = await Promise.allSettled([shard.tend(piece), other[i]?.tend(piece)])
      const fault = ends.find((end) => end.status === 'rejected')
      if (fault === undefined) continue
      if (!(fault.reason instanceof StoreUnavailableError)) throw fault.reason
      return 'died'
    }
  }
  return answer
}
