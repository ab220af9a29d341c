import assert from 'node:assert/strict'
import { Finisher } from '../../../../../src/executor/shard/finisher.ts'
import type { ClaimedJob, ClaimedWork, WorkEnd } from '../../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import { shardKeys, type Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../../src/redis/jobs/execute/job-source.ts'
import { callbackQueueOf } from '../../../../../src/redis/base/layout/keys.ts'
import type { Scripts } from '../../../../../src/redis/steps.ts'
import { systemClock } from '../../../../../src/telemetry/system-clock.ts'
import { callRecord, claimed, ended, pushAll } from '../../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'
import type { TestRedis } from '../../../../support/servers/redis-server.ts'
import { until } from '../../../../support/until.ts'

const CALLBACK = {
  request: { callbackUrl: 'http://caller.test/done', callbackEvents: 'every_attempt' },
} as const

/** Calls that succeed, fail and are retried, fail for good, and are released. */
const KINDS = ['success', 'success', 'retry', 'dead_letter', 'released'] as const
export const DONE: readonly string[] = KINDS.map(() => 'done')

/** Local ids of the queues of the bad team, which comes first, and of the good one. */
export const BAD = '1'
const GOOD = '2'

/** Two teams with five jobs each, all claimed by one executor, which ends them at once. */
export class DamageScene {
  readonly world: World
  readonly engine: Engine
  readonly source: RedisJobSource
  readonly told: string[] = []
  readonly #redis: TestRedis

  private constructor(world: World, redis: TestRedis) {
    this.world = world
    this.#redis = redis
    this.engine = {
      ...world.engine,
      logger: {
        ...quietLogger,
        error: (line, fields) => void this.told.push(`${line} ${JSON.stringify(fields)}`),
      },
      metrics: quietMetrics,
    }
    this.source = new RedisJobSource(this.engine, 0, 'e1')
  }

  static async open(redis: TestRedis, connection: RedisConnection, scripts?: Scripts): Promise<DamageScene> {
    const given = scripts === undefined ? {} : { scripts }
    const world = await openWorld(redis, { connection, shards: 1, ...given })
    const scene = new DamageScene(world, redis)
    assert.equal((await scene.source.beat(true)).status, 'ok')
    return scene
  }

  get keys() {
    return shardKeys(this.engine, 0)
  }

  /** Five jobs of each team, all claimed. */
  async claimBoth(): Promise<readonly ClaimedJob[]> {
    const intake = this.world.newIntake()
    await pushAll(intake, KINDS.length, { team: 'bad', queue: 'q', ...CALLBACK })
    await pushAll(intake, KINDS.length, { team: 'good', queue: 'q', ...CALLBACK })
    const works = await claimed(this.source, 64)
    assert.equal(works.length, 2 * KINDS.length)
    return works as readonly ClaimedJob[]
  }

  /** Puts a text in the place of whatever the key holds. */
  async damage(key: string): Promise<void> {
    await this.#redis.client.del(key)
    await this.#redis.client.set(key, 'damaged')
  }

  /**
   * Ends all through a finisher; those of the good team must end with the first step that is sent. Answers the codes by team, in
   * order; `held` for what it holds back.
   */
  async endAll(works: readonly ClaimedJob[]): Promise<Record<string, readonly string[]>> {
    const codes = new Map<number, string>()
    const first: string[] = []
    let sent = 0
    this.world.faults.before = ({ name }) => {
      if (name === 'finish') sent += 1
    }
    const finisher = new Finisher<ClaimedWork>({
      source: this.source,
      clock: systemClock,
      noteDefect: (part, error, { jobId }) => this.told.push(`${part} of ${jobId}: ${String(error)}`),
      iterations: { succeeded: () => undefined, failed: () => 600_000 },
      onSettled: (endings, settled) => {
        endings.forEach(({ end }, i) => {
          const isSetAside = end.type === 'quarantined' && settled[i] === 'done'
          codes.set(end.work.jobId, isSetAside ? 'set aside' : (settled[i] ?? ''))
        })
        if (sent === 1) first.push(...endings.map(({ end }) => end.work.team))
      },
    })
    works.forEach((work, i) => finisher.add(this.#endOf(work, KINDS[i % KINDS.length] ?? 'success'), work))
    await until('all ends are written or held', () => finisher.isIdle())
    assert.equal(first.filter((team) => team === 'good').length, KINDS.length)
    const ofTeam = (team: string) =>
      works.filter((work) => work.team === team).map(({ jobId }) => codes.get(jobId) ?? 'held')
    const answer = { bad: ofTeam('bad'), good: ofTeam('good') }
    finisher.discard()
    await until('nothing is held', () => finisher.isIdle())
    assert.equal(codes.size, works.length)
    return answer
  }

  #endOf(work: ClaimedJob, kind: (typeof KINDS)[number]): WorkEnd {
    if (kind === 'released') return { type: 'released', work }
    const settings = kind === 'dead_letter' ? { ...work.settings, retryDelays: [] } : work.settings
    const call = callRecord(work, work.startedAtMs, 10)
    return ended(this.world, { ...work, settings }, { failed: kind !== 'success', call })
  }

  /** What Redis has of the good team: each job and each callback in one place, once. */
  async assertGoodOnce(works: readonly ClaimedJob[]): Promise<void> {
    const { client } = this.#redis
    const { keys } = this
    const good = works.filter(({ team }) => team === 'good').map(({ jobId }) => String(jobId))
    const [first = '', second = '', retried = '', dead = '', released = ''] = good
    const queue = keys.queue(GOOD)
    assert.deepEqual((await client.lrange(queue.history, 0, -1)).toSorted(), [first, second].toSorted())
    assert.deepEqual(await client.zrange(queue.deadLetters, '0', '-1'), [dead])
    assert.deepEqual(await client.lrange(queue.ready, 0, -1), [released])
    assert.deepEqual(await client.zrange(queue.inFlight, '0', '-1'), [])
    const retry = String(Number(retried) + 1)
    assert.deepEqual((await client.hkeys(queue.records)).toSorted(), [retry, released].toSorted())
    const number = (await client.hget(keys.teamNumbers, 'good')) ?? ''
    const callbacks = await client.lrange(keys.queue(callbackQueueOf(number)).ready, 0, -1)
    assert.deepEqual(callbacks.toSorted(), [first, second, retried, dead].toSorted())
    for (const id of good) assert.equal(await client.hget(keys.heldJobs('e1'), id), null)
  }

  /** What is held back is still held in Redis, so that nobody else makes its call. */
  async assertHeld(count: number): Promise<void> {
    const fields = Object.keys(await this.#redis.client.hgetall(this.keys.heldJobs('e1')))
    assert.equal(fields.filter((id) => !id.startsWith('#')).length, count)
  }
}
