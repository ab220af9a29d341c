import type { FailureReason } from '../domain/jobs/job.ts'
import type { Throttle } from '../domain/jobs/flow.ts'
import type { ReadySplit } from '../domain/jobs/queues/ready-split.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import type { Tally } from '../domain/statistics/tally.ts'

export interface QueueCounts {
  /** Ready to start. */
  readonly pending: number
  /** Jobs that are not due yet. */
  readonly delayed: number
  readonly processing: number
  /** Jobs in the dead-letter queue. */
  readonly dead: number
}

export interface Queue {
  readonly queueId: number
  readonly team: string
  readonly name: string
  readonly settings: QueueSettings
  readonly counts: QueueCounts
  /** null = its jobs begin as slots allow. */
  readonly throttle: Throttle | null
}

/** The queues in Redis. Throws StoreUnavailableError. */
export interface QueueStore {
  get(team: string, queueId: number): Promise<Queue | null>
  getByName(team: string, name: string): Promise<Queue | null>
  /** Creates the queue or changes its settings; new jobs use them, existing chains keep theirs. */
  apply(team: string, name: string, settings: QueueSettings): Promise<{ queueId: number }>
  /**
   * Lets the queue call its target again at once, whatever the target or its breaker has asked for; a rate limit stays.
   * @returns false when it does not exist
   */
  unthrottle(team: string, queueId: number): Promise<boolean>
  /** Removes the queue and all its jobs, in constant time. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/** Edits by users. An edit changes the resource, where there is one, so that resource and Redis agree. */
export interface QueueEditor {
  /**
   * Makes a queue that does not exist, with the default settings but for those given.
   * @returns 'exists' when there is one of this name, or is about to be
   */
  create(team: string, name: string, settings: Partial<QueueSettings>): Promise<Queue | 'exists'>
  /**
   * The edited queue; null when it does not exist.
   * @param check called with the settings that the edit changes, again when others change them before it is written; what
   * it throws refuses the edit; without it nothing keeps others from changing them meanwhile
   */
  edit(
    team: string,
    queueId: number,
    change: Partial<QueueSettings>,
    check?: (current: QueueSettings) => void,
  ): Promise<Queue | null>
  remove(team: string, queueId: number): Promise<'removed' | 'not_found'>
}

export interface QueueRef {
  readonly team: string
  readonly name: string
}

export interface QueueStatsEntry extends QueueRef {
  readonly queueId: number
  readonly counts: QueueCounts
  /** How long the oldest ready job has been due, ms; null = none is ready. */
  readonly oldestReadyMs: number | null
  readonly split: ReadySplit
  /** Last time one of its chains failed for good, and why, with or without a dead letter; null = none yet. */
  readonly lastFailure: LastFailure | null
  /** Jobs that Redis came back without within a day; null = none that is known. */
  readonly lostJobs: NotedLoss | null
  /** null = its jobs begin as slots allow. */
  readonly throttle: Throttle | null
}

export interface NotedLoss {
  readonly count: number
  /** When the first and the last of them were accepted, Redis time, Unix ms. */
  readonly fromMs: number
  readonly toMs: number
  /** For how long it has been known. */
  readonly ageMs: number
}

export interface LastFailure {
  /** Redis time, Unix ms. */
  readonly atMs: number
  readonly ageMs: number
  readonly reason: FailureReason
}

/** Reads many queues at once, cheaply. Throws StoreUnavailableError. */
export interface QueueStats {
  /** Answers in the order asked, at most 10,000 at once; null where the queue does not exist. */
  count(places: readonly QueueRef[]): Promise<ReadonlyArray<QueueStatsEntry | null>>
  /**
   * Queues that were created by a push and have no resource yet: at most `limit`, in no order, and a different
   * selection each time when there are more. The cost does not depend on how many queues exist.
   */
  pushed(limit: number): Promise<{ readonly queues: readonly QueueRef[]; readonly isMore: boolean }>
  /**
   * Pages through every queue; rarely one appears twice. A null cursor ends it. A controller uses it at start to find
   * queues whose resource disappeared meanwhile: those not created by a push. A queue of unknown origin counts as pushed.
   */
  page(cursor: string | null): Promise<{
    readonly queues: readonly (QueueRef & { readonly isPushed: boolean })[]
    readonly cursor: string | null
  }>
}

/** The work waiting for executors, over all shards. */
export interface Backlog {
  /** Jobs and callbacks that could start now: their queue is active, not held and has a free slot, and no quota of their team is met. */
  readonly ready: number
  /** Calls in progress. */
  readonly inFlight: number
  /** Calls that queue limits and team quotas would allow at once: those in flight plus the ready jobs with a free slot. */
  readonly usable: number
  /** Delayed jobs, retries, ticks, notifications and bulks due within the horizon. A minute that the horizon reaches counts as a whole. */
  readonly dueSoon: number
  /** Time until the next delayed work is due, ms, up to a minute short; null = nothing is delayed. */
  readonly nextDueInMs: number | null
  /** Age of the oldest ready job that could start, ms; null = none. */
  readonly oldestReadyMs: number | null
  /** Calls in flight by executor name (the pod's name on Kubernetes). */
  readonly held: ReadonlyMap<string, number>
}

/**
 * Samples a bounded part of each shard and extrapolates; idle queues cost nothing. Throws StoreUnavailableError.
 * @param horizonMs at most 120,000
 * @param callQuotaOf calls that a team may have in flight, null = unlimited; work beyond the quota is not counted
 */
export interface BacklogReader {
  read(horizonMs: number, callQuotaOf?: (team: string) => number | null): Promise<Backlog>
}

/** Counts by the minute; minutes in which nothing happened are missing. Throws StoreUnavailableError. */
export interface StatisticsReader {
  /** @param sinceMs of the first minute, Unix ms @returns by minutes since 1970 */
  ofTeam(team: string, sinceMs: number): Promise<ReadonlyMap<number, Tally>>
  /** null when the team has no such queue. */
  ofQueue(team: string, queueId: number, sinceMs: number): Promise<ReadonlyMap<number, Tally> | null>
}
