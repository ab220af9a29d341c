import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cronScheduleOf, type CronSettings } from '../../src/domain/cron.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/domain/queue-settings.ts'
import { decideCron } from '../../src/executor/cron-decision.ts'
import type { CronSource } from '../../src/ports/cron-source.ts'
import type { CronRun } from '../../src/ports/cron-store.ts'
import type { JobSource } from '../../src/ports/job-source.ts'
import type { RedisConnection } from '../../src/redis/connection.ts'
import { createCronSource } from '../../src/redis/cron-source.ts'
import { createCronStore } from '../../src/redis/cron-store.ts'
import { shardOfQueue } from '../../src/redis/engine.ts'
import { createJobStore } from '../../src/redis/job-store.ts'
import { cronSettings } from '../support/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor } from '../support/model-executor.ts'
import { openConnection, openWorld, type World } from '../support/model-world.ts'
import { startRedis, type TestRedis } from '../support/redis-server.ts'
import { tickAll } from '../support/tick-all.ts'
import { CronModel, spreadOfCron } from './cron-model.ts'

const TEAM = 'default'
const NAMES = ['a', 'b', 'c']
const SHARDS = 2
const RUNS = Number(process.env['CRON_STORIES'] ?? 150)

const name = fc.constantFrom(...NAMES)
const settings: fc.Arbitrary<CronSettings> = fc
  .record({
    cronExpression: fc.constantFrom('* * * * *', '* * * * *', '*/5 * * * *', '0 0 * * *', '30 2 29 2 *'),
    timeZone: fc.constantFrom('UTC', 'UTC', 'America/New_York'),
    isActive: fc.constantFrom(true, true, true, false),
    concurrencyPolicy: fc.constantFrom('allow', 'forbid'),
    missedRunPolicy: fc.constantFrom('latest', 'skip', 'all'),
    startingDeadlineSeconds: fc.constantFrom(null, null, 30, 200),
    jitterSeconds: fc.constantFrom(0, 0, 90),
    queue: fc.constantFrom(null, null, 'one', 'two', 'three'),
    payload: fc.constantFrom(null, 'x'.repeat(5_000)),
  })
  .map((change) => cronSettings(change))

type Op =
  | { readonly op: 'apply'; readonly name: string; readonly settings: CronSettings; readonly fault: Fault }
  | { readonly op: 'remove' | 'run'; readonly name: string; readonly fault: Fault }
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'tick'; readonly fault: Fault }
  | { readonly op: 'finish'; readonly wanted: number; readonly failed: boolean; readonly fault: Fault }
  | { readonly op: 'cancel'; readonly pick: number }
type Fault = 'none' | 'lost' | 'resent'

const fault = fc.constantFrom<Fault>('none', 'none', 'lost', 'resent')
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('apply'), name, settings, fault }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove'), name, fault }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('run'), name, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('advance'), ms: fc.constantFrom(500, 20_000, 60_000, 400_000) }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('tick'), fault }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('finish'),
      wanted: fc.integer({ min: 1, max: 8 }),
      failed: fc.boolean(),
      fault,
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel'), pick: fc.nat({ max: 9 }) }) },
)

describe('crons on a real Redis', () => {
  let redis: TestRedis
  let connection: RedisConnection

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
    connection = await openConnection(redis.url)
  })
  afterAll(async () => {
    connection.disconnect()
    await redis.stop()
  })

  test(
    'are as a model of them, whoever ticks and whatever is lost or sent twice',
    { timeout: 120_000 },
    async () => {
      const details = await fc.check(
        fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 40, size: 'max' }), async (ops) => {
          const world = await openWorld(redis, { connection, shards: SHARDS })
          world.defaults = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false }
          const story = await Story.open(world)
          for (const each of ops) {
            await story.happen(each)
            await story.compare()
          }
          await assertClean(world)
        }),
        { numRuns: RUNS },
      )
      expect(details.failed, fc.defaultReportMessage(details)).toBe(false)
    },
  )
})

class Story {
  readonly #world: World
  readonly #model = new CronModel()
  readonly #store
  readonly #executors: readonly JobSource[]
  /** Two tickers for each shard. */
  readonly #tickers: ReadonlyArray<readonly [CronSource, CronSource]>

  static async open(world: World): Promise<Story> {
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard)
    return new Story(world, await Promise.all(shards.map((shard) => openExecutor(world, 'e1', shard))))
  }

  private constructor(world: World, executors: readonly JobSource[]) {
    const options = { defaultsOf: () => world.defaults }
    this.#world = world
    this.#executors = executors
    this.#store = createCronStore(world.engine, options)
    this.#tickers = executors.map(({ shard }) => [
      createCronSource(world.engine, shard, options),
      createCronSource(world.engine, shard, options),
    ])
  }

  async happen(each: Op): Promise<void> {
    switch (each.op) {
      case 'apply':
        return this.#apply(each.name, each.settings, each.fault)
      case 'remove':
        await this.#withFault('remove_cron', each.fault, () => this.#store.remove(TEAM, each.name))
        this.#model.crons.delete(each.name)
        return
      case 'run':
        return this.#run(each.name)
      case 'advance':
        return this.#world.clock.advance(each.ms)
      case 'tick':
        for (const tickers of this.#tickers) await this.#tick(tickers, each.fault)
        return
      case 'finish':
        for (const source of this.#executors) await this.#finish(source, each)
        return
      case 'cancel':
        return this.#cancel(each.pick)
    }
  }

  /** A caller that hears nothing asks again. */
  async #withFault<T>(
    step: 'remove_cron' | 'set_cron' | 'tick' | 'finish' | 'retire_cron',
    fault: Fault,
    act: () => Promise<T>,
  ): Promise<T> {
    const { faults } = this.#world
    if (fault === 'resent') faults.resent.add(step)
    if (fault === 'lost') faults.lost.add(step)
    try {
      return await act()
    } catch (error) {
      assert.equal(fault, 'lost', String(error))
      return act()
    } finally {
      faults.resent.delete(step)
      faults.lost.delete(step)
    }
  }

  async #apply(name: string, settings: CronSettings, fault: Fault): Promise<void> {
    const { cronId } = await this.#withFault('set_cron', fault, () => this.#store.apply(TEAM, name, settings))
    this.#model.apply(name, cronId, settings, this.#world.clock.wallMs)
  }

  async #run(name: string): Promise<void> {
    const cron = this.#model.crons.get(name)
    if (cron === undefined) return
    const askedMs = this.#world.clock.wallMs
    const answer = await this.#store.runNow(TEAM, cron.cronId)
    if (cron.settings.concurrencyPolicy === 'forbid' && this.#model.isRunning(cron)) {
      assert.deepEqual(answer, { status: 'still_running', jobId: cron.running })
      return
    }
    assert.equal(answer.status, 'started')
    if (answer.status === 'started') this.#model.started(cron, askedMs, true, answer.jobId)
  }

  async #tick([first, second]: readonly [CronSource, CronSource], fault: Fault): Promise<void> {
    const nowMs = this.#world.clock.wallMs
    const due = await first.due(0)
    const same = await second.due(0)
    const model = this.#model
    const expected = [...model.crons.values()].filter((cron) => model.isDue(cron, nowMs))
    for (const { cronId } of due) assert.ok(expected.some((cron) => cron.cronId === cronId))
    const started = new Map<number, number[]>()
    for (const { cronId } of due) {
      const cron = expected.find((each) => each.cronId === cronId) ?? assert.fail('not due')
      started.set(cronId, model.tick(cron, nowMs))
    }
    await this.#withFault('tick', fault, () =>
      tickAll(
        first,
        due.map((cron) => this.#decide(cron, nowMs)),
      ),
    )
    // Another executor has read the same, and comes too late.
    const late = await tickAll(
      second,
      same.map((cron) => this.#decide(cron, nowMs)),
    )
    assert.deepEqual(late, { started: 0, outdated: same.length })
    for (const [cronId, ticks] of started) await this.#learnJobs(cronId, ticks)
  }

  #decide(cron: Parameters<typeof decideCron>[1], nowMs: number) {
    const schedule = cronScheduleOf(cron.settings)
    assert.ok(!('problem' in schedule))
    return decideCron(schedule, cron, nowMs)
  }

  /** Which jobs the ticks have made, as the records say; each its own. */
  async #learnJobs(cronId: number, ticks: readonly number[]): Promise<void> {
    const cron = [...this.#model.crons.values()].find((each) => each.cronId === cronId)
    if (cron === undefined) return
    const answer = await this.#store.runs({ team: TEAM, cronId, limit: 100, cursor: null })
    assert.ok(answer !== null && answer !== 'bad_cursor')
    for (const tickMs of ticks) {
      const run: CronRun | undefined = answer.runs.find(
        (each) =>
          each.scheduledAtMs === tickMs + spreadOfCron(cron) && each.result === 'running' && !each.isManual,
      )
      assert.ok(
        run !== undefined && run.jobId !== null && !this.#model.open.has(run.jobId),
        `tick ${tickMs} made no run`,
      )
      this.#model.started(cron, tickMs, false, run.jobId)
    }
  }

  async #finish(source: JobSource, { wanted, failed, fault }: Extract<Op, { op: 'finish' }>): Promise<void> {
    await source.beat(false)
    const works = await claimed(source, wanted)
    if (works.length === 0) return
    const ends = works.map((work) => ended(this.#world, work, { failed }))
    await this.#withFault('finish', fault, () => source.finish(ends))
    for (const work of works) {
      assert.ok(work.kind === 'job' && work.request.cron !== null)
      assert.ok(work.scheduledAtMs <= this.#world.clock.wallMs)
      this.#model.ended(work.rootId, failed, (name) => this.#shardOf(name) === source.shard)
    }
  }

  #shardOf(name: string): number {
    const queue = this.#model.crons.get(name)?.settings.queue ?? name
    return shardOfQueue(this.#world.engine, TEAM, queue).shard
  }

  async #cancel(pick: number): Promise<void> {
    const jobs = [...this.#model.open]
    const jobId = jobs[pick % jobs.length]
    if (jobId === undefined) return
    const answer = await createJobStore(this.#world.engine).cancel(TEAM, jobId)
    // The hidden queue of a cron that was removed is gone with its jobs.
    assert.ok(answer === 'cancelled' || answer === 'not_found')
    this.#model.open.delete(jobId)
  }

  async compare(): Promise<void> {
    for (const name of NAMES) {
      const cron = this.#model.crons.get(name)
      const found = await this.#store.getByName(TEAM, name)
      if (cron === undefined) {
        assert.equal(found, null)
        continue
      }
      const { cronId, settings, expectedMs, failures, successMs } = cron
      const spreadMs = spreadOfCron(cron)
      assert.ok(found !== null)
      const { lastRun, ...rest } = found
      assert.deepEqual(rest, {
        ...{ cronId, team: TEAM, name, settings, consecutiveFailures: failures, lastSuccessAtMs: successMs },
        nextRunAtMs: expectedMs === null ? null : expectedMs + spreadMs,
      })
      const answer = await this.#store.runs({ team: TEAM, cronId, limit: 100, cursor: null })
      assert.ok(answer !== null && answer !== 'bad_cursor')
      assert.deepEqual(answer.runs[0] ?? null, lastRun)
      assert.deepEqual(
        answer.runs.map(({ scheduledAtMs, result, isManual, ticks }) => ({
          scheduledAtMs,
          result,
          isManual,
          ticks,
        })),
        cron.runs.map(({ tickMs, result, isManual, ticks }) => ({
          ...{ scheduledAtMs: tickMs + (isManual ? 0 : spreadMs), result, isManual, ticks },
        })),
      )
    }
  }
}
