import type { FailureReason, FinalStatus, JobStatus } from './job.ts'

/** From `afterMs` on, before `beforeMs`; null = no bound. Unix ms. */
export interface TimeRange {
  readonly afterMs: number | null
  readonly beforeMs: number | null
}

/** Which jobs of a team are meant: all that is not null must hold. */
export interface JobFilter {
  readonly queue: string | null
  /** `dead_lettered` = in the dead-letter queue. */
  readonly status: JobStatus | 'dead_lettered' | null
  readonly finalStatus: FinalStatus | null
  /** Of the job's own attempt. */
  readonly failureReason: FailureReason | null
  readonly responseStatus: number | null
  /** Of the URL, in lower case, without its port. */
  readonly host: string | null
  readonly tag: { readonly name: string; readonly value: string } | null
  readonly cronId: number | null
  readonly created: TimeRange
  readonly scheduled: TimeRange
  readonly ended: TimeRange
  /** Found in the URL or the payload, in any case of ASCII letters. */
  readonly text: string | null
}

const ANY_TIME: TimeRange = { afterMs: null, beforeMs: null }

/** Every job of a team. */
export const ANY_JOB: JobFilter = Object.freeze({
  queue: null,
  status: null,
  finalStatus: null,
  failureReason: null,
  responseStatus: null,
  host: null,
  tag: null,
  cronId: null,
  created: ANY_TIME,
  scheduled: ANY_TIME,
  ended: ANY_TIME,
  text: null,
})
