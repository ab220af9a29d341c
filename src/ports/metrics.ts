import type { AlertResourceKind, AlertType } from '../domain/alerts/alert.ts'
import type { TraceContext } from '../domain/net/trace-context.ts'
import type { ThrottleReason } from '../domain/jobs/flow.ts'
import type { StopReason } from '../domain/jobs/queues/ready-split.ts'
import type { SetAsideKind } from '../domain/set-aside.ts'
import type { ChannelType } from '../domain/notifications/channel.ts'
import type { StoreServer } from './health.ts'
import type { LoopName } from './loops/loop-health.ts'
import type { MetQuota } from './quotas.ts'

/** How a claimed job left this executor. */
export type FinishOutcome =
  | 'success'
  | 'retrying'
  | 'failed_no_retries'
  | 'dead_lettered'
  /** Returned to its queue: not started, or cut short by our own shutdown. */
  | 'released'
  /** The job's lease was lost, so the result was refused. */
  | 'stale'

/** How a try to tell a channel ended. */
export type NotificationOutcome =
  | 'sent'
  /** It is tried again. */
  | 'retrying'
  /** It was given up. */
  | 'failed'
  /** Our own shutdown cut it short. */
  | 'aborted'
  /** It took longer than its lease, so another executor has taken over. */
  | 'stale'

/** Parts of the work that a defect of ours can stop without stopping the rest. */
export const DEFECT_PARTS = [
  /** A call was not made. */
  'call',
  /** A response could not be judged. */
  'judgement',
  /** The end of a job could not be made or written. */
  'end',
  /** A job ended without its callback. */
  'callback',
  /** A job ended without a record of its call. */
  'call_record',
  /** A maintenance window was left out. */
  'window',
  /** An alert was raised without what it should say, or not at all. */
  'alert',
  /** A step in Redis left something out that it could not write. */
  'step',
  /** Something beside the end of a job failed: a count, a time, a pause. */
  'aside',
] as const
export type DefectPart = (typeof DEFECT_PARTS)[number]

/** Metrics of the engine, `punctual_*`. Label values come from closed sets, never from users. */
export interface Metrics {
  jobsPushed(count: number): void
  /** Redis came back with less than it had answered. @param count jobs among that, which this process had accepted */
  jobsLost(count: number): void
  /** A push or a new cron that a quota refused. */
  refusedByQuota(quota: MetQuota): void
  /**
   * @param latenessMs Redis time of the claim minus `scheduled_at`
   * @param trace that of the job; undefined = none
   */
  jobStarted(latenessMs: number, trace?: TraceContext): void
  jobFinished(outcome: FinishOutcome, count: number): void
  /** A job was released because its claim was answered too late for the rate of its queue. */
  claimAnsweredLate(): void
  callbackFinished(outcome: 'delivered' | 'failed'): void
  /**
   * Sets what a scrape reads of the call slots of this process.
   * @param slots how many calls it makes at once
   * @param readBusy those in use
   */
  callSlots(slots: number, readBusy: () => number): void
  /** Sets how a scrape reads the number of shards whose lease this process holds. */
  shardsHeld(read: () => number): void
  leaseLost(): void
  clockJumped(direction: 'forward' | 'backward'): void
  /** How far the clock of Redis is behind where it was before it was set back; 0 = it is not. */
  clockBehind(seconds: number): void
  /** How far time is held ahead of a clock of Redis that was set back; 0 = it is not. */
  clockHeld(seconds: number): void
  callRecordsDropped(count: number): void
  /** Jobs and callbacks whose records were damaged, or whose ends could not be written. */
  jobsQuarantined(count: number): void
  /** An exception that is a defect of ours and stopped only this. */
  defectConfined(part: DefectPart): void
  /** Alerts that a step of this process raised, muted or not. */
  alertsRaised(type: AlertType, resource: AlertResourceKind, count: number): void
  /** One try to tell a channel, tests left out. */
  notificationTried(type: ChannelType, outcome: NotificationOutcome): void
  /** A channel gave up a message and was not failing before. */
  channelFailed(type: ChannelType): void
  /** Something was left out because of a defect; each is counted once for each reason. */
  setAside(kind: SetAsideKind): void
  /** A turn of a loop failed because of a defect. */
  loopFailed(loop: LoopName): void
  /** @param count loops of this name that fail turn after turn now */
  loopsFailing(loop: LoopName, count: number): void
  /** One round trip of a step: `enqueue`, `claim`, `finish`, … */
  redisStep(step: string, seconds: number, ok: boolean): void
}

/** Why a watch ended. `silent`: no byte for too long. `expired`: its resource version is too old; a list follows. */
export type WatchEnd = 'closed' | 'silent' | 'expired' | 'failed'

/** Metrics of the Kubernetes API client, `punctual_kube_*`. */
export interface ClusterMetrics {
  /**
   * One request; a retry is another.
   * @param verb the HTTP method, or WATCH for the start of a watch
   * @param code the status code, null when there was no response
   */
  requestEnded(verb: string, code: number | null, seconds: number): void
  /** @param resource the plural name of the kind */
  watchEnded(resource: string, end: WatchEnd): void
  /**
   * A list was answered, or a watch received anything at all.
   * @param namespace null = all
   */
  watchHeard(resource: string, namespace: string | null): void
}

/** Metrics of the Redis servers, `punctual_redis_*`, by roles that look at them. */
export interface RedisMetrics {
  /** All primaries, as they were last seen. A server that is not among them any more is forgotten. */
  serversSeen(servers: readonly StoreServer[]): void
}

/** Metrics of the requests to the API, `punctual_http_*`. */
export interface RequestMetrics {
  /**
   * A request ended. Costs nothing but arithmetic: every push passes here.
   * @param route its template, such as `/api/jobs/{job_id}`
   * @param code null = there was no response, as the client had left
   * @param seconds null = how long it took says nothing, as of a stream
   * @param trace what it belongs to, if that is recorded; undefined = nothing
   */
  answered(
    method: string,
    route: string,
    code: number | null,
    seconds: number | null,
    trace?: TraceContext,
  ): void
  /** A push was refused because more come than the process can take. */
  pushShed(): void
}

/** Metrics of the controller about resources and the engine, `punctual_*`. */
export interface ControllerMetrics {
  /** Redis turned out to hold other data, or an older copy of its own. */
  engineLost(reason: 'EngineLost' | 'EngineRestored'): void
  /** Whether this process leads and held a leader epoch of the engine at the last check. */
  engineHeld(isHeld: boolean): void
  /** A deleted resource was released although the engine did not respond: its queue may still exist. */
  queueLeftBehind(): void
  /** Counts like `queueLeftBehind`, for a cron, which keeps ticking. */
  cronLeftBehind(): void
  /** Queues without a resource; above a bound they are not removed. */
  orphanQueues(count: number): void
  /** Crons without a resource; above a bound they are not removed. */
  orphanCrons(count: number): void
  /** Crons that are not applied because they exceed a quota of their team. */
  cronsOverQuota(count: number): void
  /** Pushed queues that get no resource because their namespace has too many; a lower bound if there are very many. */
  pushedQueuesWaiting(count: number): void
  /** Another process may lead and count from now on. */
  leadingEnded(): void
  /** The jobs of all queues with a resource were counted. */
  queuesCounted(): void
  /** Queues with a resource that may not begin jobs, at the last count. */
  queuesThrottled(counts: Readonly<Record<ThrottleReason, number>>): void
  /** What the queues with a resource held at the last count. */
  readyJobsCounted(counts: ReadyCounts): void
  statusWritten(kind: 'HttpQueue' | 'HttpCron' | 'TeamSettings' | 'ApiToken' | 'MaintenanceWindow'): void
}

/** Ready jobs that only wait for a slot of an executor, those that something else keeps, and the age of the oldest of the former. */
export interface ReadyCounts {
  readonly startable: number
  readonly stopped: Readonly<Record<StopReason, number>>
  /** 0 = there is none. */
  readonly oldestStartableMs: number
}

/** How a reconcile ended. `requeued`: successfully, with a time for the next one. */
export type ReconcileResult = 'success' | 'requeued' | 'conflict' | 'error'

export type QueuePriority = 'high' | 'low'

/**
 * Metrics of reconcilers and workqueues, under the names of controller-runtime with our prefix, so that its dashboards
 * can be adapted. There is one controller for each kind.
 */
export interface ReconcileMetrics {
  reconciled(controller: string, result: ReconcileResult, seconds: number): void
  /** Keys in the workqueue now. */
  queueDepth(controller: string, priority: QueuePriority, keys: number): void
  keyAdded(controller: string): void
  /** A key was added again because its reconcile failed. */
  keyRetried(controller: string): void
  /** How long a key waited for a worker. */
  keyWaited(controller: string, seconds: number): void
  workersActive(controller: string, workers: number): void
  leading(isLeading: boolean): void
  /** Kubernetes events that were discarded: too many were waiting, or the API server refused them. */
  eventsDropped(count: number): void
}

/** Metrics of the number of executors, `punctual_*`; only from the process that scales them. */
export interface ScalingMetrics {
  /**
   * @param desired the replicas in the Deployment's scale
   * @param current pods that exist
   * @param ready pods that can make calls
   */
  executorReplicas(desired: number, current: number, ready: number): void
  /** @param isActive the number of executors follows the work */
  scalingActive(isActive: boolean): void
  /** @param isLimited more executors are needed than are allowed */
  scalingLimited(isLimited: boolean): void
  /** Another process may scale from now on: this one's values are no longer exported. */
  scalingEnded(): void
}
