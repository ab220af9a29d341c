import { afterAll, beforeEach, describe, expect } from 'vitest'
import type { BulkOrder } from '../../../../src/domain/bulk/bulk.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

const DEAD = { status: 'dead_lettered' } as const

describe('what became of the jobs of a bulk', () => {
  let redis: TestRedis
  let connection: RedisConnection
  let stage: BulkStage

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())
  beforeEach(async () => {
    stage = new BulkStage(await openWorld(redis, { connection }))
    return () => stage.world.close()
  })

  const read = async (id: number) => (await stage.store.get(TEAM, id)) ?? expect.fail('the bulk is gone')
  const jobs = () => createJobStore(stage.world.engine)
  const made = async (bulkId: number, limit = 1_000, cursor: string | null = null) => {
    const filter = { ...ANY_JOB, bulkId }
    const page = await jobs().list({ team: TEAM, filter, queues: null, limit, cursor })
    return typeof page === 'object' ? page : expect.fail(page)
  }
  /** Lets the executors look until all that has ended is counted. */
  const look = async () => {
    stage.world.clock.advance(2_500)
    await stage.drive()
  }
  const replayed = async (count: number, other: Partial<BulkOrder> = {}) => {
    await stage.deadLetters(count)
    stage.world.clock.advance(1)
    const bulk = await stage.create('replay', DEAD, other)
    await stage.drive()
    return bulk
  }

  test('is counted by what they come to, over all shards', async () => {
    for (const queue of ['a', 'b', 'c']) await stage.deadLetters(40, { queue })
    stage.world.clock.advance(1)
    const { id } = await stage.create('replay', DEAD)
    await stage.drive()
    expect(await read(id)).toMatchObject({
      state: 'done',
      done: 120,
      failed: 0,
      outcome: { succeeded: 0, waiting: 120, failedAgain: 0, removed: 0 },
    })
    await assertClean(stage.world)
    let ended = 0
    await stage.endAll(() => ({ failed: (ended += 1) % 3 === 0 }))
    await look()
    const outcome = { succeeded: 80, waiting: 0, failedAgain: 40, removed: 0 }
    expect(await read(id)).toMatchObject({ outcome })
    await assertClean(stage.world)

    // What is done to them later changes nothing.
    const again = await stage.create('replay', DEAD)
    await stage.drive()
    await stage.failAll()
    await look()
    expect(await read(id)).toMatchObject({ outcome })
    expect(await read(again.id)).toMatchObject({ outcome: { succeeded: 0, waiting: 0, failedAgain: 40 } })
    await assertClean(stage.world)
  })

  test('counts a job once, however many executors look, and after an answer was lost', async () => {
    const { id } = await replayed(450)
    await stage.failAll()
    stage.world.clock.advance(2_500)
    const [one, other] = [stage.openShards(), stage.openShards()]
    stage.world.faults.lost.add('count_outcome')
    for (let round = 0; round < 5; round += 1)
      await Promise.allSettled([...one, ...other].map((shard) => stage.round([shard])))
    stage.world.faults.lost.clear()
    await look()
    expect(await read(id)).toMatchObject({ outcome: { succeeded: 0, waiting: 0, failedAgain: 450 } })
    // A look that comes late counts nothing.
    const late = stage.world.sent.get('count_outcome') ?? expect.fail()
    expect(await stage.world.engine.runner.run(late)).toBe('stale')
    await assertClean(stage.world)
  })

  test('leaves those waiting that wait, and looks at the jobs behind them', async () => {
    const { id } = await replayed(500)
    const page = await made(id)
    // The last of them end, while the others wait.
    for (const { jobId } of page.jobs.slice(0, 450)) await jobs().remove(TEAM, jobId, AN_ACTOR, false)
    await stage.failAll()
    await look()
    expect(await read(id)).toMatchObject({ outcome: { waiting: 0, failedAgain: 50, removed: 450 } })
    await assertClean(stage.world)
  })

  test('says of a job whose queue is deleted that it was removed', async () => {
    const { id } = await replayed(5)
    await createQueueStore(stage.world.engine).remove(TEAM, 'emails')
    await look()
    expect(await read(id)).toMatchObject({ outcome: { waiting: 0, removed: 5 } })
    expect((await made(id)).jobs).toEqual([])
  })

  test('is kept in the record, so that later reads need no part', async () => {
    const { id } = await replayed(5)
    await stage.failAll()
    await look()
    for (const { shard } of stage.world.engine.shards)
      await redis.client.del(shardKeys(stage.world.engine, shard).bulkPart(`${TEAM}/${id}`))
    expect(await read(id)).toMatchObject({ done: 5, outcome: { failedAgain: 5 } })
  })

  test('jobs name their bulk, their retries too, and what is made of them does not', async () => {
    const { id } = await replayed(3)
    const [first] = (await made(id)).jobs
    expect(first?.chain.request.bulkId).toBe(id)
    await stage.failAll()
    const chain = await jobs().get(TEAM, first?.jobId ?? 0)
    expect(chain).toMatchObject({ end: 'dead_lettered', request: { bulkId: id } })
    const end = await jobs().replay(TEAM, first?.jobId ?? 0, AN_ACTOR)
    const next = await jobs().get(TEAM, end.status === 'made' ? end.jobId : 0)
    expect(next?.request.bulkId).toBeUndefined()
    expect(await jobs().get(TEAM, first?.jobId ?? 0)).toMatchObject({ request: { bulkId: id } })
  })

  test('a bulk lists what it made, page by page, with other filters and each job once', async () => {
    for (const queue of ['a', 'b', 'c', 'd']) await stage.deadLetters(60, { queue })
    stage.world.clock.advance(1)
    const { id } = await stage.create('replay', DEAD)
    await stage.drive()
    const ids = new Set<number>()
    let cursor: string | null = null
    do {
      const page = await made(id, 7, cursor)
      expect(page.jobs.length).toBeLessThanOrEqual(7)
      for (const { jobId } of page.jobs) ids.add(jobId)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(ids.size).toBe(240)
    const query = { team: TEAM, queues: null, limit: 1_000, cursor: null }
    const inB = await jobs().list({ ...query, filter: { ...ANY_JOB, bulkId: id, queue: 'b' } })
    expect(inB).toMatchObject({ jobs: { length: 60 } })
    const limited = await jobs().list({
      ...query,
      queues: new Set(['a', 'b']),
      filter: { ...ANY_JOB, bulkId: id },
    })
    expect(limited).toMatchObject({ jobs: { length: 120 } })
    const others = await jobs().list({ ...query, team: 'other', filter: { ...ANY_JOB, bulkId: id } })
    expect(others).toMatchObject({ jobs: [] })
    expect(await jobs().list({ ...query, cursor: 'x', filter: { ...ANY_JOB, bulkId: id } })).toBe(
      'bad_cursor',
    )
  })

  test('a bulk lists what it fired', async () => {
    const delayed = await stage.push(3, { start: { delaySeconds: 500 } })
    const { id } = await stage.create('fire', delayed)
    await stage.drive()
    expect(new Set((await made(id)).jobs.map(({ jobId }) => jobId))).toEqual(new Set(delayed))
    expect(await read(id)).toMatchObject({ outcome: null })
    await assertClean(stage.world)
  })

  describe('a bulk with a rule', () => {
    const STOP = { stopWhen: { failedAgainPercent: 20, min: 50 } }

    test('lets few jobs wait, and stops when too many fail again', async () => {
      const bulk = await replayed(600, STOP)
      const first = await read(bulk.id)
      expect(first).toMatchObject({ state: 'running', done: 200, outcome: { waiting: 200 } })
      let ended = 0
      await stage.endAll(() => ({ failed: (ended += 1) % 2 === 0 }))
      await look()
      expect(await read(bulk.id)).toMatchObject({
        state: 'stopped',
        done: 200,
        stopped: { failedAgain: 100, ended: 200 },
        outcome: { succeeded: 100, waiting: 0, failedAgain: 100 },
      })
      await assertClean(stage.world)
    })

    test('goes on while enough succeed, the faster the more do', async () => {
      const bulk = await replayed(700, STOP)
      let ended = 0
      const rounds: number[] = []
      while ((await read(bulk.id)).state === 'running') {
        rounds.push(await stage.endAll(() => ({ failed: (ended += 1) % 6 === 0 })))
        stage.world.clock.advance(600)
        await stage.drive()
        stage.world.clock.advance(600)
        await stage.drive()
      }
      expect(await read(bulk.id)).toMatchObject({ state: 'done', done: 700, stopped: null })
      expect(rounds).toEqual([200, 200])
      // More than 200, because more have succeeded.
      expect((await read(bulk.id)).outcome).toMatchObject({ succeeded: 334, waiting: 300 })
      await assertClean(stage.world)
    })

    test('is judged anew when it is resumed: only what ends from then on counts', async () => {
      const bulk = await replayed(400, STOP)
      await stage.failAll()
      await look()
      expect(await read(bulk.id)).toMatchObject({
        state: 'stopped',
        stopped: { failedAgain: 200, ended: 200 },
      })
      expect(await stage.store.resume(TEAM, bulk.id, AN_ACTOR)).toMatchObject({
        state: 'running',
        stopped: null,
      })
      await stage.drive()
      expect(await read(bulk.id)).toMatchObject({ state: 'running', done: 400 })
      await stage.endAll(() => ({ failed: false }))
      await look()
      await look()
      expect(await read(bulk.id)).toMatchObject({
        state: 'done',
        outcome: { succeeded: 200, waiting: 0, failedAgain: 200 },
      })
      await assertClean(stage.world)
    })
  })

  describe('a bulk that is resumed', () => {
    /** Of 250 jobs, some are done when it is aborted. */
    const aborted = async (
      before: () => Promise<unknown> = async () => undefined,
      queue: string | null = null,
    ) => {
      await stage.deadLetters(250)
      await before()
      stage.world.clock.advance(1)
      const bulk = await stage.create('replay', { ...DEAD, queue })
      const shards = stage.openShards()
      await stage.begin(shards)
      await stage.round(shards)
      await stage.store.abort(TEAM, bulk.id, AN_ACTOR)
      const { done, state } = await read(bulk.id)
      expect({ state, isBegun: done > 0 && done < 250 }).toEqual({ state: 'aborted', isBegun: true })
      // Until the locks of these shards have ended.
      stage.world.clock.advance(6_000)
      return bulk
    }

    test('goes on with what was left of it, and with nothing that failed since', async () => {
      const { id } = await aborted()
      await stage.failAll()
      await stage.deadLetters(20)
      stage.world.clock.advance(86_400_000)
      await stage.store.resume(TEAM, id, AN_ACTOR)
      await stage.drive()
      expect(await read(id)).toMatchObject({ state: 'done', matched: 250, done: 250, skipped: 0, failed: 0 })
      await assertClean(stage.world)
    })

    test('leaves out what was pushed before it and has failed since', async () => {
      let late: number[] = []
      const { id } = await aborted(async () => void (late = await stage.push(1, { queue: 'late' })))
      stage.world.clock.advance(100_000)
      await stage.failAll()
      await stage.store.resume(TEAM, id, AN_ACTOR)
      await stage.drive()
      expect(await read(id)).toMatchObject({ state: 'done', done: 250 })
      expect((await jobs().get(TEAM, late[0] ?? 0))?.replayedAs).toBeNull()
    })

    test('is resumed once by two at the same time', async () => {
      const { id } = await aborted()
      const ends = await Promise.all([1, 2].map(() => stage.store.resume(TEAM, id, AN_ACTOR)))
      // Who comes in the same millisecond has written the same.
      expect(ends.some((end) => typeof end === 'object')).toBe(true)
      expect(await stage.store.resume(TEAM, id, AN_ACTOR)).toBe('not_ended')
      await stage.drive()
      expect(await read(id)).toMatchObject({ state: 'done', done: 250 })
      expect(await stage.store.resume(TEAM, id, AN_ACTOR)).toBe('done')
      expect(await stage.store.resume('other', id, AN_ACTOR)).toBeNull()
      await assertClean(stage.world)
    })

    test('is aborted again, and a late message of its resume does not undo that', async () => {
      const { id } = await aborted(undefined, 'emails')
      await stage.store.resume(TEAM, id, AN_ACTOR)
      const late = stage.world.sent.get('resume_part') ?? expect.fail()
      await stage.store.abort(TEAM, id, AN_ACTOR)
      const { done } = await read(id)
      expect(await stage.world.engine.runner.run(late)).toBe(0)
      await look()
      expect(await read(id)).toMatchObject({ state: 'aborted', done })
      await assertClean(stage.world)
    })

    test('goes on when who resumed it died before its parts were', async () => {
      const { id } = await aborted()
      stage.world.faults.before = ({ name }) => {
        if (name === 'resume_part') throw new Error('the API dies')
      }
      await expect(stage.store.resume(TEAM, id, AN_ACTOR)).rejects.toThrow('the API dies')
      stage.world.faults.before = () => undefined
      expect(await read(id)).toMatchObject({ state: 'starting' })
      await look()
      expect(await read(id)).toMatchObject({ state: 'done', done: 250 })
      await assertClean(stage.world)
    })

    test('is refused while as many run as may', async () => {
      const { id } = await aborted()
      for (let i = 0; i < 10; i += 1) await stage.create('cancel', [1])
      expect(await stage.store.resume(TEAM, id, AN_ACTOR)).toBe('too_many')
      await stage.drive()
      expect(await stage.store.resume(TEAM, id, AN_ACTOR)).toMatchObject({ state: 'running' })
    })
  })
})
