import type { FailureReason, FinalStatus, JobStatus } from './job.ts'

/** Includes `afterMs`, excludes `beforeMs`; null = no bound. Unix ms. */
export interface TimeRange {
  readonly afterMs: number | null
  readonly beforeMs: number | null
}

/** `dead_lettered` = in the dead-letter queue. */
export type ListedStatus = JobStatus | 'dead_lettered'

/**
 * Selects jobs of a team: every field that is not null must match. The fields that may be absent are those of lists
 * alone: a bulk is kept, and a version that does not know them would act on more jobs than were meant.
 */
export interface JobFilter {
  readonly queue: string | null
  readonly status: ListedStatus | null
  /** Two or more of which one must match; `status` is null then. */
  readonly statuses?: readonly ListedStatus[]
  /** What must not match. */
  readonly not?: Partial<Pick<JobFilter, 'queue' | 'failureReason' | 'responseStatus' | 'host'>>
  /** The job's own call took longer. */
  readonly slowerThanMs?: number
  readonly finalStatus: FinalStatus | null
  /** Matches the job's own attempt, not the end of its chain. */
  readonly failureReason: FailureReason | null
  readonly responseStatus: number | null
  /** Host of the URL, in lower case, without its port. */
  readonly host: string | null
  readonly tag: { readonly name: string; readonly value: string } | null
  readonly cronId: number | null
  /** A bulk that made or fired the job; absent = any job. Only lists have it. */
  readonly bulkId?: number | null
  readonly created: TimeRange
  readonly scheduled: TimeRange
  readonly ended: TimeRange
  /** Found in the URL, the payload, an error or an answer, in any case of ASCII letters. */
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

/**
 * `queue` lists queue by queue, and each by its parts; `newest` lists over all queues what has not ended, newest push
 * first, and then what has, newest end first.
 */
export const JOB_ORDERS = ['newest', 'oldest', 'queue'] as const
export type JobOrder = (typeof JOB_ORDERS)[number]
