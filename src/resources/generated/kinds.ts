// Generated from crds/ by `npm run generate`: change those files, not this one.
/**
 * The token by its hash; the token itself is nowhere kept.
 */
export interface ApiTokenSpec {
  /**
   * SHA-256 of the token, in hex digits of lower case.
   */
  readonly sha256: string
  /**
   * Who uses the token, for people.
   */
  readonly description?: string
}
/**
 * One side of what a resource is, as Kubernetes writes it.
 */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}
/**
 * Whether the token is taken; written by Punctual.
 */
export interface ApiTokenStatus {
  /**
   * The metadata.generation that the status speaks of; -1 = none yet.
   */
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
}
/**
 * One header.
 */
export interface HeaderSpec {
  readonly name: string
  readonly value: string
}
/**
 * A condition on the response.
 */
export interface AssertionSpec {
  readonly type: 'StatusCodeEquals' | 'BodyContains' | 'ResponseTimeUnderMs'
  /**
   * A number, or for BodyContains a text.
   */
  readonly value: number | string
}
/**
 * What the cron is to do, and when.
 */
export interface HttpCronSpec {
  /**
   * The name people see. Without it, metadata.name. Need not be unique.
   */
  readonly displayName?: string
  /**
   * Where the request goes.
   */
  readonly url: string
  /**
   * Method of the request.
   */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * Headers of the request.
   */
  readonly headers: readonly HeaderSpec[]
  /**
   * Body of the request, sent exactly as written.
   */
  readonly payload?: string
  /**
   * Told how each run ended.
   */
  readonly callbackUrl?: string
  /**
   * Five fields, namely minute, hour, day of month, month and day of week.
   */
  readonly cronExpression: string
  /**
   * The IANA time zone that the expression is read in.
   */
  readonly timeZone: string
  /**
   * false pauses the cron; a run in flight ends normally.
   */
  readonly active: boolean
  /**
   * Forbid skips a tick while a run of the cron has not ended.
   */
  readonly concurrencyPolicy: 'Allow' | 'Forbid'
  /**
   * Of ticks missed while nothing ran, Latest makes up for the last one, All for up to 100, Skip for none.
   */
  readonly missedRunPolicy: 'Latest' | 'Skip' | 'All'
  /**
   * A tick that could not start for this long is missed for good; without it none is, with Skip one of over 60 s.
   */
  readonly startingDeadlineSeconds?: number
  /**
   * Over how long crons are spread after their tick; each keeps its own spread.
   */
  readonly jitterSeconds: number
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without it, the next tick is the retry.
   */
  readonly queue?: string
  /**
   * For the whole call, from DNS to the last byte of the body.
   */
  readonly timeoutSeconds: number
  /**
   * Must all hold, beside a 2xx status, for a call to succeed.
   */
  readonly successAssertions: readonly AssertionSpec[]
  /**
   * So many failures in a row raise a failure alert. Kept for the alerts to come; this version raises none.
   */
  readonly alertThreshold: number
}
/**
 * What the cron does; written by Punctual.
 */
export interface HttpCronStatus {
  /**
   * The metadata.generation that the status speaks of; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * The id of the API.
   */
  readonly id?: number
  /**
   * When it runs next, which is a tick and the cron's spread; without one, none comes.
   */
  readonly nextRunTime?: string
  /**
   * The newest tick; or of a newer run by hand, when it was asked for.
   */
  readonly lastRunTime?: string
  /**
   * What became of that tick or run.
   */
  readonly lastRunResult?: 'Running' | 'Succeeded' | 'Failed' | 'Skipped' | 'Missed'
  /**
   * The tick of the newest run that succeeded; of one by hand, when it was asked for.
   */
  readonly lastSuccessTime?: string
  /**
   * Runs that failed since the last one that succeeded.
   */
  readonly consecutiveFailures?: number
  readonly conditions?: readonly Condition[]
}
/**
 * What the queue is to be.
 */
export interface HttpQueueSpec {
  /**
   * The name jobs are pushed to. Without it, metadata.name. Cannot be changed.
   */
  readonly queueName?: string
  /**
   * false pauses the queue; calls in flight end normally.
   */
  readonly active: boolean
  /**
   * For the whole call, from DNS to the last byte of the body.
   */
  readonly timeoutSeconds: number
  /**
   * false lets a job fail for good at its first failure.
   */
  readonly retriesEnabled: boolean
  /**
   * Seconds to wait before each retry; their count is the number of retries.
   */
  readonly retryDelays: readonly number[]
  /**
   * Must all hold, beside a 2xx status, for a call to succeed.
   */
  readonly successAssertions: readonly AssertionSpec[]
  /**
   * Kept for the alerts to come; this version raises none.
   */
  readonly alertsEnabled: boolean
  /**
   * Calls in flight at once; without it, as many as the executors can make.
   */
  readonly maxParallelism?: number
  /**
   * How long dead letters are kept.
   */
  readonly dlqRetentionDays: 3 | 7 | 14 | 30
  /**
   * Terminal calls back when a job has ended for good, EveryAttempt after each attempt too.
   */
  readonly callbackEvents: 'Terminal' | 'EveryAttempt'
  /**
   * Kept for strict parallelism to come; this version ignores it.
   */
  readonly strictParallelism: boolean
}
/**
 * Jobs of the queue, a while ago.
 */
export interface JobCounts {
  /**
   * Ready to start.
   */
  readonly pending: number
  /**
   * Waiting for their time.
   */
  readonly delayed: number
  /**
   * In flight.
   */
  readonly processing: number
  /**
   * In the dead-letter queue.
   */
  readonly dead: number
}
/**
 * What the queue is; written by Punctual.
 */
export interface HttpQueueStatus {
  /**
   * The metadata.generation that the status speaks of; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * The queue_id of the API.
   */
  readonly queueId?: number
  readonly counts?: JobCounts
  /**
   * When the job that has waited longest became ready; without one, none is ready.
   */
  readonly oldestReadyTime?: string
  readonly conditions?: readonly Condition[]
}
/**
 * The one queue or cron that is meant. Without it, all of the namespace.
 */
export interface ResourceRef {
  readonly kind: 'HttpQueue' | 'HttpCron'
  /**
   * The name jobs are pushed to for a queue, metadata.name for a cron.
   */
  readonly name: string
}
/**
 * One rhythm.
 */
export interface RecurringSpec {
  /**
   * Five fields, namely minute, hour, day of month, month and day of week.
   */
  readonly cronExpression: string
  /**
   * The IANA time zone that the expression is read in.
   */
  readonly timeZone: string
  /**
   * How long the window stays open.
   */
  readonly durationSeconds: number
}
/**
 * When the window is open, and for what. Either start and end, or recurring.
 */
export interface MaintenanceWindowSpec {
  readonly resource?: ResourceRef
  /**
   * When a window that comes once opens.
   */
  readonly start?: string
  /**
   * When a window that comes once closes.
   */
  readonly end?: string
  /**
   * When a window that recurs opens, and for how long.
   */
  readonly recurring?: readonly RecurringSpec[]
  /**
   * Why, for people.
   */
  readonly reason?: string
}
/**
 * Whether the window is open; written by Punctual.
 */
export interface MaintenanceWindowStatus {
  /**
   * The metadata.generation that the status speaks of; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * Whether alerts are kept back now.
   */
  readonly open?: boolean
  /**
   * When it opens next; without it, never again.
   */
  readonly nextStartTime?: string
  /**
   * When it closes, while it is open.
   */
  readonly endTime?: string
  readonly conditions?: readonly Condition[]
}
/**
 * Names one value of a Secret of the same namespace.
 */
export interface SecretRef {
  /**
   * Name of a Secret in the same namespace.
   */
  readonly name: string
  /**
   * Key in that Secret.
   */
  readonly key: string
}
/**
 * What is to hold for the team.
 */
export interface TeamSettingsSpec {
  /**
   * Signatures of outgoing requests.
   */
  readonly signing: {
    /**
     * Where the signing secrets are; newest first, two during a rotation.
     */
    readonly secretRefs: readonly SecretRef[]
  }
  /**
   * What the team's jobs may reach beyond public addresses.
   */
  readonly egress: {
    /**
     * CIDR blocks (10.0.0.0/8) and host suffixes (svc.cluster.local).
     */
    readonly allow: readonly string[]
  }
  /**
   * What the team may hold at most; the installation's quotas count beside these. 0 allows nothing.
   */
  readonly quotas: {
    /**
     * Jobs that have not ended, waiting or in flight.
     */
    readonly pendingJobs?: number
    /**
     * Bytes of jobs, dead letters, finished chains and call records.
     */
    readonly storedBytes?: number
    /**
     * Queues.
     */
    readonly queues?: number
    /**
     * Crons.
     */
    readonly crons?: number
    /**
     * Calls at once, over all executors.
     */
    readonly callsInFlight?: number
    /**
     * Jobs of a calendar month, UTC; retries are not counted.
     */
    readonly jobsPerMonth?: number
  }
}
/**
 * What is in force; written by Punctual.
 */
export interface TeamSettingsStatus {
  /**
   * The metadata.generation that the status speaks of; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * In force, the lower of the team's own and the installation's; what is left out is not bounded.
   */
  readonly quotas?: {
    /**
     * Queues.
     */
    readonly queues?: number
    /**
     * Crons.
     */
    readonly crons?: number
    /**
     * Jobs that have not ended, waiting or in flight.
     */
    readonly pendingJobs?: number
    /**
     * Bytes of jobs, dead letters, finished chains and call records.
     */
    readonly storedBytes?: number
    /**
     * Jobs of a calendar month, UTC; retries are not counted.
     */
    readonly jobsPerMonth?: number
    /**
     * Calls at once, over all executors.
     */
    readonly callsInFlight?: number
  }
  /**
   * What the team holds, a while ago.
   */
  readonly usage?: {
    /**
     * Queues.
     */
    readonly queues: number
    /**
     * Crons.
     */
    readonly crons: number
    /**
     * Jobs that have not ended, waiting or in flight.
     */
    readonly pendingJobs: number
    /**
     * Bytes of jobs, dead letters, finished chains and call records.
     */
    readonly storedBytes: number
    /**
     * Jobs of this calendar month, UTC; retries are not counted.
     */
    readonly jobsPerMonth: number
    /**
     * Calls being made, over all executors.
     */
    readonly callsInFlight: number
  }
  readonly conditions?: readonly Condition[]
}
