import assert from 'node:assert/strict'
import { writeJob } from '../../../../src/contract/responses/job-wire.ts'
import type { JobSummary } from '../../../../clients/typescript/src/generated/wire.ts'
import { endAttempt } from '../../../../src/domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { FailureReason } from '../../../../src/domain/jobs/job.ts'
import type { ClaimedJob, JobIntake, JobStore } from '../../../../src/ports/jobs.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'
import { jobRequest } from '../../../support/engine/engine.ts'
import { claimed, openExecutor } from '../../../support/engine/model-executor.ts'
import type { World } from '../../../support/engine/model-world.ts'

export const TEAM = 'default'
export const OTHER_TEAM = 'other'
export const QUEUES = ['a', 'emails', 'émigré', 'z']
export const HOSTS = ['api.example.com', 'example.com', '127.0.0.1']
export const TEXTS = ['Order-7', '%d+(.*)[%a]', 'grüße', '😀', String.raw`a\b`, 'say "hi"', 'x/y', '\n']
export const TAGS = ['acme', 'a:b', '']
export const REASONS: ReadonlyArray<FailureReason | null> = [null, 'timeout', 'http_server_error']
/** Larger than what lies inline in a record. */
const LARGE = 'l'.repeat(5_000)

/** A job of a chain as the API shows it, and what else was pushed. */
export interface KnownJob extends JobSummary {
  readonly payload: string | null
}

/** Pushes, runs and ends jobs at random; remembers what was pushed. */
export class SearchStage {
  readonly world: World
  readonly store: JobStore
  readonly intake: JobIntake
  readonly random: SeededRandom
  /** By the original's id. */
  readonly payloads = new Map<number, string | null>()
  #executors = 0

  constructor(world: World, seed: number) {
    this.world = world
    this.store = createJobStore(world.engine)
    this.intake = world.newIntake()
    this.random = new SeededRandom(seed)
  }

  async prepare(): Promise<void> {
    const queues = createQueueStore(this.world.engine)
    for (const team of [TEAM, OTHER_TEAM]) {
      for (const [i, name] of QUEUES.entries()) {
        const retryDelays = i === 0 ? [] : i === 1 ? [1, 2] : [1, 3_000]
        await queues.apply(team, name, { ...DEFAULT_QUEUE_SETTINGS, retryDelays, retriesEnabled: i !== 3 })
      }
    }
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random.next() * values.length)] as T
  }

  async push(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const text = this.pick(TEXTS)
        const filling = this.pick(['', '', LARGE])
        const payload = this.pick([null, JSON.stringify({ text, filling }), `{"text":"${ascii(text)}"}`])
        const path = encodeURIComponent(this.pick(TEXTS))
        const pushed = await this.intake.push({
          team: this.pick([TEAM, TEAM, TEAM, OTHER_TEAM]),
          queue: this.pick(QUEUES),
          request: jobRequest({
            url: `https://${this.pick(HOSTS)}:8443/${path}?Order-7=${this.pick(['1', '2'])}`,
            payload,
            tags: this.pick([{}, { tenant: this.pick(TAGS) }]),
          }),
          start: { delaySeconds: this.pick([0, 0, 0, 30, 4_000]) },
          idempotency: null,
        })
        assert.ok(pushed.status === 'created')
        this.payloads.set(pushed.jobId, payload)
      }),
    )
  }

  /** Pushes a job to a queue of the team. */
  async pushTo(queue: string): Promise<void> {
    const pushed = await this.intake.push({
      team: TEAM,
      queue,
      request: jobRequest({ url: `https://${this.pick(HOSTS)}/` }),
      start: { delaySeconds: 0 },
      idempotency: null,
    })
    assert.ok(pushed.status === 'created')
    this.payloads.set(pushed.jobId, null)
  }

  /** Claims jobs of a shard and ends all but `left` of them. */
  async run(shard: number, left = 0): Promise<void> {
    this.world.clock.advance(1_000)
    await createShardMaintenance(this.world.engine, shard).promote()
    this.#executors += 1
    const source = await openExecutor(this.world, `s${this.#executors}`, shard)
    const works = await claimed(source, 32)
    const ends = works.slice(left).map((work) => this.#endOf(work as ClaimedJob))
    if (ends.length > 0) await source.finish(ends)
  }

  #endOf(work: ClaimedJob) {
    const failureReason = this.pick(REASONS)
    const end = endAttempt(work, {
      completedAtMs: this.world.engine.runner.redisNowMs(work.shard),
      durationMs: 5,
      responseStatus:
        failureReason === null ? this.pick([200, 204]) : failureReason === 'timeout' ? null : 503,
      failureReason,
      errorMessage: null,
    })
    return { type: 'ended', work, end, callback: null, call: null } as const
  }

  /** Every job of every chain of the team that is still there, by chain. */
  async chains(): Promise<KnownJob[][]> {
    const chains: KnownJob[][] = []
    for (const [rootId, payload] of this.payloads) {
      const chain = await this.store.get(TEAM, rootId)
      if (chain === null) continue
      const text = writeJob(
        { ...chain, request: { ...chain.request, payload: null } },
        rootId,
        this.world.engine.jobIds,
      )
      const jobs = (JSON.parse(text ?? '') as { chain: JobSummary[] }).chain
      // A finished chain keeps no payload.
      const isKept = chain.end === null || (chain.end === 'dead_lettered' && chain.replayedAs === null)
      chains.push(jobs.map((job) => ({ ...job, payload: isKept ? payload : null })))
    }
    return chains
  }
}

function ascii(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('/', String.raw`\/`)
  return [...escaped].map((char) => (char > '\x7f' ? asUnits(char) : char)).join('')
}

function asUnits(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join('')
}
