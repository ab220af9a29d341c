import type { MetQuota } from './quotas.ts'

/** How a claimed job left this executor. */
export type FinishOutcome =
  | 'success'
  | 'retrying'
  | 'failed_no_retries'
  | 'dead_lettered'
  /** Given back unstarted or cut short by our own shutdown. */
  | 'released'
  /** The lease was gone: the result was refused. */
  | 'stale'

/** What the engine counts, as `punctual_*`. Label values come from closed sets, never from users. */
export interface Metrics {
  jobsPushed(count: number): void
  /** A push or a new cron that a quota refused. */
  refusedByQuota(quota: MetQuota): void
  /** @param latenessMs Redis time of the claim minus `scheduled_at` */
  jobStarted(latenessMs: number): void
  jobFinished(outcome: FinishOutcome, count: number): void
  callbackFinished(outcome: 'delivered' | 'failed'): void
  /** Where this process's room in use for calls is read from, whenever the metrics are. */
  callsInFlight(read: () => number): void
  /** Where the number of shards whose lease this process holds is read from, whenever the metrics are. */
  shardsHeld(read: () => number): void
  leaseLost(): void
  clockJumped(direction: 'forward' | 'backward'): void
  callRecordsDropped(count: number): void
  /** Jobs and callbacks whose records were damaged. */
  jobsQuarantined(count: number): void
  /** One round trip of a step: `enqueue`, `claim`, `finish`, … */
  redisStep(step: string, seconds: number, ok: boolean): void
}

/** Why a watch ended. `silent`: no byte for too long. `expired`: its version is too old, a list follows. */
export type WatchEnd = 'closed' | 'silent' | 'expired' | 'failed'

/** What is counted about talking to the Kubernetes API, as `punctual_kube_*`. */
export interface ClusterMetrics {
  /**
   * One request as sent, retries apart.
   * @param verb the HTTP method, or WATCH until its answer begins
   * @param code the answer's status, null when none came
   */
  requestEnded(verb: string, code: number | null, seconds: number): void
  /** @param resource the plural name of the kind */
  watchEnded(resource: string, end: WatchEnd): void
  /**
   * A list was answered, or a watch sent anything at all.
   * @param namespace null = all
   */
  watchHeard(resource: string, namespace: string | null): void
}

/** What the controller counts about resources and engine, as `punctual_*`. */
export interface ControllerMetrics {
  /** The engine was found to be another, or an older copy. */
  engineLost(reason: 'EngineLost' | 'EngineRestored'): void
  /** Whether this process leads and holds an epoch of the engine, as looked at last. */
  engineHeld(isHeld: boolean): void
  /** A deleted resource was let go although the engine did not answer: its queue may be left in it. */
  queueLeftBehind(): void
  /** As `queueLeftBehind`, of a cron, which ticks on. */
  cronLeftBehind(): void
  /** Queues in force whose resource is gone; above the bound they are left alone. */
  orphanQueues(count: number): void
  /** As `orphanQueues`, of crons. */
  orphanCrons(count: number): void
  /** Crons that are not in force, as their teams have too many or too large ones. */
  cronsOverQuota(count: number): void
  /** Pushed queues that stay without a resource, as their namespace has too many; of very many, those seen last. */
  pushedQueuesWaiting(count: number): void
  /** The jobs of all queues with a resource were counted once more. */
  queuesCounted(): void
  statusWritten(kind: 'HttpQueue' | 'HttpCron' | 'TeamSettings' | 'ApiToken'): void
}

/** How one turn of a reconciler ended. `requeued`: well, with a time to look again. */
export type ReconcileResult = 'success' | 'requeued' | 'conflict' | 'error'

export type QueuePriority = 'high' | 'low'

/**
 * What the operator counts about its own work, under the names of controller-runtime with our prefix, so that its
 * dashboards carry over. Controllers are a closed set, one a kind.
 */
export interface ReconcileMetrics {
  reconciled(controller: string, result: ReconcileResult, seconds: number): void
  /** Keys in line now. */
  queueDepth(controller: string, priority: QueuePriority, keys: number): void
  keyAdded(controller: string): void
  /** A turn that failed is tried again. */
  keyRetried(controller: string): void
  /** From the line to a worker. */
  keyWaited(controller: string, seconds: number): void
  workersActive(controller: string, workers: number): void
  leading(isLeading: boolean): void
  /** Events for people that were not kept: too many waiting, or refused by the API server. */
  eventsDropped(count: number): void
}

/** What is counted about the number of executors, as `punctual_*`; only by the process that scales them. */
export interface ScalingMetrics {
  /**
   * @param desired as written in the Deployment's scale
   * @param current pods that exist
   */
  executorReplicas(desired: number, current: number): void
  /** @param isActive the number follows the work */
  scalingActive(isActive: boolean): void
  /** @param isLimited more executors are wanted than are allowed */
  scalingLimited(isLimited: boolean): void
  /** Another process may scale from here on: what this one knew is no longer told. */
  scalingEnded(): void
}
