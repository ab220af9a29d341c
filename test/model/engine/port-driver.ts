import { createSecretKey } from 'node:crypto'
import { callbackFor } from '../../../src/domain/jobs/callback.ts'
import { endAttempt } from '../../../src/domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type {
  JobIntake,
  PushResult,
  ClaimedWork,
  JobSource,
  ShardMaintenance,
  WorkEnd,
  JobStore,
} from '../../../src/ports/jobs.ts'
import type { QueueStore } from '../../../src/ports/queues.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { createBacklogReader } from '../../../src/redis/jobs/queues/backlog-reader.ts'
import type { Engine } from '../../../src/redis/base/engine/engine.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { createQueueStats } from '../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { newJob } from '../../support/engine/engine.ts'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'
import { AN_ACTOR } from '../../support/principals.ts'

const TEAM = 'default'
const QUEUES = ['alpha', 'beta', 'gamma']
const BOX = new SecretBox(createSecretKey(Buffer.alloc(32)))

interface Hold {
  readonly source: JobSource
  works: readonly ClaimedWork[]
}

/** Calls the ports of one engine as a seed draws it; two with the same seed call the same. */
export class PortDriver {
  readonly #engine: Engine
  readonly #random: SeededRandom
  readonly #intake: JobIntake
  readonly #holds: Hold[]
  readonly #upkeeps: readonly ShardMaintenance[]
  readonly #queues: QueueStore
  readonly #jobs: JobStore
  #compiler: SettingsCompiler | null = null
  readonly #pushed: number[] = []

  constructor(world: { engine: Engine; newIntake(): JobIntake }, seed: number) {
    const { engine } = world
    this.#engine = engine
    this.#random = new SeededRandom(seed ^ 0xd1ff)
    this.#intake = world.newIntake()
    this.#upkeeps = engine.shards.map(({ shard }) => createShardMaintenance(engine, shard))
    this.#queues = createQueueStore(engine)
    this.#jobs = createJobStore(engine)
    this.#holds = ['e1', 'e2'].flatMap((name) =>
      engine.shards.map(({ shard }) => ({ source: new RedisJobSource(engine, shard, name), works: [] })),
    )
  }

  /** Makes the next call; answers its name and what came of it. */
  async step(): Promise<unknown> {
    const random = this.#random
    const hold = random.pick(this.#holds)
    const upkeep = random.pick(this.#upkeeps)
    const calls: Array<readonly [number, string, () => Promise<unknown>]> = [
      [8, 'push', () => this.#push()],
      [8, 'claim', () => this.#claim(hold)],
      [7, 'finish', () => this.#finish(hold)],
      [4, 'beat', () => hold.source.beat(random.chance(0.6))],
      [3, 'promote', () => upkeep.promote()],
      [2, 'reap', () => upkeep.reap()],
      [2, 'sweep', () => upkeep.sweep()],
      [2, 'peek', () => upkeep.peek()],
      [1, 'give back', () => hold.source.releaseUnknown(new Set(hold.works.map(({ jobId }) => jobId)))],
      [1, 'leave', () => hold.source.leave()],
      [2, 'apply', () => this.#apply()],
      [1, 'remove', () => this.#queues.remove(TEAM, random.pick(QUEUES))],
      [2, 'cancel', () => this.#withJob((id) => this.#jobs.remove(TEAM, id, AN_ACTOR, false))],
      [2, 'replay', () => this.#withJob((id) => this.#jobs.replay(TEAM, id, AN_ACTOR))],
      [2, 'retry', () => this.#withJob((id) => this.#jobs.retry(TEAM, id, AN_ACTOR))],
      [2, 'fire', () => this.#withJob((id) => this.#jobs.fire(TEAM, id, AN_ACTOR))],
      [2, 'get', () => this.#withJob((id) => this.#jobs.get(TEAM, id))],
      [1, 'compile', () => this.#compile()],
      [1, 'lead', () => this.#lead()],
      [1, 'queueStats', () => this.#queueStats()],
      [2, 'backlog', () => this.#backlog()],
      [2, 'counts', () => this.#queues.getByName(TEAM, random.pick(QUEUES))],
    ]
    let weight = random.between(
      0,
      calls.reduce((sum, [share]) => sum + share, 0),
    )
    const drawn = calls.find(([share]) => (weight -= share) < 0)
    return drawn === undefined ? null : [drawn[1], await drawn[2]()]
  }

  async #push(): Promise<unknown> {
    const random = this.#random
    const jobs = Array.from({ length: random.integer(1, 5) }, () =>
      newJob({
        queue: random.pick(QUEUES),
        start: { delaySeconds: random.pick([0, 0, 0, 2, 61, 130]) },
        idempotency: random.chance(0.2) ? { key: `k${random.integer(1, 3)}`, fingerprint: 'f' } : null,
        request: {
          payload: random.pick([null, '"é€"', JSON.stringify('x'.repeat(5_000))]),
          callbackUrl: random.chance(0.3) ? 'http://target.test/done' : null,
          timeoutSeconds: random.pick([null, 1]),
          retriesEnabled: random.pick([null, false]),
        },
      }),
    )
    const answers = await Promise.all(jobs.map((job) => this.#intake.push(job)))
    this.#pushed.push(...answers.flatMap((answer: PushResult) => ('jobId' in answer ? [answer.jobId] : [])))
    return answers
  }

  async #claim(hold: Hold): Promise<unknown> {
    const answer = await hold.source.claim(grantOf(this.#random.pick([1, 3, 64])))
    if (answer.status === 'claimed') hold.works = [...hold.works, ...answer.work]
    return answer
  }

  async #finish(hold: Hold): Promise<unknown> {
    const random = this.#random
    const chosen = hold.works.filter(() => random.chance(0.6))
    if (chosen.length === 0) return null
    // Now and then an end is sent that was sent before: it is stale.
    if (random.chance(0.8)) hold.works = hold.works.filter((work) => !chosen.includes(work))
    return hold.source.finish(chosen.map((work) => this.#endOf(work)))
  }

  #endOf(work: ClaimedWork): WorkEnd {
    const random = this.#random
    if (random.chance(0.15)) return { type: 'released', work }
    if (work.kind === 'callback') return { type: 'callback_ended', work }
    if (work.kind === 'damaged') return { type: 'quarantined', work }
    const failed = random.chance(0.5)
    const end = endAttempt(work, {
      completedAtMs: this.#engine.runner.redisNowMs(work.shard),
      durationMs: 5,
      responseStatus: failed ? 500 : 200,
      failureReason: failed ? 'http_server_error' : null,
      errorMessage: null,
    })
    const { rootId, attempt, request, settings } = work
    const { jobIds } = this.#engine
    const callback = callbackFor({ rootId, attempt, request, events: settings.callbackEvents, end, jobIds })
    return { type: 'ended', work, end, callback, call: null }
  }

  #apply(): Promise<unknown> {
    return this.#queues.apply(TEAM, this.#random.pick(QUEUES), this.#drawSettings())
  }

  #drawSettings(): QueueSettings {
    const random = this.#random
    return {
      ...DEFAULT_QUEUE_SETTINGS,
      isActive: random.chance(0.7),
      maxParallelism: random.pick([null, 1, 3]),
      retryDelays: random.pick([[1], [70, 5]]),
    }
  }

  async #lead(): Promise<unknown> {
    const { facts, compiler } = await createLeaderEpochs(this.#engine, BOX).begin()
    // Now and then a leader does not notice that it leads no more.
    if (this.#compiler === null || this.#random.chance(0.6)) this.#compiler = compiler
    return [facts.epoch, facts.idFloor]
  }

  async #compile(): Promise<unknown> {
    const random = this.#random
    const team = random.pick(['one', 'two'])
    const policy = { egressAllow: random.pick([[], ['10.0.0.0/8']]), signingSecrets: [] }
    return [
      await this.#compiler?.applyQueue(TEAM, random.pick(QUEUES), this.#drawSettings()),
      await (random.chance(0.5) ? this.#compiler?.putTeam(team, policy) : this.#compiler?.removeTeam(team)),
      // A hash of large values has no order.
      (await this.#compiler?.applied())?.teams.toSorted(),
    ]
  }

  async #queueStats(): Promise<unknown> {
    const queueStats = createQueueStats(this.#engine)
    const { queues, cursor } = await queueStats.page(this.#random.pick([null, '1:0']))
    return [
      await queueStats.count(QUEUES.map((name) => ({ team: TEAM, name }))),
      queues.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      cursor,
    ]
  }

  async #backlog(): Promise<unknown> {
    const { held, ...backlog } = await createBacklogReader(this.#engine).read(20_000)
    return { ...backlog, held: [...held].toSorted(([a], [b]) => (a < b ? -1 : 1)) }
  }

  async #withJob(call: (jobId: number) => Promise<unknown>): Promise<unknown> {
    const at = this.#random.integer(0, 999)
    const jobId = this.#pushed[at % Math.max(1, this.#pushed.length)]
    return jobId === undefined ? null : call(jobId)
  }
}
