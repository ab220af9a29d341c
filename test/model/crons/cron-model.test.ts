import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { afterAll, describe, expect } from 'vitest'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import type { CronSource, DueCron, CronRun } from '../../../src/ports/crons.ts'
import type { JobSource } from '../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { shardOfQueue } from '../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import type { Scripts } from '../../../src/redis/steps.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import { REPEATED } from '../../support/engine/drawn-seeds.ts'
import { openConnection, openWorld, type World } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { tickAll } from '../../support/engine/tick-all.ts'
import { loadWrappedScripts } from '../../support/lua/wrapped-scripts.ts'
import { CronModel, spreadOfCron } from './cron-model.ts'
import { AN_ACTOR } from '../../support/principals.ts'

const TEAM = 'default'
const NAMES = ['a', 'b', 'c']
const SHARDS = 2
const RUNS = Number(process.env['CRON_STORIES'] ?? 60)
/** Each bug is planted into the same stories. */
const RUNS_UNTIL_FOUND = 150
const WRAPPED = loadWrappedScripts()

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
  | { readonly op: 'tick'; readonly fault: Fault; readonly edit: Edit | null }
  | { readonly op: 'finish'; readonly wanted: number; readonly failed: boolean; readonly fault: Fault }
  | { readonly op: 'cancel'; readonly pick: number }
type Fault = 'none' | 'lost' | 'resent'
/** What happens between the read of due crons and their tick. */
interface Edit {
  readonly name: string
  /** null = a removal. */
  readonly change: Partial<CronSettings> | null
}

const fault = fc.constantFrom<Fault>('none', 'none', 'lost', 'resent')
const change: fc.Arbitrary<Edit['change']> = fc.constantFrom(
  { timeoutSeconds: 7 },
  { concurrencyPolicy: 'forbid' },
  { cronExpression: '*/2 * * * *' },
  { isActive: false },
  { queue: 'two' },
  null,
)
const edit: fc.Arbitrary<Edit> = fc.record({ name, change })
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('apply'), name, settings, fault }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove'), name, fault }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('run'), name, fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('advance'), ms: fc.constantFrom(500, 20_000, 60_000, 400_000) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant('tick'), fault, edit: fc.option(edit, { freq: 2 }) }),
  },
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

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  test(
    'are as a model of them, whoever ticks and whatever is lost or sent twice',
    { timeout: 120_000 },
    async () => {
      const details = await fc.check(stories(), { numRuns: RUNS, ...REPEATED })
      expect(details.failed, fc.defaultReportMessage(details)).toBe(false)
    },
  )

  test.each([
    ['tick', 'compares no version', 'version ~= cron.version or is_retired', 'is_retired'],
    ['tick', 'compares no tick', 'tick ~= cron.expected or', ''],
    ['tick', 'sets no next tick', "tick = cron.next == '-' and '' or cron.next", ''],
    ['tick', 'lets no run that has ended go', 'if running == cron.ended then', 'if false then'],
    ['set_cron', 'forgets what was due', 'local is_overdue = not', 'local is_overdue = false and not'],
  ])('are not when %s %s', { timeout: 120_000 }, async (step, _what, right, wrong) => {
    let isPlanted = false
    const scripts = loadWrappedScripts((source, script) => {
      if (script !== step) return source
      isPlanted = source.includes(right)
      return source.replace(right, wrong)
    })
    assert.ok(isPlanted, 'the step reads otherwise by now: plant the bug anew')
    const details = await fc.check(stories(scripts), {
      numRuns: RUNS_UNTIL_FOUND,
      endOnFailure: true,
      seed: 2,
    })
    expect(details.failed).toBe(true)
  })

  function stories(scripts?: Scripts) {
    return fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 40, size: 'max' }), async (ops) => {
      const world = await openWorld(redis, { connection, shards: SHARDS, scripts: scripts ?? WRAPPED })
      world.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false }
      const story = await Story.open(world)
      for (const each of ops) {
        await story.happen(each)
        await story.compare()
      }
      await assertClean(world)
    })
  }
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
    this.#world = world
    this.#executors = executors
    this.#store = createCronStore(world.engine)
    this.#tickers = executors.map(({ shard }) => [
      createCronSource(world.engine, shard),
      createCronSource(world.engine, shard),
    ])
  }

  async happen(each: Op): Promise<void> {
    switch (each.op) {
      case 'apply':
        return this.#apply(each.name, each.settings, each.fault)
      case 'remove':
        return this.#remove(each.name, each.fault)
      case 'run':
        return this.#run(each.name)
      case 'advance':
        return this.#world.clock.advance(each.ms)
      case 'tick':
        return this.#tick(each)
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

  async #remove(name: string, fault: Fault): Promise<void> {
    await this.#withFault('remove_cron', fault, () => this.#store.remove(TEAM, name))
    this.#model.crons.delete(name)
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

  async #tick({ fault, edit }: Extract<Op, { op: 'tick' }>): Promise<void> {
    const nowMs = this.#world.clock.wallMs
    const model = this.#model
    const expected = [...model.crons.values()].filter((cron) => model.isDue(cron, nowMs))
    const reads = await Promise.all(
      this.#tickers.map(async ([first, second]) => ({
        first,
        second,
        due: await first.due(0),
        same: await second.due(0),
      })),
    )
    for (const { cronId } of reads.flatMap(({ due }) => due)) {
      assert.ok(expected.some((cron) => cron.cronId === cronId))
    }
    const edited = edit === null ? null : await this.#edit(edit)
    for (const read of reads) await this.#tickShard(read, fault, edited)
  }

  /** Answers the id of the cron that is another one by that; null when nothing was changed. */
  async #edit({ name, change }: Edit): Promise<number | null> {
    const cron = this.#model.crons.get(name)
    if (cron === undefined) return null
    const { cronId, settings } = cron
    if (change === null) await this.#remove(name, 'none')
    else await this.#apply(name, { ...settings, ...change }, 'none')
    return isDeepStrictEqual(settings, cron.settings) && change !== null ? null : cronId
  }

  async #tickShard(
    { first, second, due, same }: { first: CronSource; second: CronSource; due: DueCron[]; same: DueCron[] },
    fault: Fault,
    edited: number | null,
  ): Promise<void> {
    const nowMs = this.#world.clock.wallMs
    const started = new Map<number, number[]>()
    for (const { cronId } of due) {
      if (cronId === edited) continue
      const cron = [...this.#model.crons.values()].find((each) => each.cronId === cronId)
      started.set(cronId, this.#model.tick(cron ?? assert.fail('not due'), nowMs))
    }
    const answer = await this.#withFault('tick', fault, () =>
      tickAll(
        first,
        due.map((cron) => this.#decide(cron, nowMs)),
      ),
    )
    if (fault === 'none') assert.equal(answer.outdated, due.length - started.size)
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
        (each) => each.scheduledAtMs === tickMs && each.result === 'running' && !each.isManual,
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
    const answer = await createJobStore(this.#world.engine).remove(TEAM, jobId, AN_ACTOR, false)
    // The hidden queue of a cron that was removed is gone with its jobs.
    assert.ok(answer.status === 'removed' || answer.status === 'not_found')
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
        cronId,
        team: TEAM,
        name,
        settings,
        consecutiveFailures: failures,
        lastSuccessAtMs: successMs,
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
          scheduledAtMs: tickMs,
          result,
          isManual,
          ticks,
        })),
      )
    }
  }
}
