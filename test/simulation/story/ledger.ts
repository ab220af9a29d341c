import type { NewJob, PushResult, JobStore } from '../../../src/ports/jobs.ts'
import { AN_ACTOR } from '../../support/principals.ts'
import type { Scheduler } from './scheduler.ts'

/** One push as its client sees it. */
export interface PushEntry {
  readonly job: NewJob
  readonly sentAtMs: number
  answeredAtMs: number | null
  /** null while there is no answer, and after a 503. */
  result: PushResult | null
}

interface Removal {
  readonly queue: string
  readonly sentAtMs: number
  isAnswered: boolean
}

interface Cancellation {
  readonly jobId: number
  readonly sentAtMs: number
  /** `unknown`: the API answered 503. */
  result: 'unanswered' | 'unknown' | 'cancelled' | 'refused'
  answeredAtMs: number
}

interface Replay {
  readonly jobId: number
  readonly newId: number
  readonly atMs: number
}

/** The requests of all API clients and their answers. */
export class Ledger {
  readonly pushes: PushEntry[] = []
  readonly removals: Removal[] = []
  readonly cancellations: Cancellation[] = []
  /** By replays and by retries. */
  readonly replays: Replay[] = []
  /** Jobs that somebody wanted to fire; a request without an answer may have. */
  readonly fired = new Set<number>()
  #unanswered = 0

  get isAnswered(): boolean {
    return this.#unanswered === 0
  }

  push(job: NewJob, scheduler: Scheduler, send: () => Promise<PushResult>): void {
    const entry: PushEntry = { job, sentAtMs: scheduler.nowMs, answeredAtMs: null, result: null }
    this.pushes.push(entry)
    this.#ask(send(), (result) => {
      entry.answeredAtMs = scheduler.nowMs
      entry.result = result
    })
  }

  remove(queue: string, scheduler: Scheduler, send: () => Promise<unknown>): void {
    const removal: Removal = { queue, sentAtMs: scheduler.nowMs, isAnswered: false }
    this.removals.push(removal)
    this.#ask(send(), () => {
      removal.isAnswered = true
    })
  }

  cancel(pick: number, scheduler: Scheduler, send: (jobId: number) => ReturnType<JobStore['remove']>): void {
    const jobId = this.#pickJob(pick)
    if (jobId === null) return
    const entry: Cancellation = {
      jobId,
      sentAtMs: scheduler.nowMs,
      result: 'unanswered',
      answeredAtMs: Infinity,
    }
    this.cancellations.push(entry)
    this.#ask(send(jobId), (answer) => {
      entry.answeredAtMs = scheduler.nowMs
      entry.result = answer === null ? 'unknown' : answer.status === 'removed' ? 'cancelled' : 'refused'
    })
  }

  replay(pick: number, scheduler: Scheduler, send: (jobId: number) => ReturnType<JobStore['replay']>): void {
    const jobId = this.#pickJob(pick)
    if (jobId === null) return
    this.#ask(send(jobId), (answer) => {
      if (answer?.status !== 'made') return
      this.replays.push({ jobId, newId: answer.jobId, atMs: scheduler.nowMs })
    })
  }

  fire(pick: number, send: (jobId: number) => ReturnType<JobStore['fire']>): void {
    const jobId = this.#pickJob(pick)
    if (jobId === null) return
    this.fired.add(jobId)
    this.#ask(send(jobId), () => undefined)
  }

  /** The new job is a push as others are. */
  duplicate(pick: number, scheduler: Scheduler, send: (job: NewJob) => Promise<PushResult>): void {
    const of = this.#pickJob(pick)
    const origin = this.pushes.find(
      ({ result }) => result !== null && 'jobId' in result && result.jobId === of,
    )
    if (of === null || origin === undefined) return
    const duplicate = { of, actor: AN_ACTOR, changed: [] }
    const job = { ...origin.job, start: { delaySeconds: 0 }, duplicate }
    this.push(job, scheduler, () => send(job))
  }

  #pickJob(pick: number): number | null {
    const accepted = this.pushes.flatMap(({ result }) =>
      result !== null && 'jobId' in result ? [result.jobId] : [],
    )
    return accepted[pick % accepted.length] ?? null
  }

  /** A rejection is a 503: the answer is null. */
  #ask<T>(answer: Promise<T>, note: (answer: T | null) => void): void {
    this.#unanswered += 1
    answer
      .catch(() => null)
      .then((known) => {
        this.#unanswered -= 1
        note(known)
      })
      .catch((error: unknown) => {
        throw error
      })
  }
}
