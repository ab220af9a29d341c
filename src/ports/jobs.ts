import type { Actor } from '../domain/access/audit-record.ts'
import type { AttemptEnd } from '../domain/jobs/retry-policy.ts'
import type { Callback } from '../domain/jobs/callback.ts'
import type { RequestChange } from '../domain/jobs/job-copy.ts'
import type {
  AttemptSummary,
  CallRecord,
  FailureReason,
  JobChain,
  JobRequest,
  LostField,
} from '../domain/jobs/job.ts'
import type { JobFilter, JobOrder } from '../domain/jobs/job-filter.ts'
import type { ChainSettings } from '../domain/jobs/queue-settings.ts'
import type { Waiting } from '../domain/jobs/waiting.ts'
import type { MetQuota } from './quotas.ts'

/** A validated job to be stored. */
export interface NewJob {
  readonly team: string
  readonly queue: string
  readonly request: JobRequest
  /** Whole seconds from now, 0–86400, or a Unix time; a time in the past means now. */
  readonly start: { readonly delaySeconds: number } | { readonly runAtMs: number }
  readonly idempotency: {
    readonly key: string
    /** Same key and fingerprint = the same request, repeated. */
    readonly fingerprint: string
  } | null
  /** The job that somebody asked to duplicate; absent = none. It goes into the audit log. */
  readonly duplicate?: { readonly of: number; readonly actor: Actor; readonly changed: readonly string[] }
}

export type PushResult =
  /** `repeated`: an earlier push with the same idempotency key made this job. */
  | {
      readonly status: 'created' | 'repeated'
      readonly jobId: number
      readonly queueId: number
      readonly scheduledAtMs: number
    }
  /** The key was used with a different body. */
  | { readonly status: 'idempotency_conflict' }
  /** This shard has reached its limit of keys per day. */
  | { readonly status: 'idempotency_full' }
  /** The queue limit of this shard is reached. */
  | { readonly status: 'too_many_queues' }
  | { readonly status: 'over_quota'; readonly quota: MetQuota }
  /** The queue takes no new jobs until it is resumed. */
  | { readonly status: 'queue_draining'; readonly queue: string }

/** Result of one of several pushes, or the fault that `push` would have thrown. */
export type PushEnd = PushResult | { readonly status: 'failed'; readonly fault: unknown }

/** Accepts jobs. Pushes made in the same event-loop turn share one step per shard. */
export interface JobIntake {
  /** Throws StoreUnavailableError within the store deadline (nothing half-written) and StorageFullError. */
  push(job: NewJob): Promise<PushResult>
  /** Pushes each as if it came alone. Answers in their order, once what became of the last one is known. */
  pushAll(jobs: readonly NewJob[]): Promise<readonly PushEnd[]>
}

export interface JobListQuery {
  readonly team: string
  readonly filter: JobFilter
  /** The names of the queues that the list is limited to; null = all. */
  readonly queues: ReadonlySet<string> | null
  /** 1–1000. */
  readonly limit: number
  /** Cursor of the previous page; null = the first page. */
  readonly cursor: string | null
  /** Absent = the order of the cursor, or, without one, queue by queue. */
  readonly order?: JobOrder
  /** Aborted when nobody waits for the page any more. */
  readonly signal?: AbortSignal
}

export interface JobListPage {
  readonly jobs: readonly ListedJob[]
  readonly nextCursor: string | null
  /** How many records were looked at; null where the order of the list was enough. */
  readonly searched: number | null
}

export type DeadLetterQuery = Omit<JobListQuery, 'limit' | 'order'>

/** Dead letters of one queue whose originals failed alike, at the same host. */
export interface DeadLetterGroup {
  readonly queueId: number
  readonly queueName: string
  readonly failureReason: FailureReason | null
  readonly responseStatus: number | null
  /** '' where the record cannot be read. */
  readonly host: string
  readonly count: number
  /** Ends of the originals, which filters compare. */
  readonly firstEndedAtMs: number
  readonly lastEndedAtMs: number
  /** Time of the next purge among them; null = all have left meanwhile. */
  readonly nextPurgeAtMs: number | null
  readonly newestJobId: number
  /** Message of the newest one. */
  readonly errorMessage: string | null
}

export interface DeadLetterGroupPage {
  readonly groups: readonly DeadLetterGroup[]
  readonly nextCursor: string | null
  /** How many dead letters were looked at. */
  readonly searched: number
}

/** A row of a listing: `jobId` is the job of the chain that the row describes. Listings carry no call records. */
export interface ListedJob {
  readonly jobId: number
  readonly chain: JobChain
}

/** Reads and mends single jobs, and lists them. Another team's job is `not_found`. Throws StoreUnavailableError. */
export interface JobStore {
  /** The chain of `jobId`; null when it is unknown or belongs to another team. */
  get(team: string, jobId: number): Promise<JobChain | null>
  /**
   * Lists queue by queue: jobs that have not ended by due time, then dead letters, then finished chains, newest first.
   * By `newest` it lists over all queues: jobs that have not ended, newest push first, then the others, newest end of a
   * chain first; `too_many_queues` when a list has too many for that. A page before the last may be short or empty. `bad_cursor` when this list did not make the cursor;
   * `too_many_searches` when the team has as many costly requests under way here as it may; an unknown queue is
   * an empty page.
   */
  list(query: JobListQuery): Promise<JobListPage | 'bad_cursor' | 'too_many_searches' | 'too_many_queues'>
  /**
   * Groups the dead letters that the filter finds, a bounded number of them: a group may come again on a later page, with
   * the count of that page.
   */
  deadLetterGroups(query: DeadLetterQuery): Promise<DeadLetterGroupPage | 'bad_cursor' | 'too_many_searches'>
  /**
   * Removes a pending job, or a chain that has ended, for good. @param mayPurge false = an ended chain stays, and is
   * `ended`
   */
  remove(
    team: string,
    jobId: number,
    actor: Actor,
    mayPurge: boolean,
  ): Promise<{ status: 'removed' | 'in_flight' | 'ended' | 'not_found' } | NotEnded>
  /**
   * Removes a pending job for good if no executor has begun to call its target. Answers the chain as it was. `sent`: its
   * call was begun before, as that of a job that waits for a retry.
   */
  cancel(
    team: string,
    jobId: number,
    actor: Actor,
  ): Promise<
    | { status: 'cancelled'; chain: JobChain }
    | { status: 'sent' | 'in_flight' | 'damaged' | 'ended' | 'not_found' }
    | NotEnded
  >
  /** Makes a delayed job due now. Answers its chain. */
  fire(
    team: string,
    jobId: number,
    actor: Actor,
  ): Promise<
    | { status: 'fired'; chain: JobChain }
    /** `due`: it waits for its turn already. */
    | { status: 'due' | 'in_flight' | 'damaged' | 'ended' | 'not_found' }
    | NotEnded
  >
  /** Makes a new job, attempt 1, due at once, of a chain that failed or is a dead letter; at least of this call depth. */
  retry(team: string, jobId: number, actor: Actor, callDepth?: number): Promise<RemadeJob>
  /** Replaces a dead letter by a new job, attempt 1, due at once. */
  replay(team: string, jobId: number, actor: Actor, wanted?: ReplayWish): Promise<RemadeJob>
}

/** How the new job of a replay differs from the dead letter. */
export interface ReplayWish {
  readonly change?: RequestChange
  /** The least call depth of the new job; absent = 0. */
  readonly callDepth?: number
}

/** The job is an earlier attempt of a chain that has not ended. `jobId`: the chain's open job. */
interface NotEnded {
  readonly status: 'not_ended'
  readonly jobId: number
}

export type RemadeJob =
  | {
      readonly status: 'made'
      readonly jobId: number
      readonly queueId: number
      readonly scheduledAtMs: number
    }
  /** A retry or a replay has made this job of the chain before. */
  | { readonly status: 'already_made'; readonly jobId: number }
  /** `damaged`: its record cannot be read. */
  | { readonly status: 'not_dead_lettered' | 'not_failed' | 'damaged' | 'not_found' }
  | NotEnded
  | { readonly status: 'not_kept'; readonly fields: readonly LostField[] }
  | { readonly status: 'queue_draining'; readonly queue: string }
  | { readonly status: 'over_quota'; readonly quota: MetQuota }

export interface WaitExplainer {
  /**
   * Why a pending job waits; null when it does not, is unknown or belongs to another team, and while a part of Redis that
   * it depends on is away.
   */
  explain(team: string, jobId: number): Promise<Waiting | null>
}

/** Where in the store a job lies. */
export interface JobLocation {
  /** Local id of the queue in its shard. */
  readonly queue: string
  readonly settingsHash: string
  /** Whether the request is stored beside the record. */
  readonly isLarge: boolean
}

interface Claimed {
  readonly shard: number
  readonly jobId: number
  /** Fencing token: rises per shard with every claim; a finish with an older one changes nothing. */
  readonly token: string
  readonly team: string
  readonly scheduledAtMs: number
  /** Redis time of the claim, or, of a job of a queue with a rate, from which it may begin. */
  readonly startedAtMs: number
  /** Size of the record and of a request stored beside it, as the claim counted them. */
  readonly bytes: number
  readonly location: JobLocation
}

/** A job claimed by this executor. */
export interface ClaimedJob extends Claimed {
  readonly kind: 'job'
  readonly rootId: number
  readonly attempt: number
  readonly queueName: string
  readonly createdAtMs: number
  readonly earlier: readonly AttemptSummary[]
  readonly request: JobRequest
  /** The chain's settings with the job's own overrides. */
  readonly settings: ChainSettings
  /** Its end may open the breaker of its queue, or it tries the target of one that is open; absent = there is no breaker. */
  readonly breaker?: 'watches' | 'probes'
  /**
   * When its call has to begin, by Redis time, for the rate of its queue to hold at the target. Outside of it the job is
   * released, and counts as begun. Absent = the queue has no rate, and it begins at once.
   */
  readonly beginsWithin?: { readonly fromMs: number; readonly toMs: number }
}

/** A callback claimed by this executor: one try, no history. */
export interface ClaimedCallback extends Claimed {
  readonly kind: 'callback'
  readonly callback: Callback
  readonly timeoutSeconds: number
}

/** A job or callback whose record cannot be read. It is quarantined, not called. */
export interface DamagedWork extends Claimed {
  readonly kind: 'damaged'
}

export type ClaimedWork = ClaimedJob | ClaimedCallback | DamagedWork

/** How claimed work leaves the executor. */
export type WorkEnd =
  | {
      readonly type: 'ended'
      readonly work: ClaimedJob
      readonly end: AttemptEnd
      readonly callback: Callback | null
      /** null when this call is not sampled. */
      readonly call: CallRecord | null
      /** For how long the target asks to be left alone; absent = it does not. */
      readonly retryAfterMs?: number
    }
  | { readonly type: 'callback_ended'; readonly work: ClaimedCallback }
  /**
   * The job's record is damaged, or its end cannot be written. Kept as a dead letter for inspection; never runs again.
   */
  | { readonly type: 'quarantined'; readonly work: ClaimedWork }
  /**
   * The call was not made, or our own stop or fault aborted it: the job goes back to the head of its queue, attempt
   * unchanged.
   */
  | {
      readonly type: 'released'
      readonly work: ClaimedWork
      /** The call was begun and cut short, so the target may have it; absent = it was not begun. */
      readonly isCut?: true
    }

export type FinishCode =
  | 'done'
  /** The job is no longer ours, and nothing was changed. */
  | 'stale'
  /** Something in Redis kept this job alone from ending. It is still ours. */
  | 'failed'

/**
 * The most one claim may take. Headroom is how many more jobs of a team or queue may be claimed; with none left, its
 * jobs are skipped.
 */
export interface ClaimGrant {
  /** Most jobs to claim, 1 to CLAIM_BATCH_MAX. */
  readonly slots: number
  /** Most bytes to claim. */
  readonly bytes: number
  /** Headroom by team, at most HEADROOM_ENTRIES_MAX; teams not listed have `otherTeamsHeadroom`. */
  readonly teamHeadroom: ReadonlyMap<string, number>
  readonly otherTeamsHeadroom: number
  /** Headroom by local queue id, at most HEADROOM_ENTRIES_MAX; queues not listed have `otherQueuesHeadroom`. */
  readonly queueHeadroom: ReadonlyMap<string, number>
  readonly otherQueuesHeadroom: number
  /**
   * How many ms the answer may be late, whole: jobs of queues with a rate begin as much later than the claim. Absent = none;
   * at most a second counts.
   */
  readonly leadMs?: number
}

export type ClaimAnswer =
  | {
      readonly status: 'claimed'
      readonly work: readonly ClaimedWork[]
      /** Queues that can still run in this shard. */
      readonly runnable: number
      /** Time at which the next delayed job of the near set is due, by Redis time; null = none. */
      readonly nextDueMs: number | null
      /** Teams with ready jobs that were skipped because the team or its queue has no headroom; at most 16. */
      readonly crowdedTeams: readonly string[]
      /** Size of the largest job at the head of a queue that exceeded the bytes granted; null = all fit. */
      readonly bytesWanted: number | null
      /** Redis time when it was answered; absent = no step was needed. */
      readonly redisMs?: number
    }
  /** This executor's lease has ended; it no longer owns any job it claimed. */
  | { readonly status: 'lease_lost' }
  /** All queues that could run are held by maintenance windows. */
  | { readonly status: 'held' }

/**
 * One executor's access to one shard's jobs. At most one claim and one finish are in progress at a time; both are resent
 * unchanged until answered. Throws StoreUnavailableError when Redis does not answer within `resendForMs`.
 */
export interface JobSource {
  readonly shard: number
  /** Creates or renews the lease. `listed` = jobs that Redis lists for this executor. */
  beat(register: boolean): Promise<
    | {
        status: 'ok'
        listed: number
        /** Redis time of the beat. */
        redisMs: number
      }
    | { status: 'lease_lost' }
  >
  claim(grant: ClaimGrant): Promise<ClaimAnswer>
  /**
   * Ends a batch; answers in the same order. Throws for a defect that kept it from ending any of them: some of what belongs
   * to single jobs may have been written then.
   */
  finish(ends: readonly WorkEnd[]): Promise<readonly FinishCode[]>
  /** Releases jobs that Redis lists for this executor but are not in `known`. Only while no claim is in progress. */
  releaseUnknown(known: ReadonlySet<number>): Promise<number>
  /** Releases all jobs and ends the lease. */
  leave(): Promise<void>
  redisNowMs(): number
}

/** Maintenance of a shard. Any executor may do it; several at once do no harm. */
export interface ShardMaintenance {
  readonly shard: number
  /** Reads without a change. `nextDueMs` = when `promote` is next needed, Unix ms by Redis time; null = nothing is delayed. */
  peek(): Promise<{ readonly runnable: boolean; readonly nextDueMs: number | null }>
  /** Moves due jobs to their ready lists. `nextDueMs` as for `peek`. */
  promote(): Promise<{ promoted: number; nextDueMs: number | null }>
  /** Releases the jobs of executors whose lease has expired. */
  reap(): Promise<{ jobs: number; executors: number }>
  /**
   * Turns the log of ended jobs into statistics. Once a minute one executor also counts the ready jobs and scans for
   * limit warnings; the calls between only fold the log.
   */
  runMinuteRound(): Promise<void>
  /**
   * Hard deadlines, retention and the remains of deleted queues, a bounded piece of each. All of them run even when one
   * fails; the fault is thrown at the end.
   */
  sweep(): Promise<{ isMore: boolean }>
}

/** Hints that a shard has something to claim. Lossy: polling must suffice without them. */
export interface WakeHints {
  onWake(listener: (shard: number) => void): () => void
}
