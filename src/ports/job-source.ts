import type { AttemptEnd } from '../domain/jobs/attempt-end.ts'
import type { Callback } from '../domain/jobs/callback.ts'
import type { AttemptSummary, CallRecord, JobRequest } from '../domain/jobs/job.ts'
import type { ChainSettings } from '../domain/jobs/queue-settings.ts'

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
export interface ShardUpkeep {
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
