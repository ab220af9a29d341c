import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import { StorageFullError, StoreUnavailableError } from '../../../domain/errors.ts'
import type { JobIntake, NewJob, PushEnd, PushResult } from '../../../ports/jobs.ts'
import { DONE } from '../../ledger/audit-log/audit-entry.ts'
import type { AcceptedJobs } from '../losses/accepted-rows.ts'
import { AcceptedSteps } from '../losses/accepted-steps.ts'
import { createSequence, type Sequence } from './sequence.ts'
import { duplicateEntry, enqueueBatch, type EnqueueAnswer, type PendingPush } from './enqueue-batch.ts'
import { hintWake, shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { encodeRequest } from '../../base/layout/job-record.ts'
import { nameField, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import { QueueNames } from '../../base/names/queue-names.ts'
import type { QuotaKeeper, ShardCeilings } from '../../ledger/quotas/quota-keeper.ts'
import type { MetQuota } from '../../../ports/quotas.ts'
import { WaitingPushes } from './waiting-pushes.ts'

/** A push is tried at most this many times when its queue was deleted and created again, or its id block was lost. */
const PUSH_TRIES_MAX = 4
/** A job due this soon may fall between two polls of the executors, so they get a hint. */
const HINTED_DELAY_MS = 1_000

interface Waiting extends PendingPush {
  readonly group: PushGroup
  /** The position of the push in its group. */
  readonly place: number
  tries: number
  /** true = a quota has refused it, so its next try, with a new reading, is the last. */
  isLastTry: boolean
}

/** Pushes that are answered together, by one promise whatever their number. */
class PushGroup {
  readonly deadlineMs: number
  readonly ends: PushEnd[]
  readonly #done: (ends: readonly PushEnd[]) => void
  #left: number

  constructor(size: number, deadlineMs: number, done: (ends: readonly PushEnd[]) => void) {
    this.deadlineMs = deadlineMs
    this.ends = Array<PushEnd>(size)
    this.#left = size
    this.#done = done
  }

  /** The first end of a push counts. */
  end(place: number, end: PushEnd): void {
    if (this.ends[place] !== undefined) return
    this.ends[place] = end
    this.#left -= 1
    if (this.#left === 0) this.#done(this.ends)
  }
}

/**
 * Stores pushed jobs. Pushes of the same tick of the event loop share one `enqueue` step per shard, and the next batch
 * gathers meanwhile, so batches are single jobs when it is quiet and large under load.
 */
export function createJobIntake(
  engine: Engine,
  options: {
    nowMs(): number
    /** Absent = there are no quotas. */
    readonly quotas?: QuotaKeeper
    /** Remembers what is accepted, for a `LossWatch`; absent = nobody watches. */
    readonly steps?: AcceptedSteps
    /** Called for each batch with how long its oldest push has waited for it; 0 = no push had to wait for a later one. */
    waited?(delayMs: number): void
  },
): JobIntake {
  const names = new QueueNames(engine)
  const steps = options.steps ?? new AcceptedSteps(engine.shards.length)
  const nowMs = () => options.nowMs()
  const quotas = options.quotas ?? null
  const waited = (delayMs: number): void => options.waited?.(delayMs)
  const lanes = engine.shards.map((keys) => new Lane({ engine, keys, names, steps, quotas, nowMs, waited }))

  function start(jobs: readonly NewJob[], done: (ends: readonly PushEnd[]) => void): void {
    const group = new PushGroup(jobs.length, nowMs() + STORE_DEADLINE_MS, done)
    let to: { team: string; queue: string; field: string; lane: Lane } | null = null
    for (const [place, job] of jobs.entries()) {
      // Most jobs of a group are for the queue of the one before.
      if (to === null || job.queue !== to.queue || job.team !== to.team) {
        const { team, queue } = job
        to = {
          team,
          queue,
          field: nameField(team, queue),
          lane: laneOf(shardOfQueue(engine, team, queue).shard),
        }
      }
      to.lane.add(job, to.field, { group, place })
    }
  }

  function laneOf(shard: number): Lane {
    const lane = lanes[shard]
    if (lane === undefined) throw new Error(`no lane for shard ${shard}`)
    return lane
  }

  return {
    push: (job) =>
      new Promise((resolve, reject) => {
        start([job], answerOne(resolve, reject))
      }),
    pushAll: (jobs) =>
      jobs.length === 0 ? Promise.resolve([]) : new Promise((resolve) => start(jobs, resolve)),
  }
}

function answerOne(resolve: (result: PushResult) => void, reject: (fault: unknown) => void) {
  return ([end]: readonly PushEnd[]): void => {
    if (end?.status === 'failed') reject(end.fault)
    else if (end !== undefined) resolve(end)
  }
}

function fail(push: Waiting, fault: unknown): void {
  push.group.end(push.place, { status: 'failed', fault })
}

interface LaneOptions {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly names: QueueNames
  readonly steps: AcceptedSteps
  readonly quotas: QuotaKeeper | null
  nowMs(): number
  waited(delayMs: number): void
}

/**
 * Stores one shard's pushes. Owns those that wait, its part of the shard's id blocks, and at most one running flush.
 *
 *     idle ⇄ flushing (until nothing waits)
 *
 * Every push is answered within the store deadline or, when it was put back, with the flush that follows.
 */
class Lane {
  readonly #options: LaneOptions
  readonly #sequence: Sequence
  readonly #waiting = new WaitingPushes<Waiting>()
  #isFlushing = false

  constructor(options: LaneOptions) {
    this.#options = options
    this.#sequence = createSequence(options.engine, options.keys)
  }

  add(job: NewJob, field: string, { group, place }: Pick<Waiting, 'group' | 'place'>): void {
    if (!this.#waiting.hasPlace(job.team)) {
      const fault = new StoreUnavailableError('Too many pushes are waiting for Redis')
      group.end(place, { status: 'failed', fault })
      return
    }
    const { team, queue, start, idempotency, duplicate } = job
    const { timeoutSeconds } = job.request
    // The head leaves out the request, which its encoding replaces, as thousands of pushes may wait.
    const head = { team, queue, start, idempotency, duplicate, timeoutSeconds }
    const request = encodeRequest(job.request)
    this.#waiting.add({ head, field, request, seq: null, group, place, tries: 0, isLastTry: false })
    this.#startFlush()
  }

  #startFlush(): void {
    if (this.#isFlushing || this.#waiting.isEmpty) return
    this.#isFlushing = true
    // A full batch gains nothing by waiting.
    if (this.#waiting.fillsBatch) setImmediate(() => this.#flushAndGoOn())
    // The flush waits for another poll, because clients that were just answered have sent their next pushes by then.
    else setImmediate(() => setImmediate(() => this.#flushAndGoOn()))
  }

  #flushAndGoOn(): void {
    void this.#flush().finally(() => {
      this.#isFlushing = false
      this.#startFlush()
    })
  }

  /** Answers every push of the batch or puts it back. Never throws. */
  async #flush(): Promise<void> {
    const taken = this.#waiting.take()
    this.#options.waited(this.#waiting.isEmpty ? 0 : this.#ageOf(taken))
    const batch = this.#withoutExpired(taken)
    if (batch.length === 0) return
    try {
      await this.#enqueue(batch)
    } catch (error) {
      // A push that was answered before keeps its answer, and one that was put back is answered by a later flush.
      for (const push of batch) if (!this.#waiting.has(push)) fail(push, error)
    }
  }

  #ageOf(pushes: readonly Waiting[]): number {
    const firstMs = pushes.reduce((first, { group }) => Math.min(first, group.deadlineMs), Infinity)
    return this.#options.nowMs() + STORE_DEADLINE_MS - firstMs
  }

  /** Answers expired pushes alone, as the others of their batch still have time. */
  #withoutExpired(batch: readonly Waiting[]): Waiting[] {
    const nowMs = this.#options.nowMs()
    return batch.filter((push) => {
      const isExpired = push.group.deadlineMs <= nowMs
      if (isExpired) fail(push, new StoreUnavailableError('Redis did not answer in time'))
      return !isExpired
    })
  }

  /** Is never 0, which would mean no deadline. */
  #remainingMs(pushes: readonly Waiting[]): number {
    const deadlineMs = pushes.reduce((first, { group }) => Math.min(first, group.deadlineMs), Infinity)
    return Math.max(1, deadlineMs - this.#options.nowMs())
  }

  async #enqueue(batch: readonly Waiting[]): Promise<void> {
    const { engine, keys, steps } = this.#options
    const { placed, localIds } = await this.#place(batch)
    // Placing them may have used up their time.
    const ready = this.#withoutExpired(placed)
    if (ready.length === 0) return
    const ceilings = await this.#ceilingsFor(ready)
    const { stepNumber, answered } = steps.next(keys.shard, engine.runner.redisNowMs(keys.shard))
    const answer = await enqueueBatch(engine, keys, {
      pushes: ready,
      localIds,
      nonce: steps.nonce,
      stepNumber,
      answered,
      ceilings,
      resendForMs: this.#remainingMs(ready),
    })
    const { atMs, lost } = answer
    steps.note(keys.shard, { step: stepNumber, atMs, lost, accepted: acceptedIn(ready, answer, localIds) })
    const redisNowMs = engine.runner.redisNowMs(keys.shard)
    if (answer.woken > 0 || ready.some((push) => isDueVerySoon(push, redisNowMs))) {
      hintWake(engine, keys.shard)
    }
    ready.forEach((push, i) => this.#settle(push, answer, i))
    engine.metrics.jobsPushed(answer.outcomes.filter((outcome) => outcome.code === 'ok').length)
  }

  /** Finds the pushes' queues and gives them numbers. Answers a push to a full shard itself. */
  async #place(
    batch: readonly Waiting[],
  ): Promise<{ placed: readonly Waiting[]; localIds: ReadonlyMap<string, string> }> {
    const localIds = new Map<string, string>()
    const overQuota = new Set<string>()
    const fields = [...new Set(batch.map((push) => push.field))]
    await Promise.all(
      fields.map(async (field) => {
        const found = await this.#resolve(field, this.#remainingMs(batch))
        if (typeof found === 'object') localIds.set(field, found.localId)
        else if (found === 'quota') overQuota.add(field)
      }),
    )
    const placed: Waiting[] = []
    for (const push of batch) {
      if (localIds.has(push.field)) placed.push(push)
      else if (overQuota.has(push.field)) this.#refuse({ ...push, isLastTry: true }, 'queues')
      else push.group.end(push.place, { status: 'too_many_queues' })
    }
    const unnumbered = placed.filter((push) => push.seq === null)
    const numbers = await this.#sequence.take(unnumbered.length, this.#remainingMs(batch))
    unnumbered.forEach((push, i) => {
      push.seq = numbers[i] ?? null
    })
    return { placed, localIds }
  }

  /** Resolves a name that exists without counting the team's other queues. */
  async #resolve(field: string, resendForMs: number): ReturnType<QueueNames['resolve']> {
    const { names, keys, quotas } = this.#options
    const { team } = splitNameField(field)
    if (quotas === null || !quotas.boundsQueues(team)) return names.resolve(keys, field, resendForMs)
    const found = await names.resolve(keys, field, resendForMs, 0)
    if (found !== 'quota') return found
    return names.resolve(keys, field, resendForMs, await quotas.queuesCeiling(keys.shard, team))
  }

  #ceilingsFor(pushes: readonly Waiting[]): Promise<ShardCeilings | null> {
    const { quotas, keys } = this.#options
    if (quotas === null) return Promise.resolve(null)
    const teams = new Set(pushes.map(({ head }) => head.team))
    const lastTries = new Set(pushes.filter(({ isLastTry }) => isLastTry).map(({ head }) => head.team))
    return quotas.ceilings(keys.shard, [...teams], lastTries)
  }

  /** Tries once more with a new reading, as usage may have dropped since the old one. */
  #refuse(push: Waiting, quota: MetQuota | 'room'): void {
    const isOver = push.isLastTry || this.#options.quotas?.isWorthAnotherReading(push.head.team) !== true
    if (!isOver) {
      push.isLastTry = true
      this.#waiting.add(push)
    } else if (quota === 'room') {
      fail(push, new StorageFullError())
    } else {
      this.#options.engine.metrics.refusedByQuota(quota)
      push.group.end(push.place, { status: 'over_quota', quota })
    }
  }

  #settle(push: Waiting, answer: EnqueueAnswer, index: number): void {
    const outcome = answer.outcomes[index]
    if (outcome === undefined) throw new Error('enqueue answered fewer jobs than it was sent')
    switch (outcome.code) {
      case 'ok':
      case 'again':
      case 'dup':
        if (outcome.code !== 'dup') this.#noteDuplicate(push, outcome.jobId)
        return push.group.end(push.place, {
          status: outcome.code === 'dup' ? 'repeated' : 'created',
          jobId: outcome.jobId,
          queueId: outcome.queueId,
          scheduledAtMs: outcome.dueMs,
        })
      case 'draining':
        return push.group.end(push.place, { status: 'queue_draining', queue: push.head.queue })
      case 'conflict':
        return push.group.end(push.place, { status: 'idempotency_conflict' })
      case 'full':
        return push.group.end(push.place, { status: 'idempotency_full' })
      case 'moved':
        this.#options.names.forget(push.field)
        return this.#tryAgain(push)
      case 'taken':
        this.#sequence.dropBlocks()
        push.seq = null
        return this.#tryAgain(push)
      case 'room':
      case 'pendingJobs':
      case 'storedBytes':
      case 'share':
      case 'jobsPerMonth':
        return this.#refuse(push, outcome.code)
    }
  }

  #noteDuplicate({ head: { team, queue, duplicate } }: Waiting, jobId: number): void {
    if (duplicate === undefined) return
    this.#options.engine.auditLines.note(team, duplicateEntry(duplicate, queue, jobId), DONE)
  }

  #tryAgain(push: Waiting): void {
    push.tries += 1
    if (push.tries >= PUSH_TRIES_MAX) {
      fail(push, new StoreUnavailableError('The queue is being deleted and created again'))
      return
    }
    this.#waiting.add(push)
  }
}

/** The jobs that a step stored, by queue. */
function acceptedIn(
  pushes: readonly PendingPush[],
  { outcomes }: EnqueueAnswer,
  localIds: ReadonlyMap<string, string>,
): AcceptedJobs[] {
  const accepted = new Map<string, AcceptedJobs & { count: number }>()
  for (const [i, { code }] of outcomes.entries()) {
    if (code !== 'ok' && code !== 'again') continue
    const field = pushes[i]?.field ?? ''
    const queue = accepted.get(field)
    if (queue === undefined) accepted.set(field, { field, localId: localIds.get(field) ?? '0', count: 1 })
    else queue.count += 1
  }
  return [...accepted.values()]
}

function isDueVerySoon(push: Waiting, redisNowMs: number): boolean {
  const { start } = push.head
  if ('runAtMs' in start) return start.runAtMs <= redisNowMs + HINTED_DELAY_MS
  return start.delaySeconds > 0 && start.delaySeconds * 1000 <= HINTED_DELAY_MS
}
