import { LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import type { ChainSettings, QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { NewJob, PushResult } from '../../../src/ports/jobs.ts'
import type {
  ModelAudit,
  ModelQueue,
  ModelJob,
  DeadLetter,
  FinishedChain,
  ModelShard,
  ModelLimits,
  DrawnEnd,
} from './model-records.ts'
import { callbackQueueOf, splitNameField } from '../../../src/redis/base/layout/keys.ts'

const DAY_MS = 86_400_000
const LEASE_MS = 15_000
const SYSTEM_SETTINGS = { timeoutSeconds: 10 } as ChainSettings

/**
 * What the engine promises, as plain data and without Redis. Time goes in through `tick`, which every step that uses
 * time calls first. The model does not choose which jobs a claim takes: it judges the choice.
 */
export class EngineModel {
  readonly shards: ModelShard[]
  /** By `team/name`. */
  readonly queues = new Map<string, ModelQueue>()
  /** By `queue key|job id`; a callback has the id of the attempt it reports. */
  readonly jobs = new Map<string, ModelJob>()
  readonly dead = new Map<number, DeadLetter>()
  readonly finished = new Map<number, FinishedChain>()
  readonly #limits: ModelLimits
  readonly #defaults: () => QueueSettings

  constructor(shards: number, limits: ModelLimits, defaults: () => QueueSettings) {
    this.#limits = limits
    this.#defaults = defaults
    this.shards = Array.from({ length: shards }, () => ({
      lastMs: null,
      jumpedMs: null,
      nowMs: 0,
      highestMs: 0,
      leases: new Map(),
      held: new Map(),
      highestToken: 0,
      audits: new Map(),
      callbacks: new Map(),
    }))
  }

  shard(shard: number): ModelShard {
    return this.shards[shard] as ModelShard
  }

  /** A step that uses time begins: what does it take for now? */
  tick(shardNumber: number, wallMs: number): void {
    const shard = this.shard(shardNumber)
    const { lastMs } = shard
    const aheadMs = lastMs === null ? 0 : lastMs - wallMs
    if (aheadMs > 0 && aheadMs <= 5_000) {
      shard.nowMs = lastMs ?? 0
      return
    }
    if (aheadMs > 0 || aheadMs < -10_000) {
      for (const executor of shard.leases.keys()) shard.leases.set(executor, wallMs + LEASE_MS)
      shard.jumpedMs = wallMs
    }
    shard.lastMs = wallMs
    shard.nowMs = wallMs
    shard.highestMs = Math.max(shard.highestMs, wallMs)
  }

  beat(shardNumber: number, executor: string, register: boolean): 'lease_lost' | number {
    const shard = this.shard(shardNumber)
    if (!register && !this.hasLease(shardNumber, executor)) return 'lease_lost'
    shard.leases.set(executor, shard.nowMs + LEASE_MS)
    return shard.held.get(executor)?.size ?? 0
  }

  hasLease(shardNumber: number, executor: string): boolean {
    const shard = this.shard(shardNumber)
    return (shard.leases.get(executor) ?? 0) > shard.nowMs
  }

  /** A queue that a push or an edit finds or makes. `answer` tells the id of a new one. */
  queueOf(field: string, shard: number, localId: string, isPushed: boolean): ModelQueue {
    const known = this.queues.get(field)
    if (known !== undefined) return known
    const { team } = splitNameField(field)
    const { callbacks } = this.shard(shard)
    if (!callbacks.has(team)) {
      const number = String(callbacks.size + 1)
      const settings = { ...this.#defaults(), isActive: true, maxParallelism: null }
      callbacks.set(team, newQueue({ team, shard, localId: callbackQueueOf(number), settings }))
    }
    const made = newQueue({ team, shard, localId, settings: this.#defaults() })
    made.isPushed = isPushed
    this.queues.set(field, made)
    return made
  }

  /** Judges one push's answer and takes the job in. Answers what is wrong, or null. */
  push(job: NewJob, queue: ModelQueue, answer: PushResult): string | null {
    const { nowMs } = this.shard(queue.shard)
    const earlier = job.idempotency === null ? null : this.#earlierPush(queue, job.idempotency.key, nowMs)
    const entries = earlier === null ? [] : [...earlier.must, ...earlier.may]
    if (answer.status === 'repeated') {
      const isOurs = entries.some(
        (entry) =>
          entry.jobId === answer.jobId &&
          entry.dueMs === answer.scheduledAtMs &&
          entry.fingerprint === job.idempotency?.fingerprint,
      )
      return isOurs ? null : 'a push was taken for a repeat of one that never was'
    }
    if (answer.status === 'idempotency_conflict') {
      const isOther = entries.some((entry) => entry.fingerprint !== job.idempotency?.fingerprint)
      return isOther ? null : 'a push was taken for a conflict without one'
    }
    if (answer.status !== 'created') return `a push was answered ${answer.status}`
    if (earlier !== null && earlier.must.length > 0) return 'a repeated push made a second job'
    const dueMs =
      'delaySeconds' in job.start ? nowMs + job.start.delaySeconds * 1000 : Math.max(nowMs, job.start.runAtMs)
    if (answer.scheduledAtMs !== dueMs) return `a push is due at ${answer.scheduledAtMs}, not ${dueMs}`
    if (this.jobs.has(`${queue.key}|${answer.jobId}`)) return `the id ${answer.jobId} was given twice`
    this.#addJob({
      id: answer.jobId,
      queue,
      attempt: 1,
      dueMs,
      request: job.request,
      settings: queue.settings,
    })
    if (job.duplicate !== undefined) this.audit(queue, 'duplicate', job.duplicate.of)
    if (job.idempotency !== null) {
      const { key, fingerprint } = job.idempotency
      const list = queue.idempotency.get(key) ?? []
      list.push({ day: Math.floor(nowMs / DAY_MS), fingerprint, jobId: answer.jobId, dueMs })
      queue.idempotency.set(key, list)
    }
    return null
  }

  /** A key holds for the rest of its day and the next: 24 to 48 hours; beyond them both answers are right. */
  #earlierPush(queue: ModelQueue, key: string, nowMs: number) {
    const today = Math.floor(nowMs / DAY_MS)
    const entries = queue.idempotency.get(key) ?? []
    const must = entries.filter((entry) => entry.day === today || entry.day === today - 1)
    return { must, may: entries.filter((entry) => !must.includes(entry)) }
  }

  #addJob(job: Pick<ModelJob, 'id' | 'queue' | 'attempt' | 'dueMs' | 'request' | 'settings'>): void {
    const { nowMs } = this.shard(job.queue.shard)
    const place = job.dueMs <= nowMs ? ('ready' as const) : ('delayed' as const)
    this.jobs.set(`${job.queue.key}|${job.id}`, {
      ...job,
      place,
      createdAtMs: nowMs,
      losses: 0,
      deadlineMs: 0,
    })
  }

  /** Judges the jobs a new claim took. */
  claim(
    shardNumber: number,
    executor: string,
    token: number,
    taken: ReadonlyArray<readonly [string, number]>,
  ) {
    const shard = this.shard(shardNumber)
    if (!this.hasLease(shardNumber, executor)) return 'a claim without a lease was answered'
    if (taken.length > 0 && token <= shard.highestToken) return `token ${token} came again or fell`
    const held = shard.held.get(executor) ?? new Map<number, { queue: ModelQueue; token: number }>()
    for (const [queueId, jobId] of taken) {
      const job = this.jobs.get(`${shardNumber}:${queueId}|${jobId}`)
      if (job === undefined) return `job ${jobId} was claimed and does not exist`
      if (job.place !== 'ready') return `job ${jobId} was claimed while ${job.place}`
      if (!job.queue.settings.isActive) return `job ${jobId} of a paused queue was claimed`
      job.place = 'in_flight'
      job.deadlineMs = shard.nowMs + timeoutOf(job) * 1000 + 30_000
      held.set(jobId, { queue: job.queue, token })
    }
    if (taken.length > 0) {
      shard.held.set(executor, held)
      shard.highestToken = token
    }
    for (const [queueId] of taken) {
      const inFlight = this.inQueue(`${shardNumber}:${queueId}`).filter((job) => job.place === 'in_flight')
      const max = inFlight[0]?.queue.settings.maxParallelism ?? null
      if (max !== null && inFlight.length > max)
        return `queue ${queueId} has ${inFlight.length} of ${max} in flight`
    }
    return null
  }

  queuesIn(shard: number): ModelQueue[] {
    return [...this.queues.values()].filter((queue) => queue.shard === shard)
  }

  /** Of a queue of any sort; '' of none. */
  teamOf(shard: number, localId: string): string {
    const all = [...this.queuesIn(shard), ...this.shard(shard).callbacks.values()]
    return all.find((queue) => queue.localId === localId)?.team ?? ''
  }

  inQueue(key: string): ModelJob[] {
    return [...this.jobs.values()].filter((job) => job.queue.key === key)
  }

  /** Whether the executor may end this job; if so it no longer holds it. */
  #release(
    shardNumber: number,
    executor: string,
    jobId: number,
    token: number,
  ): ModelJob | 'stale' | 'deleted' {
    const held = this.shard(shardNumber).held.get(executor)
    const entry = held?.get(jobId)
    if (entry === undefined || entry.token !== token) return 'stale'
    held?.delete(jobId)
    return this.jobs.get(`${entry.queue.key}|${jobId}`) ?? 'deleted'
  }

  /** null = given back. */
  finish(
    shard: number,
    executor: string,
    jobId: number,
    token: number,
    end: DrawnEnd | null,
  ): 'done' | 'stale' {
    const job = this.#release(shard, executor, jobId, token)
    if (job === 'stale') return 'stale'
    if (job === 'deleted') return 'done'
    if (end === null) job.place = 'ready'
    else this.#end(job, end)
    return 'done'
  }

  #end(job: ModelJob, end: DrawnEnd): void {
    const { queue, settings, request } = job
    this.jobs.delete(`${queue.key}|${job.id}`)
    if (request === null) return
    const { nowMs, callbacks } = this.shard(queue.shard)
    const events = request.callbackEvents ?? settings.callbackEvents
    const delays = request.retryDelays ?? settings.retryDelays
    const mayRetry = request.retriesEnabled ?? settings.retriesEnabled
    const delay = delays[job.attempt - 1]
    const isRetried = end.failed && mayRetry && delay !== undefined
    const rootId = job.id - (job.attempt - 1) * this.shards.length
    if (isRetried) {
      const id = job.id + this.shards.length
      const dueMs = nowMs + delay * 1000
      this.#addJob({ id, queue, attempt: job.attempt + 1, dueMs, request, settings })
    } else if (end.failed && mayRetry) {
      const purgeAtMs = nowMs + settings.dlqRetentionDays * DAY_MS
      this.dead.set(rootId, { queue, request, settings, purgeAtMs, endedAtMs: end.endedAtMs })
    } else {
      const how = end.failed ? 'failed_no_retries' : 'success'
      this.finished.set(rootId, { queue, request, end: how, endedAtMs: end.endedAtMs, madeId: null })
    }
    if (end.call !== null) this.#keepCall(queue, job.id, end)
    if (request.callbackUrl !== null && (!isRetried || events === 'every_attempt')) {
      this.#addJob({
        id: job.id,
        queue: callbacks.get(queue.team) as ModelQueue,
        attempt: 1,
        dueMs: nowMs,
        request: null,
        settings: SYSTEM_SETTINGS,
      })
    }
  }

  #keepCall(queue: ModelQueue, jobId: number, end: DrawnEnd): void {
    const bytes = Buffer.byteLength(JSON.stringify(end.call))
    const kept = [...this.queues.values()].filter((other) => other.shard === queue.shard)
    const all = kept.flatMap((other) => [...other.failedCalls, ...other.successfulCalls])
    if (all.reduce((sum, call) => sum + call.bytes, bytes) > this.#limits.callBytes) return
    const list = end.failed ? queue.failedCalls : queue.successfulCalls
    list.unshift({ jobId, bytes })
    list.length = Math.min(list.length, end.failed ? this.#limits.failedCalls : this.#limits.successfulCalls)
  }

  /** The lease of one executor is over: everything it held is ready again or has lost its last chance. */
  reap(shardNumber: number, executor: string): void {
    const shard = this.shard(shardNumber)
    for (const [jobId, { token }] of shard.held.get(executor) ?? [])
      this.lose(shardNumber, executor, jobId, token)
    shard.held.delete(executor)
    shard.leases.delete(executor)
  }

  lose(shard: number, executor: string, jobId: number, token: number): void {
    const job = this.#release(shard, executor, jobId, token)
    if (typeof job === 'string') return
    job.losses += 1
    if (job.losses >= LOST_LEASES_MAX)
      this.#end(job, { failed: true, endedAtMs: this.shard(shard).nowMs, call: null })
    else job.place = 'ready'
  }

  /** Both sweeps of overdue slots and reaping look at leases and deadlines by the shard's time. */
  expired(shardNumber: number): string[] {
    const shard = this.shard(shardNumber)
    return [...shard.leases].filter(([, lease]) => lease + 2000 <= shard.nowMs).map(([executor]) => executor)
  }

  freeOverdue(shardNumber: number): void {
    const shard = this.shard(shardNumber)
    if (shard.jumpedMs !== null && shard.nowMs < shard.jumpedMs + 330_000) return
    for (const [executor, held] of shard.held) {
      for (const [jobId, { queue, token }] of held) {
        const job = this.jobs.get(`${queue.key}|${jobId}`)
        if (job !== undefined && job.deadlineMs <= shard.nowMs) this.lose(shardNumber, executor, jobId, token)
      }
    }
  }

  promote(shardNumber: number): void {
    const { nowMs } = this.shard(shardNumber)
    for (const job of this.jobs.values()) {
      if (job.queue.shard === shardNumber && job.place === 'delayed' && job.dueMs <= nowMs)
        job.place = 'ready'
    }
  }

  deleteQueue(field: string): void {
    const queue = this.queues.get(field)
    this.queues.delete(field)
    for (const [key, job] of this.jobs) if (job.queue === queue) this.jobs.delete(key)
    for (const [root, letter] of this.dead) if (letter.queue === queue) this.dead.delete(root)
    for (const [root, chain] of this.finished) if (chain.queue === queue) this.finished.delete(root)
  }

  /** A new job of a dead letter. */
  replay(rootId: number, newId: number, action: 'replay' | 'retry'): void {
    const { queue, request, endedAtMs } = this.dead.get(rootId) as DeadLetter
    this.dead.delete(rootId)
    this.finished.set(rootId, { queue, request, end: 'dead_lettered', endedAtMs, madeId: null })
    this.#remake(rootId, newId, action)
  }

  /** A new job of a chain that has failed. */
  retry(rootId: number, newId: number): void {
    this.#remake(rootId, newId, 'retry')
  }

  #remake(rootId: number, newId: number, action: 'replay' | 'retry'): void {
    const chain = this.finished.get(rootId) as FinishedChain
    chain.madeId = newId
    const { queue, request } = chain
    const { nowMs } = this.shard(queue.shard)
    this.#addJob({ id: newId, queue, attempt: 1, dueMs: nowMs, request, settings: queue.settings })
    this.audit(queue, action, rootId)
  }

  fire(job: ModelJob): void {
    job.place = 'ready'
    job.dueMs = this.shard(job.queue.shard).nowMs
    this.audit(job.queue, 'fire', job.id)
  }

  cancel(job: ModelJob): void {
    this.jobs.delete(`${job.queue.key}|${job.id}`)
    this.audit(job.queue, 'delete', job.id)
  }

  audit({ team, shard }: ModelQueue, action: ModelAudit['action'], jobId: number): void {
    const { audits, nowMs: atMs } = this.shard(shard)
    audits.set(team, [...(audits.get(team) ?? []), { action, jobId, atMs }])
  }
}

function newQueue(queue: Pick<ModelQueue, 'team' | 'shard' | 'localId' | 'settings'>): ModelQueue {
  const { shard, localId } = queue
  const key = `${shard}:${localId}`
  const kept = { idempotency: new Map(), failedCalls: [], successfulCalls: [] }
  return { ...queue, key, isPushed: false, ...kept }
}

function timeoutOf(job: ModelJob): number {
  return job.request?.timeoutSeconds ?? job.settings.timeoutSeconds
}
