import assert from 'node:assert/strict'
import { endAttempt } from '../../../../src/domain/jobs/retry-policy.ts'
import type { FailureReason, JobRequest } from '../../../../src/domain/jobs/job.ts'
import type { JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import type { ClaimedJob, JobSource } from '../../../../src/ports/jobs.ts'
import { knownQueue, type KnownQueue } from '../../../../src/redis/base/names/known-queue.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { loadScript } from '../../../../src/redis/base/engine/scripts.ts'
import { step } from '../../../../src/redis/base/engine/step.ts'
import { searchHistory } from '../../../../src/redis/jobs/history/search/search-history.ts'
import { sealHistory } from '../../../../src/redis/jobs/history/sealer.ts'
import { encodeFinished } from '../../../../src/redis/base/layout/finished-record.ts'
import { jobIndexOf } from '../../../../src/redis/ledger/retention/indexed-job.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { callRecord, claimed, openExecutor } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'

/** A job as a test wants it to end; by default it succeeds with 200. */
export interface ChainPlan {
  readonly url?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly failureReason?: FailureReason
  readonly responseStatus?: number
  /** Characters of the body in its call record; without it none is kept. */
  readonly callBody?: number
}

export const NO_FILTER: JobFilter = {
  queue: null,
  status: null,
  finalStatus: null,
  failureReason: null,
  responseStatus: null,
  host: null,
  tag: null,
  cronId: null,
  created: { afterMs: null, beforeMs: null },
  scheduled: { afterMs: null, beforeMs: null },
  ended: { afterMs: null, beforeMs: null },
  text: null,
}

const PLAIN_ATTEMPT = {
  createdAtMs: 0,
  scheduledAtMs: 0,
  durationMs: 5,
  responseStatus: 200,
  failureReason: null,
  errorMessage: null,
}

/** Sends `bury`, as the steps that delete ended chains do. */
const BURY = step('bury_one', import.meta.url, {
  keys: ['shardUsage', 'oldestCalls', 'teamUsage', 'sealedHistories'],
  queueKeys: ['meta', 'history', 'blocks', 'summaries', 'callRecords', 'failedCalls', 'successfulCalls'],
  args: ['localId', 'shards'],
  rows: { chains: { keys: ['jobIndex'], args: ['root', 'field'] } },
})
const BURY_SCRIPT = loadScript(BURY, (source) => source)

/** A world of one shard, and histories of its queues. */
export class HistoryStage {
  readonly world: World
  readonly redis: TestRedis
  readonly #source: Promise<JobSource>
  /** Whether the executor seals when a history has grown; else only `seal` does, so that tests know when. */
  keepsHistories = false
  #isSealing = false
  #written = 0

  static async open(redis: TestRedis, retention: object = {}): Promise<HistoryStage> {
    return new HistoryStage(redis, await openWorld(redis, { shards: 1, retention }))
  }

  private constructor(redis: TestRedis, world: World) {
    this.redis = redis
    this.world = world
    this.#source = openExecutor(world, 'e1')
    world.faults.before = ({ name }) => {
      if (name === 'seal' && !this.keepsHistories && !this.#isSealing) throw new Error('left to the test')
    }
  }

  get keys() {
    return shardKeys(this.world.engine, 0)
  }

  /** Pushes jobs and ends them, in their order. Answers their ids. */
  async finish(
    plans: readonly ChainPlan[],
    place: { team?: string; queue?: string } = {},
  ): Promise<number[]> {
    const source = await this.#source
    const intake = this.world.newIntake()
    const ids: number[] = []
    for (let at = 0; at < plans.length; at += 64) {
      const page = plans.slice(at, at + 64)
      const pushes = await Promise.all(
        page.map((plan) => intake.push(newJob({ ...place, request: requestOf(plan) }))),
      )
      const roots = pushes.map((push) => ('jobId' in push ? push.jobId : Number.NaN))
      const works = await claimed(source, 64)
      assert.equal(works.length, page.length)
      const byId = new Map(works.map((work) => [work.jobId, work as ClaimedJob]))
      await source.finish(
        roots.map((root, i) => this.#endOf(byId.get(root) as ClaimedJob, page[i] as ChainPlan)),
      )
      ids.push(...roots)
    }
    return ids
  }

  /** Puts chains into the history without steps: many, or with summaries that a test writes. Answers their roots. */
  async write(count: number, of: (at: number) => { url?: string; tags?: Readonly<Record<string, string>> }) {
    const { history, summaries } = this.keys.queue('1')
    const completedAtMs = this.world.engine.runner.redisNowMs(0)
    const roots: number[] = []
    for (let from = 0; from < count; from += 1_000) {
      const page = Array.from({ length: Math.min(1_000, count - from) }, (_, i) => {
        const root = this.world.engine.jobIds.idOf(0, 2 ** 30 + this.#written + i, 1)
        const { url, tags = {} } = of(from + i)
        const attempt = { ...PLAIN_ATTEMPT, completedAtMs, startedAtMs: completedAtMs }
        const request = {
          ...requestOf({ ...(url === undefined ? {} : { url }), tags }),
          retriesEnabled: null,
        }
        const ended = { end: 'success', attempts: [attempt], replayedAs: null, hadNoPayload: false } as const
        return { root, text: encodeFinished({ ...ended, request }) }
      })
      this.#written += page.length
      roots.push(...page.map(({ root }) => root))
      await this.redis.client.lpush(history, ...page.map(({ root }) => String(root)))
      await this.redis.client.hset(summaries, ...page.flatMap(({ root, text }) => [String(root), text]))
    }
    return roots
  }

  #endOf(work: ClaimedJob, { failureReason, responseStatus, callBody }: ChainPlan) {
    const end = endAttempt(work, {
      completedAtMs: this.world.engine.runner.redisNowMs(0),
      durationMs: 5,
      responseStatus: responseStatus ?? (failureReason === undefined ? 200 : null),
      failureReason: failureReason ?? null,
      errorMessage: null,
    })
    const call = callBody === undefined ? null : callRecord(work, this.world.clock.wallMs, callBody)
    return { type: 'ended' as const, work, end, callback: null, call }
  }

  async beat(): Promise<void> {
    await (await this.#source).beat(true)
  }

  async queue(localId = '1'): Promise<KnownQueue> {
    const queue = await knownQueue(this.world.engine, this.keys, localId)
    assert.ok(queue)
    return queue
  }

  async seal(localId = '1'): Promise<void> {
    this.#isSealing = true
    await sealHistory(this.world.engine, this.keys, localId)
    this.#isSealing = false
  }

  /** Deletes finished chains. */
  async bury(roots: readonly number[], localId = '1'): Promise<void> {
    const { engine } = this.world
    const chains = roots.map((root) => ({ root, ...jobIndexOf(engine, this.keys, root) }))
    const { keys, args } = BURY.with({ keys: this.keys, localId, shards: 1, chains })
    await this.redis.client.eval(BURY_SCRIPT.source, keys.length, ...keys, ...(args as string[]))
  }

  /** All pages of a search; answers the ids in the order of the list, and how many summaries were looked at. */
  async search(
    filter: Partial<JobFilter>,
    { limit = 100, examinedMax = 100_000 }: { limit?: number; examinedMax?: number } = {},
  ): Promise<{ ids: number[]; searched: number }> {
    const queue = await this.queue()
    const ids: number[] = []
    let [from, searched]: [number | null, number] = [null, 0]
    do {
      const page = await searchHistory(this.world.engine, queue, { ...NO_FILTER, ...filter }, from, {
        limit,
        examinedMax,
      })
      assert.ok(page.jobs.length <= limit)
      ids.push(...page.jobs.map(({ jobId }) => jobId))
      from = page.next
      searched += page.searched
    } while (from !== null)
    return { ids, searched }
  }
}

function requestOf({ url = 'http://a.test/x', tags = {} }: ChainPlan): JobRequest {
  return { ...newJob({}).request, url, tags, retriesEnabled: false }
}

export function plans(count: number, of: (at: number) => ChainPlan = () => ({})): ChainPlan[] {
  return Array.from({ length: count }, (_, at) => of(at))
}
