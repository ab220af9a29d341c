import { CLAIM_BATCH_MAX, LEASE_MS, LOST_LEASES_MAX, REAP_BATCH_MAX } from '../../../domain/limits.ts'
import { reasonOf, StoreUnavailableError } from '../../../domain/errors.ts'
import type { ClaimAnswer, ClaimGrant, FinishCode, JobSource, WorkEnd } from '../../../ports/jobs.ts'
import { NO_WINDOWS, type WindowSource } from '../../../ports/windows.ts'
import { countRaised } from '../../ledger/alerts/raised.ts'
import { reportQuarantined } from '../../ledger/damaged-chain.ts'
import { noteConfined } from '../../base/engine/confined.ts'
import { hintWake, shardKeys, type Engine } from '../../base/engine/engine.ts'
import { lacksRight } from '../../base/client/faults.ts'
import { step, type StepCall } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { createHistoryKeeper, type HistoryKeeper } from '../history/history-keeper.ts'
import { ClaimCounters, RESEND_MS } from './claim/claim-counters.ts'
import { NOTHING_RUNS, ReadyClaims } from './claim/ready-claims.ts'
import { HeldQueues } from './claim/held-queues.ts'
import { SettingsCache } from './claim/settings-cache.ts'
import { SuspectClaims } from './claim/suspect-claims.ts'
import { SuspectCohort } from './claim/suspect-cohort.ts'
import { batchValues, FINISH, REAP } from './finish/batch.ts'
import { orderByClaim, type BatchJob } from './finish/batch-job.ts'
import { blankBatchJob, toBatchJob } from './finish/work-end.ts'
import { heldEntries } from './held-entries.ts'

export const BEAT = step('beat', import.meta.url, {
  keys: ['clock', 'executors', 'heldJobs'],
  args: ['leaseMs', 'executor', 'register'],
})

type FinishReply = [
  now: string,
  woken: number,
  dropped: number,
  codes: string,
  grown: string[],
  raised: string,
  /** What parts of the step have thrown, in words. */
  faults?: string[],
]

interface SentFinish {
  readonly ends: readonly WorkEnd[]
  /** Which of the ends stands at each position of the step. */
  readonly order: readonly number[]
  readonly call: StepCall
}

/** A finish is tried at most this many times when its teams have other numbers than expected. */
const FINISH_TRIES_MAX = 4

/**
 * One executor's session in one shard. Owns the finish that has no answer yet, which is sent again unchanged, and
 * through its parts the open claims.
 */
export class RedisJobSource implements JobSource {
  readonly shard: number
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #executor: string
  readonly #counters: ClaimCounters
  readonly #ready: ReadyClaims
  readonly #suspects: SuspectClaims
  readonly #histories: HistoryKeeper
  readonly #windows: WindowSource
  #finishes = 0
  #openFinish: SentFinish | null = null
  /** How often Redis's clock has jumped forward and back, by the last beat. */
  #lastJumps: readonly [number, number] | null = null

  /**
   * @param options.cohort the executor's, which its sources in all shards share
   * @param options.windows those that mute alerts and hold jobs
   */
  constructor(
    engine: Engine,
    shard: number,
    executor: string,
    {
      cohort = new SuspectCohort(CLAIM_BATCH_MAX),
      windows = NO_WINDOWS,
    }: { readonly cohort?: SuspectCohort; readonly windows?: WindowSource } = {},
  ) {
    this.shard = shard
    this.#engine = engine
    this.#keys = shardKeys(engine, shard)
    this.#executor = executor
    this.#windows = windows
    this.#counters = new ClaimCounters(executor)
    const shared = {
      counters: this.#counters,
      settings: new SettingsCache(),
      held: new HeldQueues(engine, this.#keys, windows),
    }
    this.#ready = new ReadyClaims(engine, this.#keys, shared)
    this.#suspects = new SuspectClaims(engine, this.#keys, { ...shared, cohort })
    this.#histories = createHistoryKeeper(engine, this.#keys)
  }

  async claim(grant: ClaimGrant): Promise<ClaimAnswer> {
    const suspects = this.#ready.isOpen ? null : await this.#suspects.claim(grant)
    if (suspects?.status === 'lease_lost' || (suspects !== null && suspects.work.length > 0)) return suspects
    const answer = await this.#ready.claim(grant)
    const wanted = suspects?.bytesWanted ?? null
    if (wanted === null || answer.status === 'lease_lost') return answer
    const known = answer.status === 'held' ? { ...NOTHING_RUNS, runnable: 1 } : answer
    return { ...known, bytesWanted: Math.max(wanted, known.bytesWanted ?? 0) }
  }

  async finish(ends: readonly WorkEnd[]): Promise<FinishCode[]> {
    const engine = this.#engine
    const { reply, order } = await this.#sendFinish(ends)
    const codes = ends.map(() => '')
    order.forEach((position, i) => {
      codes[position] = reply[3][i] ?? ''
    })
    try {
      this.#noteFinish(ends, codes, reply)
    } catch (error) {
      // The ends are written, so whoever sent them must not send them again.
      noteConfined(engine, 'aside', error, { shard: this.shard })
    }
    return codes.map((code) => (code === 's' ? 'stale' : code === 'x' ? 'failed' : 'done'))
  }

  #noteFinish(ends: readonly WorkEnd[], codes: readonly string[], reply: FinishReply): void {
    const engine = this.#engine
    const [now, woken, dropped, , grown, raised, faults = []] = reply
    engine.runner.noteRedisTime(this.shard, Number(now))
    if (dropped > 0) engine.metrics.callRecordsDropped(dropped)
    if (woken > 0 || raised !== '') hintWake(engine, this.shard)
    for (const fault of faults) noteConfined(engine, 'step', fault, { shard: this.shard })
    countRaised(engine.metrics, raised)
    for (const queue of grown) this.#histories.ask(queue)
    ends.forEach(({ type, work }, i) => {
      if (codes[i] === 'x') return
      this.#suspects.ended(work)
      if (codes[i] !== 'a') return
      const { shard, jobId, team } = work
      // The step itself finds a record that was damaged while its job was called.
      const isUnwritten = type === 'quarantined' && work.kind !== 'damaged'
      if (isUnwritten) reportQuarantined(engine, { shard, jobId, team }, 'unwritten')
      else reportQuarantined(engine, { shard, jobId }, 'damaged')
    })
  }

  async #sendFinish(
    ends: readonly WorkEnd[],
  ): Promise<{ readonly reply: FinishReply; readonly order: readonly number[] }> {
    const { runner, teamNumbers } = this.#engine
    for (let tries = 0; tries < FINISH_TRIES_MAX; tries += 1) {
      if (this.#openFinish?.ends !== ends) this.#openFinish = await this.#newFinish(ends)
      const { call, order } = this.#openFinish
      const reply = (await this.#whileAllowed(runner.run(call, RESEND_MS))) as FinishReply
      this.#openFinish = null
      if (reply[3] !== '') return { reply, order }
      teamNumbers.forget()
    }
    throw new Error('team numbers change faster than they can be read')
  }

  /** A missing right is missing for every job, so none of them is at fault, and all wait until the right is there. */
  async #whileAllowed(sent: Promise<unknown>): Promise<unknown> {
    try {
      return await sent
    } catch (error) {
      if (!lacksRight(error)) throw error
      throw new StoreUnavailableError(`Redis refuses the step: ${reasonOf(error)}`, { cause: error })
    }
  }

  async beat(register: boolean): ReturnType<JobSource['beat']> {
    const reply = await this.#engine.runner.run(
      BEAT.with({
        keys: this.#keys,
        heldJobs: this.#keys.heldJobs(this.#executor),
        leaseMs: LEASE_MS,
        executor: this.#executor,
        register: register ? 1 : 0,
      }),
    )
    const [status, now, listed, forward, back] = reply as [string, string, number, number, number]
    this.#engine.runner.noteRedisTime(this.shard, Number(now))
    if (status === 'lost') return { status: 'lease_lost' }
    this.#noteJumps(forward, back)
    return { status: 'ok', listed, redisMs: Number(now) }
  }

  releaseUnknown(known: ReadonlySet<number>): Promise<number> {
    return this.#release('unknown', known)
  }

  async leave(): Promise<void> {
    try {
      await this.#release('leave', new Set())
    } finally {
      this.#suspects.forget()
    }
  }

  redisNowMs(): number {
    return this.#engine.runner.redisNowMs(this.shard)
  }

  async #newFinish(ends: readonly WorkEnd[]): Promise<SentFinish> {
    this.#finishes += 1
    const finishId = `${this.#executor}:${this.#finishes}`
    const order = orderByClaim(ends)
    const jobs = order.map((position) => toBatchJob(this.#engine, ends[position] as WorkEnd))
    const values = await this.#batchValues(jobs, false)
    return { ends, order, call: FINISH.with({ ...values, finishId }) }
  }

  #batchValues(jobs: readonly BatchJob[], isReap: boolean) {
    const around = { executor: this.#executor, jobs, windows: this.#windows, isReap }
    return batchValues(this.#engine, this.#keys, around)
  }

  #noteJumps(forward: number, back: number): void {
    const last = this.#lastJumps
    this.#lastJumps = [forward, back]
    if (last === null || (forward <= last[0] && back <= last[1])) return
    const { metrics, logger, isForTests } = this.#engine
    const direction = forward > last[0] ? 'forward' : 'backward'
    metrics.clockJumped(direction)
    logger[isForTests && direction === 'forward' ? 'debug' : 'warn'](
      'The clock of Redis jumped; all leases were renewed',
      { shard: this.shard, direction },
    )
  }

  /** Sends at least one step, because a 'leave' also ends the lease. Answers how many jobs were released. */
  async #release(mode: 'unknown' | 'leave', known: ReadonlySet<number>): Promise<number> {
    const engine = this.#engine
    const unknown = await this.#unknownJobs(mode, known)
    let count = 0
    do {
      const page = unknown.slice(count, count + REAP_BATCH_MAX)
      const values = await this.#batchValues(page, true)
      const call = REAP.with({
        ...values,
        executor: this.#executor,
        mode,
        marginMs: 0,
        lossesMax: LOST_LEASES_MAX,
      })
      const reply = (await engine.runner.run(call, RESEND_MS)) as unknown[]
      for (const fault of (reply[6] ?? []) as string[])
        noteConfined(engine, 'step', fault, { shard: this.shard })
      count += page.length
    } while (count < unknown.length)
    if (count > 0) hintWake(engine, this.shard)
    return count
  }

  async #unknownJobs(mode: 'unknown' | 'leave', known: ReadonlySet<number>): Promise<BatchJob[]> {
    const { runner } = this.#engine
    const isClaiming = this.#ready.isOpen
    const held = await runner.read((redis) => redis.hgetall(this.#keys.heldJobs(this.#executor)))
    const entries = await heldEntries(this.#engine, this.#keys, Object.entries(held).flat())
    return (
      entries
        .filter(({ id }) => !known.has(Number(id)))
        .map(({ id, queue, token }) =>
          blankBatchJob(Number(id), token, { queue, settingsHash: '', isLarge: false }),
        )
        // A token above the last one answered belongs to the open claim, whose answer is still to come. Without an open
        // claim it belongs to one that Redis received a second time, long after its answer.
        .filter(
          (job) =>
            mode === 'leave' || !isClaiming || !(Number(job.token) > Number(this.#counters.highestToken)),
        )
    )
  }
}
