import type { AttemptEnd } from '../domain/jobs/attempt-end.ts'
import type { Callback } from '../domain/jobs/callback.ts'
import type { AttemptSummary, CallRecord, JobChain, JobRequest, JobStatus } from '../domain/jobs/job.ts'
import type { ChainSettings } from '../domain/jobs/queue-settings.ts'
import type { MetQuota } from './quotas.ts'

/** A validated job on its way into the store. */
export interface NewJob {
  readonly team: string
  readonly queue: string
  readonly request: JobRequest
  /** Whole seconds from now, 0–86400, or an absolute time; a time in the past means now. */
  readonly start: { readonly delaySeconds: number } | { readonly runAtMs: number }
  readonly idempotency: {
    readonly key: string
    /** Same key and fingerprint = the same request again. */
    readonly fingerprint: string
  } | null
}

export type PushResult =
  /** `repeated`: an earlier push with the same idempotency key made this job. */
  | {
      readonly status: 'created' | 'repeated'
      readonly jobId: number
      readonly queueId: number
      readonly scheduledAtMs: number
    }
  /** The key was used with another body. */
  | { readonly status: 'idempotency_conflict' }
  /** Too many keys in use today in this shard. */
  | { readonly status: 'idempotency_full' }
  /** The shard holds as many queues as it may. */
  | { readonly status: 'too_many_queues' }
  | { readonly status: 'over_quota'; readonly quota: MetQuota }

/**
 * Takes jobs in. Pushes of the same turn share one step per shard.
 * Throws StoreUnavailableError within the store deadline (nothing half-written) and StorageFullError.
 */
export interface JobIntake {
  push(job: NewJob): Promise<PushResult>
}

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

interface Claimed {
  readonly shard: number
  readonly jobId: number
  /** Fencing token: rises per shard with every claim; a finish with an older one changes nothing. */
  readonly token: string
  readonly team: string
  readonly scheduledAtMs: number
  /** Redis time of the claim. */
  readonly startedAtMs: number
  /** Of its record and of what is large of its request, as the claim counted them. */
  readonly bytes: number
}

/** A job in this executor's hands. */
export interface ClaimedJob extends Claimed {
  readonly kind: 'job'
  readonly rootId: number
  readonly attempt: number
  readonly queueName: string
  /** As the store wrote it: local queue id, settings hash, whether the request is kept apart. */
  readonly place: { readonly queue: string; readonly settingsHash: string; readonly isLarge: boolean }
  readonly createdAtMs: number
  readonly earlier: readonly AttemptSummary[]
  readonly request: JobRequest
  /** The chain's settings with the job's own overrides. */
  readonly settings: ChainSettings
}

/** A callback in this executor's hands: one try, no history. */
export interface ClaimedCallback extends Claimed {
  readonly kind: 'callback'
  readonly place: { readonly queue: string; readonly settingsHash: string; readonly isLarge: boolean }
  readonly callback: Callback
  readonly timeoutSeconds: number
}

/** A job or callback whose record cannot be read: it is not called but set aside. */
export interface DamagedWork extends Claimed {
  readonly kind: 'damaged'
  readonly place: { readonly queue: string; readonly settingsHash: string; readonly isLarge: boolean }
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
    }
  | { readonly type: 'callback_ended'; readonly work: ClaimedCallback }
  /** It does not run, and waits among the dead letters to be looked at. */
  | { readonly type: 'set_aside'; readonly work: DamagedWork }
  /** Not called, or cut short by our own stop or fault: back to the head of its queue, attempt kept. */
  | { readonly type: 'given_back'; readonly work: ClaimedWork }

/**
 * What one claim may take. Room is how many jobs of a team, or of a queue, it may take beside what is held of them:
 * with none its jobs are passed over.
 */
export interface ClaimGrant {
  /** Jobs at most, 1 to CLAIM_BATCH_MAX. */
  readonly slots: number
  /** Bytes of what is claimed at most. */
  readonly bytes: number
  /** By team, at most SHARE_ROOMS_MAX; the others have `otherTeamsRoom`. */
  readonly teamRooms: ReadonlyMap<string, number>
  readonly otherTeamsRoom: number
  /** By local id of the queue, at most SHARE_ROOMS_MAX; the others have `otherQueuesRoom`. */
  readonly queueRooms: ReadonlyMap<string, number>
  readonly otherQueuesRoom: number
}

export type ClaimAnswer =
  | {
      readonly status: 'claimed'
      readonly work: readonly ClaimedWork[]
      /** Queues that can still run in this shard. */
      readonly runnable: number
      /** When the next delayed job of the near set is due, by Redis time; null = none. */
      readonly nextDueMs: number | null
      /** Teams with ready jobs that were passed over for want of room, their own or a queue's; at most 16. */
      readonly heldBack: readonly string[]
      /** Of the largest job at the head of a queue that did not fit the bytes granted; null when each did. */
      readonly bytesWanted: number | null
    }
  /** This executor's lease is gone: nothing it holds is its own any more. */
  | { readonly status: 'lease_lost' }

/**
 * One executor's hold on one shard's jobs. At most one claim and one finish are under way at a time; both are resent
 * unchanged until answered. Throws StoreUnavailableError when Redis does not answer within `resendForMs`.
 */
export interface JobSource {
  readonly shard: number
  /** Makes or renews the lease. `held` = jobs Redis says this executor holds. */
  beat(register: boolean): Promise<{ status: 'ok'; held: number } | { status: 'lease_lost' }>
  claim(grant: ClaimGrant): Promise<ClaimAnswer>
  /** Ends a batch, in order: one answer each. `stale` = the job is no longer ours and nothing was changed. */
  finish(ends: readonly WorkEnd[]): Promise<ReadonlyArray<'done' | 'stale'>>
  /** Gives back what Redis says we hold and we do not know. Only while no claim is under way. */
  giveBackUnknown(known: ReadonlySet<number>): Promise<number>
  /** Gives back everything and ends the lease. */
  leave(): Promise<void>
  redisNowMs(): number
}

/** What a look at a shard shows without changing it. */
export interface ShardGlance {
  readonly runnable: boolean
  /** When `promote` is next needed, Unix ms by Redis time; null = nothing waits. */
  readonly nextDueMs: number | null
}

/** Work on a shard that any executor may do, and several at once without harm. */
export interface ShardMaintenance {
  readonly shard: number
  glance(): Promise<ShardGlance>
  /** Moves due jobs to their ready lists; answers when it is next needed. */
  promote(): Promise<{ moved: number; nextDueMs: number | null }>
  /** Takes jobs back from executors whose lease is past. */
  reap(): Promise<{ jobs: number; executors: number }>
  /**
   * Overdue jobs, retention, remains of deleted queues: a bounded piece of each. One that fails stops none of the
   * others; its fault is thrown at the end.
   */
  sweep(): Promise<{ isMore: boolean }>
}

/** Hints that a shard has something to claim; lossy, polling must suffice without them. */
export interface WakeHints {
  onWake(listener: (shard: number) => void): () => void
}
