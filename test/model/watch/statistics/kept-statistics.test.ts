import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import { emptyTally, endedJobs, addTally, type Tally } from '../../../../src/domain/statistics/tally.ts'
import type { ClaimedWork, JobSource, WorkEnd } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { foldPage } from '../../../../src/redis/watch/statistics/folder.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import {
  createStatisticsReader,
  readMinutes,
} from '../../../../src/redis/watch/statistics/statistics-reader.ts'
import { drawnSeeds } from '../../../support/engine/drawn-seeds.ts'
import { assertClean, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'

const SEEDS = drawnSeeds(20)
const STEPS = 60
const TEAMS = ['default', 'other']
const QUEUES = ['a', 'b', 'c']

type Counts = Pick<Tally, 'done' | 'failed' | 'retried' | 'dead'>

/** What a slow and simple observer counts: every end that Redis has said to have taken. */
class Observer {
  readonly counts = new Map<string, Counts>()

  note(end: WorkEnd, queueId: string): void {
    if (end.type !== 'ended') return
    const kinds = {
      success: 'done',
      failed_no_retries: 'failed',
      retry: 'retried',
      dead_letter: 'dead',
    } as const
    for (const name of [end.work.team, queueId]) {
      const counts = this.counts.get(name) ?? { done: 0, failed: 0, retried: 0, dead: 0 }
      counts[kinds[end.end.kind]] += 1
      this.counts.set(name, counts)
    }
  }

  of(name: string): Counts {
    return this.counts.get(name) ?? { done: 0, failed: 0, retried: 0, dead: 0 }
  }
}

describe('statistics', () => {
  let redis: TestRedis
  let connection: RedisConnection

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  test.each(SEEDS)('count every end once, seed %i', async (seed) => {
    const random = new SeededRandom(seed)
    const world = await openWorld(redis, { connection, shards: 1 })
    world.newQueues = { ...world.newQueues, retryDelays: random.next() < 0.5 ? [1] : [] }
    assert.equal(await new Story(world, random).run(), 'agreed')
  })
})

class Story {
  readonly #world: World
  readonly #random: SeededRandom
  readonly #observer = new Observer()
  readonly #held: ClaimedWork[] = []
  readonly #deleted = new Set<string>()
  readonly #ended: ClaimedWork[] = []

  constructor(world: World, random: SeededRandom) {
    this.#world = world
    this.#random = random
  }

  async run(): Promise<'agreed'> {
    const intake = this.#world.newIntake()
    let sources = await this.#newSources(0)
    for (let i = 1; i <= STEPS; i += 1) {
      const what = this.#random.next()
      if (what < 0.25) {
        await pushAll(intake, 1 + this.#pick(8), { team: this.#one(TEAMS), queue: this.#one(QUEUES) })
      } else if (what < 0.45) await this.#claim(this.#one(sources))
      else if (what < 0.65) await this.#finish(this.#one(sources))
      else if (what < 0.8) await this.#fold()
      else if (what < 0.93) await this.#pass()
      else if (what < 0.97) await this.#deleteQueue()
      else sources = await this.#newSources(i)
    }
    await this.#check()
    return 'agreed'
  }

  /** The others die with what they hold. */
  async #newSources(at: number): Promise<JobSource[]> {
    this.#held.length = 0
    return Promise.all([openExecutor(this.#world, `a${at}`), openExecutor(this.#world, `b${at}`)])
  }

  async #claim(source: JobSource): Promise<void> {
    const answer = await source.claim(grantOf(1 + this.#pick(12)))
    if (answer.status === 'claimed') this.#held.push(...answer.work)
  }

  /** Some jobs are held by the other executor, some twice in the batch, some ended before: they are stale. */
  async #finish(source: JobSource): Promise<void> {
    const works = this.#held.splice(0, 1 + this.#pick(6))
    if (this.#random.next() < 0.3) works.push(...this.#ended.slice(-1), ...works.slice(0, 1))
    if (works.length === 0) return
    const ends = works.map((work) => {
      if (this.#random.next() < 0.1) return { type: 'released', work } as const
      return ended(this.#world, work, { failed: this.#random.next() < 0.4 })
    })
    if (this.#random.next() < 0.3) this.#world.faults.lost.add('finish')
    const answers = await source.finish(ends).catch(() => source.finish(ends))
    ends.forEach((end, i) => {
      const queue = `q${end.work.location.queue}`
      if (answers[i] === 'done' && !this.#deleted.has(queue)) this.#observer.note(end, queue)
      if (answers[i] === 'done') this.#ended.push(end.work)
    })
  }

  async #fold(): Promise<void> {
    const { engine, faults } = this.#world
    const keys = shardKeys(engine, 0)
    if (this.#random.next() < 0.3) faults.lost.add('fold')
    await Promise.allSettled([foldPage(engine, keys), foldPage(engine, keys)])
  }

  /** Time goes on, or the clock is set, and somebody keeps the statistics or dies while doing so. */
  async #pass(): Promise<void> {
    const { engine, clock, faults } = this.#world
    const what = this.#random.next()
    if (what < 0.6) clock.advance(this.#pick(70_000))
    else if (what < 0.8) clock.jump(this.#pick(400_000))
    else clock.jump(-this.#pick(400_000))
    if (this.#random.next() < 0.3) faults.lost.add('fold')
    const keep = createMinuteRound(engine, shardKeys(engine, 0))
    await Promise.allSettled([keep(), createMinuteRound(engine, shardKeys(engine, 0))()])
  }

  async #deleteQueue(): Promise<void> {
    const { engine } = this.#world
    const [team, name] = [this.#one(TEAMS), this.#one(QUEUES)]
    const localId = await this.#world.connection.hget(shardKeys(engine, 0).queueIds, `${team}/${name}`)
    if (localId === null) return
    assert.equal(await createQueueStore(engine).remove(team, name), 'removed')
    this.#deleted.add(`q${localId}`)
  }

  async #check(): Promise<void> {
    const { engine, clock, faults } = this.#world
    faults.lost.clear()
    // Minutes that a jump back has put ahead of now become readable.
    clock.advance(3_600_000)
    for (let i = 0; i < 3; i += 1) {
      clock.advance(60_000)
      await createMinuteRound(engine, shardKeys(engine, 0))()
    }
    for (const [name, counts] of this.#observer.counts) {
      const owner = name.startsWith('q') ? name : `t${name}`
      const minutes = await readMinutes(engine, shardKeys(engine, 0), { owner, sinceMs: 0 })
      const sum = emptyTally()
      for (const tally of minutes.values()) addTally(sum, tally, 'max')
      const { done, failed, retried, dead } = sum
      assert.deepEqual({ done, failed, retried, dead }, counts, name)
      assert.equal(
        sum.latency.reduce((all, count) => all + count, 0),
        endedJobs(sum),
      )
    }
    const store = createStatisticsReader(engine)
    for (const team of TEAMS) {
      const minutes = await store.ofTeam(team, 0)
      const done = [...minutes.values()].reduce((all, tally) => all + tally.done, 0)
      assert.equal(done, this.#observer.of(team).done)
    }
    const fields = await this.#world.connection.hkeys(shardKeys(engine, 0).openTallies)
    const now = Math.floor(engine.runner.redisNowMs(0) / 60_000)
    // What waits in queues is counted in every minute.
    for (const field of fields) assert.ok(Number(field.split('.')[0]) >= now - 1, field)
    await assertClean(this.#world)
  }

  #pick(below: number): number {
    return Math.floor(this.#random.next() * below)
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#pick(items.length)] as T
  }
}
