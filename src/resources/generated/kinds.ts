// Generated from definitions/ by `npm run generate`: change those files, not this one.
/**
 * The token, by its hash; the token itself is stored nowhere.
 */
export interface ApiTokenSpec {
  /**
   * SHA-256 of the token, in hex digits of lower case.
   */
  readonly sha256: string
  /**
   * Who uses the token.
   */
  readonly description?: string
  /**
   * The first characters of the token, by which people tell it from others.
   */
  readonly prefix?: string
  /**
   * What the token may do. Without them, everything.
   */
  readonly scopes?: ('Push' | 'Read' | 'Operate' | 'Admin')[]
  /**
   * The names of the only queues that the token may use and see. Without them, all.
   */
  readonly queues?: readonly string[]
  /**
   * From then on the token is refused.
   */
  readonly expiresAt?: string
  /**
   * How often the token may be used. Without it, as often as wanted.
   */
  readonly rateLimit?: {
    /**
     * Requests per second in the long run.
     */
    readonly requestsPerSecond: number
    /**
     * Requests that may come at once; as many as per second when absent.
     */
    readonly burst?: number
    /**
     * The rate limits of the tokens that made this one, outermost first, which its requests count for as well.
     *
     * Items: The rate limit of another token.
     */
    readonly sharedWith?: {
      /**
       * The name of that token.
       */
      readonly name: string
      /**
       * Requests per second in the long run, of all that share it.
       */
      readonly requestsPerSecond: number
      /**
       * Requests that may come at once, of all that share it.
       */
      readonly burst: number
    }[]
  }
}
/**
 * A condition in the form of Kubernetes.
 */
export interface Condition {
  /**
   * Which of them.
   */
  readonly type: string
  /**
   * Whether it is true; Unknown while Redis cannot be written to.
   */
  readonly status: 'True' | 'False' | 'Unknown'
  /**
   * The metadata.generation that it is about.
   */
  readonly observedGeneration?: number
  /**
   * When status last changed.
   */
  readonly lastTransitionTime: string
  /**
   * Why, in one word that stays the same between versions.
   */
  readonly reason: string
  /**
   * Why, in words.
   */
  readonly message: string
}
/**
 * Whether the token is accepted; written by Punctual.
 */
export interface ApiTokenStatus {
  /**
   * The metadata.generation that the status describes; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * What is true of it: Ready (the API takes the token), Stalled (the spec has to change), Reconciling (tried again by itself).
   */
  readonly conditions?: readonly Condition[]
}
/**
 * One header.
 */
export interface HeaderSpec {
  /**
   * Its name; upper and lower case are the same.
   */
  readonly name: string
  /**
   * Its value.
   */
  readonly value?: string
  /**
   * Where the value is; only executors get to know it.
   */
  readonly valueFrom?: {
    /**
     * One value of a Secret in the same namespace, of type punctual.dev/header-secret or with the label punctual.dev/secret=header.
     */
    readonly secretKeyRef: {
      /**
       * Name of a Secret in the same namespace.
       */
      readonly name: string
      /**
       * Key in that Secret.
       */
      readonly key: string
    }
  }
}
/**
 * One value of a Secret in the same namespace.
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
 * A condition on the response.
 */
export interface AssertionSpec {
  /**
   * What is compared. StatusCodeEquals outside 200 to 299 can never hold.
   */
  readonly type: 'StatusCodeEquals' | 'BodyContains' | 'ResponseTimeUnderMs'
  /**
   * A number, or for BodyContains a text.
   */
  readonly value: number | string
}
/**
 * What the cron does, and when.
 */
export interface HttpCronSpec {
  /**
   * Display name; metadata.name when absent. Need not be unique.
   */
  readonly displayName?: string
  /**
   * The URL to call.
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
   * Receives a POST when a run has ended.
   */
  readonly callbackUrl?: string
  /**
   * Five fields of minute, hour, day of month, month and day of week.
   */
  readonly cronExpression: string
  /**
   * The IANA time zone of the expression.
   */
  readonly timeZone: string
  /**
   * false pauses the cron; a run in flight ends normally.
   */
  readonly active: boolean
  /**
   * Forbid skips a tick while the previous run has not ended.
   */
  readonly concurrencyPolicy: 'Allow' | 'Forbid'
  /**
   * Which ticks that were missed while nothing ran are run later. Latest is the last one, All up to 100, Skip none.
   */
  readonly missedRunPolicy: 'Latest' | 'Skip' | 'All'
  /**
   * A tick that could not start within this time is missed for good. Without it no tick is too late, or with Skip one over 60 s.
   */
  readonly startingDeadlineSeconds?: number
  /**
   * Delays runs by up to this long, to spread crons; each cron keeps its own spread.
   */
  readonly jitterSeconds: number
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without it, the next tick is the retry.
   */
  readonly queue?: string
  /**
   * Signatures of the calls of this cron alone; its callbacks have those of the team.
   */
  readonly signing: {
    /**
     * Signing secrets in place of the team's, newest first; two during a rotation. None means the team's.
     */
    readonly secretRefs: readonly SecretRef[]
  }
  /**
   * Timeout of the whole call, from DNS to the last byte of the body.
   */
  readonly timeoutSeconds: number
  /**
   * Must all pass, in addition to a 2xx status, for a call to succeed.
   */
  readonly successAssertions: readonly AssertionSpec[]
  /**
   * Failures in a row that raise a failure alert; each one before them raises a warning.
   */
  readonly alertThreshold: number
  /**
   * What call records keep of what the target answers. None keeps the status and no header and no body. All is as the queue says.
   */
  readonly recordResponses: 'All' | 'None'
}
/**
 * The state of the cron; written by Punctual.
 */
export interface HttpCronStatus {
  /**
   * The metadata.generation that the status describes; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * The id of the API.
   */
  readonly id?: number
  /**
   * When it runs next, the tick plus the cron's spread; absent when it never runs again.
   */
  readonly nextRunTime?: string
  /**
   * The newest tick, or the time of the request for a newer manual run.
   */
  readonly lastRunTime?: string
  /**
   * The result of that tick or run.
   */
  readonly lastRunResult?: 'Running' | 'Succeeded' | 'Failed' | 'Skipped' | 'Missed'
  /**
   * The tick of the newest run that succeeded, or the time of the request for a manual run.
   */
  readonly lastSuccessTime?: string
  /**
   * Runs that failed since the last one that succeeded.
   */
  readonly consecutiveFailures?: number
  /**
   * The newest run that failed; absent before the first, and kept when later runs succeed.
   */
  readonly lastFailure?: {
    /**
     * Its tick, or the time of the request for a manual run.
     */
    readonly time: string
    /**
     * Its failure_reason in the API.
     */
    readonly reason: string
  }
  /**
   * What is true of it: Ready (the settings are applied), Scheduled (it ticks), Failing (its runs fail, as many in a row as alertThreshold says), CanSucceed (False where an assertion can never hold), QueueFound (whether the queue that it names exists), Stalled (the spec has to change), Reconciling (tried again by itself).
   */
  readonly conditions?: readonly Condition[]
}
/**
 * The settings of the queue.
 */
export interface HttpQueueSpec {
  /**
   * The name that jobs are pushed to; metadata.name when absent. Cannot be changed.
   */
  readonly queueName?: string
  /**
   * false pauses the queue; calls in flight end normally.
   */
  readonly active: boolean
  /**
   * true refuses new jobs; what the queue has runs off, with retries and callbacks.
   */
  readonly draining: boolean
  /**
   * Signatures of the calls of this queue alone; its callbacks have those of the team.
   */
  readonly signing: {
    /**
     * Signing secrets in place of the team's, newest first; two during a rotation. None means the team's.
     */
    readonly secretRefs: readonly SecretRef[]
  }
  /**
   * Timeout of the whole call, from DNS to the last byte of the body.
   */
  readonly timeoutSeconds: number
  /**
   * With false, a job that fails is not retried.
   */
  readonly retriesEnabled: boolean
  /**
   * Seconds to wait before each retry; their count is the number of retries.
   */
  readonly retryDelays: readonly number[]
  /**
   * Statuses after which a job is not retried, as if its retries were used up.
   */
  readonly noRetryStatuses: readonly number[]
  /**
   * Each retry delay is lengthened at random by up to this part of it.
   */
  readonly retryJitterPercent: number
  /**
   * Must all pass, in addition to a 2xx status, for a call to succeed.
   */
  readonly successAssertions: readonly AssertionSpec[]
  /**
   * Whether jobs that fail, and limits that are near, raise alerts.
   */
  readonly alertsEnabled: boolean
  /**
   * Calls in flight at once; unlimited when absent.
   */
  readonly maxParallelism?: number
  /**
   * At most so many calls begin in any span of the period; as fast as slots allow when absent.
   */
  readonly rateLimit?: {
    /**
     * Calls in a period, retries and replays included.
     */
    readonly limit: number
    /**
     * The period.
     */
    readonly periodSeconds: number
  }
  /**
   * true lets Retry-After of a 429 or 503 keep the whole queue waiting, a day at most.
   */
  readonly respectRetryAfter: boolean
  /**
   * Stops beginning jobs for a while when their target fails; when absent it is called all the same.
   */
  readonly circuitBreaker?: {
    /**
     * How many of the attempts have to fail by a timeout, the connection, DNS, TLS or a 5xx.
     */
    readonly failurePercent: number
    /**
     * With fewer attempts in the window it never opens.
     */
    readonly minCalls: number
    /**
     * How far back attempts count.
     */
    readonly windowSeconds: number
    /**
     * How long no job begins; longer after each probe that fails, and at most 15 minutes.
     */
    readonly openSeconds: number
  }
  /**
   * How long dead letters are kept.
   */
  readonly dlqRetentionDays: 3 | 7 | 14 | 30
  /**
   * Terminal calls back when the chain has ended, EveryAttempt after each attempt too.
   */
  readonly callbackEvents: 'Terminal' | 'EveryAttempt'
  /**
   * What call records keep of what targets answer. None keeps the status and no header and no body.
   */
  readonly recordResponses: 'All' | 'None'
  /**
   * Stored for future strict parallelism; this version ignores it.
   */
  readonly strictParallelism: boolean
}
/**
 * Jobs of the queue, some seconds old.
 */
export interface JobCounts {
  /**
   * Ready to start.
   */
  readonly pending: number
  /**
   * Not due yet.
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
 * The state of the queue; written by Punctual.
 */
export interface HttpQueueStatus {
  /**
   * The metadata.generation that the status describes; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * The queue_id of the API.
   */
  readonly queueId?: number
  readonly counts?: JobCounts
  /**
   * When the ready job that has waited longest became ready; absent when none is ready.
   */
  readonly oldestReadyTime?: string
  /**
   * Why the queue may not begin jobs for a while; absent while it may.
   */
  readonly throttled?: {
    /**
     * The reason in throttled of the API.
     */
    readonly reason: string
    /**
     * When the next job may begin; absent while one job tries the target.
     */
    readonly until?: string
  }
  /**
   * The newest job that failed for good, as dead letters have; absent before the first.
   */
  readonly lastFailure?: {
    /**
     * When it failed, within a minute.
     */
    readonly time: string
    /**
     * Its failure_reason in the API.
     */
    readonly reason: string
  }
  /**
   * What is true of it: Ready (the settings are applied), Dispatching (jobs are started), Draining (new jobs are refused), Throttled (no job begins for a while), Failing (jobs failed for good of late; with alertsEnabled), CanSucceed (False where an assertion can never hold), JobsLost (Redis lost data of late), Stalled (the spec has to change), Reconciling (tried again by itself).
   */
  readonly conditions?: readonly Condition[]
}
/**
 * One queue or cron. Without it, all of the namespace.
 */
export interface ResourceRef {
  /**
   * The kind of what the window is for.
   */
  readonly kind: 'HttpQueue' | 'HttpCron'
  /**
   * The queue name of a queue, metadata.name of a cron.
   */
  readonly name: string
}
/**
 * One schedule.
 */
export interface RecurringSpec {
  /**
   * Five fields of minute, hour, day of month, month and day of week.
   */
  readonly cronExpression: string
  /**
   * The IANA time zone of the expression.
   */
  readonly timeZone: string
  /**
   * How long the window stays active, in elapsed time.
   */
  readonly durationSeconds: number
}
/**
 * When the window is active, and for what. Either start and end, or recurring.
 */
export interface MaintenanceWindowSpec {
  /**
   * Mute keeps alerts from being sent. Hold does the same, and no job starts meanwhile; missed ticks of crons are decided at the end.
   */
  readonly action: 'Mute' | 'Hold'
  readonly resource?: ResourceRef
  /**
   * When a single window becomes active.
   */
  readonly start?: string
  /**
   * When a single window ends.
   */
  readonly end?: string
  /**
   * When a recurring window becomes active, and for how long.
   */
  readonly recurring?: readonly RecurringSpec[]
  /**
   * A comment.
   */
  readonly reason?: string
}
/**
 * Whether the window is active; written by Punctual.
 */
export interface MaintenanceWindowStatus {
  /**
   * The metadata.generation that the status describes; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * Whether it is in force now.
   */
  readonly active?: boolean
  /**
   * Since when, while it is active; absent for a window that is active all the time.
   */
  readonly activeSince?: string
  /**
   * When it ends, while it is active; absent for a window that is active all the time.
   */
  readonly endTime?: string
  /**
   * When it becomes active next; absent when it never does again.
   */
  readonly nextStartTime?: string
  /**
   * What is true of it: Ready (it is in force whenever it is active), ResourceFound (whether the queue or cron that it names exists), Stalled (the spec has to change), Reconciling (tried again by itself).
   */
  readonly conditions?: readonly Condition[]
}
/**
 * One person.
 */
export interface MemberSpec {
  /**
   * What the person is called.
   */
  readonly name: string
  /**
   * The address, name@example.com without anything around it.
   */
  readonly email: string
}
/**
 * One way to be told.
 */
export interface ChannelSpec {
  /**
   * Its name in answers, messages and metrics.
   */
  readonly name: string
  /**
   * What is there. Webhook gets the alert as JSON, signed as callbacks are.
   */
  readonly type: 'Email' | 'Slack' | 'Discord' | 'Webhook'
  /**
   * The types of alerts that it gets.
   */
  readonly alertTypes: ('Warning' | 'Failure' | 'Recovery' | 'LimitWarning')[]
  readonly secretRef?: SecretRef
}
/**
 * The settings of the team.
 */
export interface TeamSettingsSpec {
  /**
   * Signatures of outgoing requests.
   */
  readonly signing: {
    /**
     * The signing secrets, newest first; two during a rotation.
     */
    readonly secretRefs: readonly SecretRef[]
  }
  /**
   * Names of further headers whose values are shown to nobody, in any case. Authorization, Cookie and their like are masked without it.
   */
  readonly maskedHeaders: readonly string[]
  /**
   * Values of headers that pushed jobs name; they lie in Secrets, which only executors open.
   *
   * Items: One value, and where it may go.
   */
  readonly headerSecrets: {
    /**
     * Its name in the header_secrets of a push.
     */
    readonly name: string
    /**
     * One value of a Secret in the same namespace, of type punctual.dev/header-secret or with the label punctual.dev/secret=header.
     */
    readonly secretKeyRef: {
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
     * The hosts that it may be sent to: api.example.com, or those below a name as in *.example.com. By HTTPS at port 443 alone, unless an entry has a port (:8080).
     */
    readonly hosts: readonly string[]
  }[]
  /**
   * What the team's jobs may call in addition to public addresses.
   */
  readonly egress: {
    /**
     * CIDR blocks (10.0.0.0/8) and host suffixes (svc.cluster.local), each with a port (:443) if need be; a host suffix also at fixed addresses (partner.example=203.0.113.0/24:443).
     */
    readonly allow: readonly string[]
  }
  /**
   * The quotas of the team; the installation's apply too, and the lower one counts. 0 allows nothing.
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
     * Calls in flight, over all executors.
     */
    readonly callsInFlight?: number
    /**
     * Jobs of a calendar month, UTC; retries are not counted.
     */
    readonly jobsPerMonth?: number
  }
  /**
   * Whether the API and the dashboard may edit queues, crons, windows and signing secrets that somebody has applied. ReadOnly refuses it and says who manages them; absent = as the installation says (Editable unless changed). What a push or the API has made can always be edited. Without effect in a folder of manifests.
   */
  readonly appliedResources?: 'Editable' | 'ReadOnly'
  /**
   * The people of the team, who get the mails of its Email channels.
   */
  readonly members: readonly MemberSpec[]
  /**
   * How the team is told of its alerts.
   */
  readonly notifications: {
    /**
     * Where messages about alerts go. One that cannot be used does not hold up the others.
     */
    readonly channels: readonly ChannelSpec[]
  }
}
/**
 * The applied settings; written by Punctual.
 */
export interface TeamSettingsStatus {
  /**
   * The metadata.generation that the status describes; -1 = none yet.
   */
  readonly observedGeneration?: number
  /**
   * The quotas that apply, the lower of the team's and the installation's; an absent one is unlimited.
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
     * Calls in flight, over all executors.
     */
    readonly callsInFlight?: number
  }
  /**
   * The usage of the team, some seconds old.
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
     * Calls in flight, over all executors.
     */
    readonly callsInFlight: number
  }
  /**
   * What is true of it: Ready (the settings are applied), NotificationsReady (all channels can be used), HeaderSecretsReady (all header secrets can be sent), PushedQueues (pushes have made too many queues), Stalled (the spec has to change), Reconciling (tried again by itself).
   */
  readonly conditions?: readonly Condition[]
}
