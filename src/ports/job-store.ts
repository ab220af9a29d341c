import type { JobChain, JobStatus } from '../domain/jobs/job.ts'

export interface JobListQuery {
  readonly team: string
  /** null = all queues of the team. */
  readonly queue: string | null
  /** null = every status. `dead_lettered` lists the dead-letter queue. */
  readonly status: JobStatus | 'dead_lettered' | null
  /** 1–1000. */
  readonly limit: number
  /** As answered by the page before; null = the first page. */
  readonly cursor: string | null
}

/** A job of a listing: `jobId` says which job of the chain the row is about. Listings carry no call records. */
export interface ListedJob {
  readonly jobId: number
  readonly chain: JobChain
}

/** Reads and single-job commands. Another team's job is `not_found`. Throws StoreUnavailableError. */
export interface JobStore {
  /** The chain that `jobId` is part of; null when unknown or of another team. */
  get(team: string, jobId: number): Promise<JobChain | null>
  /**
   * Queue by queue; in each what has not ended by due time, then dead letters and finished chains, newest first. A page
   * may be short, even empty, before the last. `bad_cursor` when the cursor is not one of ours; an unknown queue is an
   * empty page.
   */
  list(query: JobListQuery): Promise<{ jobs: ListedJob[]; nextCursor: string | null } | 'bad_cursor'>
  /** Removes a pending job, or one that was set aside because its record is damaged. A job in flight cannot be called back; an ended one cannot be cancelled. */
  cancel(team: string, jobId: number): Promise<'cancelled' | 'in_flight' | 'ended' | 'not_found'>
  /** Makes a new pending job, attempt 1, due at once, of a dead letter; the dead letter leaves the queue. */
  replay(
    team: string,
    jobId: number,
  ): Promise<
    | { status: 'replayed'; jobId: number; queueId: number; scheduledAtMs: number }
    | { status: 'already_replayed'; jobId: number }
    | { status: 'not_dead_lettered' }
    /** Its record cannot be read. */
    | { status: 'damaged' }
    | { status: 'not_found' }
  >
}
