// Generated from openapi.yaml by `npm run generate`: change that file, not this one.
import type {
  Alert,
  AlertFilter,
  AlertList,
  AlertReason,
  AlertResourceKind,
  AlertType,
  AuditRecord,
  AuditRecordList,
  AuditedKind,
  Bulk,
  BulkCreate,
  BulkList,
  BulkPreview,
  ChannelTestRequest,
  ChannelTestResults,
  CreatedCron,
  Cron,
  CronCreate,
  CronEdit,
  CronList,
  CronPreview,
  CronPreviewQuery,
  CronRun,
  CronRunList,
  CronSummary,
  DeadLetterGroup,
  DeadLetterGroupList,
  DeletedAlerts,
  EditedQueue,
  EndedSessions,
  FailureReason,
  Id,
  Issue,
  IssueList,
  IssueMute,
  Job,
  JobBatch,
  JobBatchResults,
  JobChange,
  JobList,
  JobPush,
  JobSummary,
  LoginCode,
  LoginOffer,
  MaintenanceWindow,
  Manifest,
  Me,
  NewNotificationChannel,
  NotificationChannel,
  NotificationChannelEdit,
  NotificationChannelList,
  Queue,
  QueueCreate,
  QueueEdit,
  QueueList,
  QueueRow,
  QueueState,
  QueueStopRequest,
  ReplayChange,
  ScheduledJob,
  Session,
  SessionList,
  SigningSecret,
  SigningSecretList,
  StartedRun,
  Statistics,
  Status,
  Team,
  TeamSessionList,
  TestClockMove,
  TestTime,
  TimeOrSpan,
  Token,
  TokenCreate,
  TokenList,
  UnreadAlerts,
  UpdatedAlerts,
  WindowCalendar,
  WindowCreate,
  WindowEdit,
  WindowList,
  WindowPreview,
  WindowTimes,
} from './wire.ts'
import type { JsonText } from '../json-text.ts'

/** Where an operation is sent, and whether a key makes a repetition harmless. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly hasKey?: boolean
}

export const OPERATIONS = {
  pushJob: { method: 'POST', path: '/api/jobs', hasKey: true },
  listJobs: { method: 'GET', path: '/api/jobs' },
  pushJobs: { method: 'POST', path: '/api/jobs/batch' },
  listDeadLetterGroups: { method: 'GET', path: '/api/jobs/dead-letter-groups' },
  readJob: { method: 'GET', path: '/api/jobs/{job_id}' },
  deleteJob: { method: 'DELETE', path: '/api/jobs/{job_id}' },
  retryJob: { method: 'POST', path: '/api/jobs/{job_id}/retry' },
  cancelJob: { method: 'POST', path: '/api/jobs/{job_id}/cancel' },
  fireJob: { method: 'POST', path: '/api/jobs/{job_id}/fire' },
  duplicateJob: { method: 'POST', path: '/api/jobs/{job_id}/duplicate', hasKey: true },
  replayJob: { method: 'POST', path: '/api/jobs/{job_id}/replay' },
  listQueues: { method: 'GET', path: '/api/queues' },
  createQueue: { method: 'POST', path: '/api/queues' },
  readQueue: { method: 'GET', path: '/api/queues/{queue_id}' },
  editQueue: { method: 'PATCH', path: '/api/queues/{queue_id}' },
  deleteQueue: { method: 'DELETE', path: '/api/queues/{queue_id}' },
  readQueueManifest: { method: 'GET', path: '/api/queues/{queue_id}/manifest' },
  readQueueState: { method: 'GET', path: '/api/queues/{queue_id}/state' },
  pauseQueue: { method: 'POST', path: '/api/queues/{queue_id}/pause' },
  drainQueue: { method: 'POST', path: '/api/queues/{queue_id}/drain' },
  resumeQueue: { method: 'POST', path: '/api/queues/{queue_id}/resume' },
  readQueueStatistics: { method: 'GET', path: '/api/queues/{queue_id}/stats' },
  listCrons: { method: 'GET', path: '/api/crons' },
  createCron: { method: 'POST', path: '/api/crons', hasKey: true },
  previewCron: { method: 'POST', path: '/api/crons/preview' },
  readCron: { method: 'GET', path: '/api/crons/{cron_id}' },
  editCron: { method: 'PATCH', path: '/api/crons/{cron_id}' },
  deleteCron: { method: 'DELETE', path: '/api/crons/{cron_id}' },
  readCronManifest: { method: 'GET', path: '/api/crons/{cron_id}/manifest' },
  runCron: { method: 'POST', path: '/api/crons/{cron_id}/run' },
  pauseCron: { method: 'POST', path: '/api/crons/{cron_id}/pause' },
  resumeCron: { method: 'POST', path: '/api/crons/{cron_id}/resume' },
  listCronRuns: { method: 'GET', path: '/api/crons/{cron_id}/runs' },
  listAlerts: { method: 'GET', path: '/api/alerts' },
  deleteAlerts: { method: 'DELETE', path: '/api/alerts' },
  countAlerts: { method: 'GET', path: '/api/alerts/counts' },
  markAlertsRead: { method: 'POST', path: '/api/alerts/read' },
  readAlert: { method: 'GET', path: '/api/alerts/{alert_id}' },
  deleteAlert: { method: 'DELETE', path: '/api/alerts/{alert_id}' },
  markAlertRead: { method: 'POST', path: '/api/alerts/{alert_id}/read' },
  listIssues: { method: 'GET', path: '/api/issues' },
  readIssue: { method: 'GET', path: '/api/issues/{issue_id}' },
  acknowledgeIssue: { method: 'POST', path: '/api/issues/{issue_id}/acknowledge' },
  muteIssue: { method: 'POST', path: '/api/issues/{issue_id}/mute' },
  resolveIssue: { method: 'POST', path: '/api/issues/{issue_id}/resolve' },
  reopenIssue: { method: 'POST', path: '/api/issues/{issue_id}/reopen' },
  listAuditRecords: { method: 'GET', path: '/api/audit' },
  listWindows: { method: 'GET', path: '/api/maintenance-windows' },
  createWindow: { method: 'POST', path: '/api/maintenance-windows' },
  readWindow: { method: 'GET', path: '/api/maintenance-windows/{window_id}' },
  editWindow: { method: 'PATCH', path: '/api/maintenance-windows/{window_id}' },
  deleteWindow: { method: 'DELETE', path: '/api/maintenance-windows/{window_id}' },
  readWindowOpenings: { method: 'GET', path: '/api/window-openings' },
  previewWindow: { method: 'POST', path: '/api/window-openings' },
  readStatistics: { method: 'GET', path: '/api/stats' },
  readTeam: { method: 'GET', path: '/api/team' },
  readTestClock: { method: 'GET', path: '/api/test/clock' },
  advanceTestClock: { method: 'POST', path: '/api/test/clock' },
  readStatus: { method: 'GET', path: '/api/status' },
  listBulks: { method: 'GET', path: '/api/bulk' },
  createBulk: { method: 'POST', path: '/api/bulk' },
  readBulk: { method: 'GET', path: '/api/bulk/{bulk_id}' },
  abortBulk: { method: 'POST', path: '/api/bulk/{bulk_id}/abort' },
  resumeBulk: { method: 'POST', path: '/api/bulk/{bulk_id}/resume' },
  purgeQueue: { method: 'POST', path: '/api/queues/{queue_id}/purge' },
  testNotifications: { method: 'POST', path: '/api/notifications/test' },
  readMe: { method: 'GET', path: '/api/me' },
  listTokens: { method: 'GET', path: '/api/tokens' },
  createToken: { method: 'POST', path: '/api/tokens' },
  deleteToken: { method: 'DELETE', path: '/api/tokens/{token_id}' },
  listNotificationChannels: { method: 'GET', path: '/api/notification-channels' },
  createNotificationChannel: { method: 'POST', path: '/api/notification-channels' },
  editNotificationChannel: { method: 'PATCH', path: '/api/notification-channels/{channel_id}' },
  deleteNotificationChannel: { method: 'DELETE', path: '/api/notification-channels/{channel_id}' },
  listSigningSecrets: { method: 'GET', path: '/api/signing-secrets' },
  createSigningSecret: { method: 'POST', path: '/api/signing-secrets' },
  deleteSigningSecret: { method: 'DELETE', path: '/api/signing-secrets/{signing_secret_id}' },
  openSession: { method: 'POST', path: '/api/session' },
  readSession: { method: 'GET', path: '/api/session' },
  endSession: { method: 'DELETE', path: '/api/session' },
  createLoginCode: { method: 'POST', path: '/api/session/code' },
  readLoginCode: { method: 'GET', path: '/api/session/code' },
  listSessions: { method: 'GET', path: '/api/sessions' },
  endOneSession: { method: 'DELETE', path: '/api/sessions/{session_id}' },
  listTeamSessions: { method: 'GET', path: '/api/team/sessions' },
  endTeamSessions: { method: 'DELETE', path: '/api/team/sessions' },
  readContract: { method: 'GET', path: '/api/openapi.json' },
} as const satisfies Readonly<Record<string, Operation>>

/** What each operation takes. */
export interface Inputs {
  /** Push a job. Adds a job to a queue. A queue that does not exist is created with default settings. */
  pushJob: {
    body: JobPush | JsonText
    /** A repeated key gets the first answer. */
    idempotency_key?: string | undefined
  }
  /**
   * List jobs. Jobs of the team, without payloads, headers and calls. A page before the last may have fewer
   * jobs than `limit`, even none. `order=newest` lists over all queues: first jobs that have not ended, newest
   * push first; then those that have, newest end first, by the end of the last attempt of their chain. A dead
   * letter that was replayed stands where it was replayed. Where more than 2,000 jobs of these queues have not
   * ended, they come last instead, queue by queue. While pages are read, no job that has ended is left out or
   * repeated because others end; one that ends meanwhile may come again. `order=oldest` lists both parts the
   * other way: the oldest push first, then the oldest end first. `order=newest` is the order where `status` is
   * one that has ended, where `final_status`, `failure_reason`, `response_status` or `host` is given, or any
   * time; more than 10,000 queues cannot be listed so. `order=queue`, which all other lists have, goes queue
   * by queue in the order of their names. Within a queue, first jobs that have not ended, in flight or not, by
   * due time; then dead letters, then the rest, each newest first. A queue with more than 1,000 jobs that have
   * not ended lists them in no order. A job that starts while pages are read keeps its position until it ends.
   * A cursor goes on in its own order. Filters combine: all of them must hold. A chain has one row: its open
   * job, or its original once it has ended. `status=completed` shows the job that succeeded instead, and
   * `final_status=failed_with_retries` the newest retry that failed. `status=failed` and everything that only
   * an ended job has (`final_status`, `failure_reason`, `response_status`, `ended_after`, `ended_before`)
   * shows the original of a chain that waits for its next retry. With filters other than `queue` and `status`
   * an answer says in `searched` how many records were looked at. A request looks at no more than about 20,000
   * records, or 32 MiB of them; `next_cursor` goes on from there. Such a request is a costly one: it takes
   * turns with others, and more than 32 of a team at once are answered with 429. `text` needs the permission
   * `payloads`. `bulk_id` reads the bulk's own list instead, in its order: the first 100,000 jobs that it
   * made, or fired, as far as they are kept. It goes with all filters but `text`.
   */
  listJobs: {
    /** Only jobs of the queue of this name. */
    queue?: string | undefined
    /**
     * Only jobs with this status, or one of these, with commas between; `dead_lettered` lists the dead-letter
     * queue.
     */
    status?: string | undefined
    /** Only jobs with this final status. */
    final_status?: 'success' | 'retrying' | 'failed_with_retries' | 'failed_no_retries' | 'dead_lettered' | undefined
    /** Only jobs whose own attempt failed for this reason. */
    failure_reason?: 'timeout' | 'connection_error' | 'dns_error' | 'ssl_error' | 'http_client_error' | 'http_server_error' | 'http_redirect' | 'invalid_url' | 'blocked_target' | 'assertion_failed' | 'executor_lost' | 'limit_exceeded' | 'unknown' | 'damaged' | undefined
    /** Only jobs whose own attempt was answered with this status. */
    response_status?: number | undefined
    /** Only jobs that call this host, a name or an address, at any port. */
    host?: string | undefined
    /** Only jobs with this tag. The name ends at the first colon. */
    tag?: string | undefined
    /** Only runs of this cron. */
    cron_id?: number | undefined
    /** Only jobs created then or later. */
    created_after?: TimeOrSpan | undefined
    /** Only jobs created before that. */
    created_before?: TimeOrSpan | undefined
    /** Only jobs that are or were due then or later. */
    scheduled_after?: TimeOrSpan | undefined
    /** Only jobs that are or were due before that. */
    scheduled_before?: TimeOrSpan | undefined
    /** Only jobs whose `completed_at` is then or later. */
    ended_after?: TimeOrSpan | undefined
    /** Only jobs whose `completed_at` is before that. */
    ended_before?: TimeOrSpan | undefined
    /**
     * Only jobs with this text in their URL, their payload, an error of one of their attempts or the body of an
     * answer, in any case of ASCII letters. Payload and answers are looked through as they were sent; a
     * quotation mark, a slash and characters beyond ASCII are found escaped as well. Answers are kept in call
     * records alone, and so is the payload of a finished job, which is found as long as one keeps all of it.
     */
    text?: string | undefined
    /** Only jobs that this bulk made by a retry or a replay, or that it fired. An unknown bulk has none. */
    bulk_id?: number | undefined
    /** Only jobs of other queues than this one. */
    not_queue?: string | undefined
    /** Only jobs that did not fail for this reason. */
    not_failure_reason?: FailureReason | undefined
    /** Only jobs that were not answered with this status. */
    not_response_status?: number | undefined
    /** Only jobs that call another host than this one. */
    not_host?: string | undefined
    /** Only jobs whose call took longer than this many milliseconds. */
    slower_than_ms?: number | undefined
    /**
     * `newest` or `oldest` over all queues, or `queue` by queue. Without it, `newest` where the filters ask for
     * what has ended, for a host or for a time, and else `queue`.
     */
    order?: 'newest' | 'oldest' | 'queue' | undefined
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Push up to 1,000 jobs. Takes 1 to 1,000 pushes in one request. Each is checked, counted by the quotas and
   * answered as if it came alone, and may have an idempotency key of its own; the results are in the order of
   * the pushes. A body of another shape is refused as a whole, and nothing of it is stored. Send refused
   * pushes again where `status` is 429 or 503; with idempotency keys the whole batch can be sent again.
   */
  pushJobs: {
    body: JobBatch | JsonText
  }
  /**
   * Group dead letters. What the dead letters of the team have in common: those of one queue that failed for
   * the same reason, with the same status of the answer, at the same host, are one group, queue by queue in
   * the order of their names. Reason, status and times are those of the original, which is what the filters of
   * the list of jobs and of a bulk compare: the filter of `queue`, `failure_reason`, `response_status` and
   * `host`, with status `dead_lettered`, finds the group. A request looks at no more than about 20,000 dead
   * letters, or 32 MiB of them, and names at most 1,000 groups; `next_cursor` goes on from there. A group that
   * goes on there comes again, with the count of that page: add them up. A request is a costly one: more than
   * 32 of a team at once are answered with 429.
   */
  listDeadLetterGroups: {
    /** Only jobs of the queue of this name. */
    queue?: string | undefined
    /** Only jobs whose own attempt failed for this reason. */
    failure_reason?: 'timeout' | 'connection_error' | 'dns_error' | 'ssl_error' | 'http_client_error' | 'http_server_error' | 'http_redirect' | 'invalid_url' | 'blocked_target' | 'assertion_failed' | 'executor_lost' | 'limit_exceeded' | 'unknown' | 'damaged' | undefined
    /** Only jobs whose own attempt was answered with this status. */
    response_status?: number | undefined
    /** Only jobs that call this host, a name or an address, at any port. */
    host?: string | undefined
    /** Only jobs with this tag. The name ends at the first colon. */
    tag?: string | undefined
    /** Only runs of this cron. */
    cron_id?: number | undefined
    /** Only jobs whose `completed_at` is then or later. */
    ended_after?: TimeOrSpan | undefined
    /** Only jobs whose `completed_at` is before that. */
    ended_before?: TimeOrSpan | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /** Read a job. The job, a summary of every job of its chain, and the HTTP exchanges that are still kept. */
  readJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
  }
  /**
   * Delete a job. Removes the job's whole chain for good: that of a pending job or pending retry, or one that
   * has ended, which needs the permission `purge`. A 409 is a job in flight, and an earlier attempt of a chain
   * whose retry has not ended: the answer names the retry, which can be deleted.
   */
  deleteJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
  }
  /**
   * Retry a failed job now. Creates a new job, attempt 1, due at once, of a chain that has failed. It keeps
   * the fields of the job and uses the current settings of the queue. A dead letter is replayed. A 409 is a
   * chain that has succeeded, has not ended or was retried before, and one whose payload or headers are no
   * longer kept: duplicate it and give them.
   */
  retryJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
  }
  /**
   * Cancel a job that was never sent. Removes a pending job whose call was never begun. A 200 means that its
   * target never had it and never will: the decision and the removal are one step, so no executor can begin
   * the call in between. It answers the job as it was; nothing of it is kept. A 409 is a job that is in
   * flight, that has ended, or that may have been sent before: one that waits for a retry, or whose executor
   * was lost or stopped during the call. DELETE removes what waits in such a case, and what has ended as well.
   * When the answer was lost and a second request gets a 404, the first one removed the job, unless somebody
   * else did.
   */
  cancelJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
  }
  /**
   * Fire a pending job now. Makes a delayed job, or a pending retry, due at once. A 409 is a job that is due
   * already, is in flight or has ended.
   */
  fireJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
  }
  /**
   * Push a copy of a job. Pushes a new job with the fields of another one, whatever its state, but for those
   * in the body. It is due at once unless the body says otherwise. A finished job keeps its payload only as
   * long as the record of its last call, and long headers not at all: a 409 names what has to be in the body
   * then. A run of a cron without a queue needs `queue`. It needs the permission `push`, too: without, it is a
   * 403.
   */
  duplicateJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
    body?: JobChange | JsonText | undefined
    /** A repeated key gets the first answer. */
    idempotency_key?: string | undefined
  }
  /**
   * Replay a dead letter. Creates a new job, attempt 1, due at once, from a dead letter, which leaves the
   * dead-letter queue. It keeps the fields of the job, but for those in the body, and uses the current
   * settings of the queue. With fields in the body it needs the permission `push`, too: without, it is a 403.
   */
  replayJob: {
    /** The integer or the UUID form. Ids of other teams and unknown ids are a 404. */
    job_id: string | number
    body?: ReplayChange | JsonText | undefined
  }
  /**
   * List queues. The queues of the team, by name unless another sort is asked for. Sorted otherwise, the list
   * looks at all queues of the team, at most the first 5,000 by name, and `summary` says what they hold
   * together. A page begins behind the last row of the page before, so a queue whose place changes meanwhile
   * may be missed or come twice.
   */
  listQueues: {
    /** Only the queue of this name. It excludes `text` and any other `sort`. */
    name?: string | undefined
    /**
     * Only queues whose name contains it, in letters of either case. By name, a page looks at 5,000 names and
     * may be empty although `next_cursor` leads on.
     */
    text?: string | undefined
    /**
     * `name`, ascending. `trouble`: queues that fail or are late come first, then those whose jobs are stopped,
     * then those with dead letters or at their limit. `oldest`: the oldest startable job first. `failed`: the
     * largest part of jobs that failed in the last hour first.
     */
    sort?: 'name' | 'trouble' | 'oldest' | 'failed' | undefined
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Create a queue. Makes a queue with settings of its own before anything is pushed to it. A push to a name
   * that does not exist makes one with the default settings. Where resources are kept, the queue becomes an
   * HttpQueue.
   */
  createQueue: {
    body: QueueCreate | JsonText
  }
  /** Read a queue. */
  readQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /**
   * Change a queue's settings. Only the given fields change, and only for new jobs: a chain keeps the settings
   * of its first job. `is_active`, `max_parallelism`, `rate_limit`, `respect_retry_after` and
   * `circuit_breaker` take effect at once. A queue's name cannot change.
   */
  editQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
    body: QueueEdit | JsonText
  }
  /**
   * Delete a queue and all its jobs. Cannot be undone. Calls in flight go on, but their results are not kept.
   * The next push to the name, or the next run of a cron that uses it, creates a queue with default settings.
   */
  deleteQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /**
   * Read a queue as a manifest. An HttpQueue with the settings that are not the defaults, for a repository of
   * manifests, and the names of the Secrets that it signs with.
   */
  readQueueManifest: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /**
   * Read who stopped a queue, and how late it is. Who paused or drained the queue, when and why, as the audit
   * log has it, and how long its oldest ready job has been due.
   */
  readQueueState: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /** Pause a queue. No new jobs start; those in flight end normally. Pausing a paused queue changes nothing. */
  pauseQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
    body?: QueueStopRequest | JsonText | undefined
  }
  /**
   * Drain a queue. The queue takes no new jobs: a push, retry, replay, duplicate or manual run is a 409, and
   * ticks of its crons are skipped. What it has runs off, with retries and callbacks. Resuming the queue ends
   * it.
   */
  drainQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
    body?: QueueStopRequest | JsonText | undefined
  }
  /**
   * Resume a queue. Jobs start again, and a queue that drains takes new jobs again. It also ends what
   * throttles the queue, a `Retry-After` or a circuit breaker, even where edits are refused because its
   * resource is managed elsewhere; a rate limit stays.
   */
  resumeQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /**
   * Read the statistics of a queue. As `GET /api/stats`, for the jobs of one queue. Without the calls of
   * callbacks.
   */
  readQueueStatistics: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
    /**
     * When the first point begins, or a little earlier, at a whole step; an hour before `until` if absent. What
     * is older than 7 days is left out.
     */
    since?: TimeOrSpan | undefined
    /**
     * When the last point ends, or a little later, at a whole step; now if absent or yet to come. It must be
     * after `since` and within the last 7 days.
     */
    until?: TimeOrSpan | undefined
    /**
     * Seconds of a point, a multiple of 60; by the length of the range if absent: a minute, 5 or 15 minutes, or
     * an hour. More than 1,500 points are a 422.
     */
    step?: number | undefined
    /** With `previous`, the answer also has the points of the span before, of the same length. */
    compare?: 'previous' | undefined
  }
  /** List crons. The crons of the team in the order of their resources' names; without payloads and headers. */
  listCrons: {
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Create a cron. Makes a request that recurs from now on. Its `name` is for people and need not be unique:
   * the same request twice creates two crons, unless both have the same key. Where resources are kept, the
   * cron becomes an HttpCron.
   */
  createCron: {
    body: CronCreate | JsonText
    /** A repeated key gets the first answer. */
    idempotency_key?: string | undefined
  }
  /** Preview a cron expression. Describes an expression in English and lists its next ticks. Creates nothing. */
  previewCron: {
    body: CronPreviewQuery | JsonText
  }
  /** Read a cron. */
  readCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /**
   * Change a cron. Only the given fields change. A new expression or time zone, and the end of a pause, take
   * effect from now on, without earlier ticks. Other changes leave the next tick as it is. Another `url` needs
   * the permission `payloads`.
   */
  editCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
    body: CronEdit | JsonText
  }
  /** Delete a cron. Runs in flight end normally. The records of ticks are deleted. */
  deleteCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /**
   * Read a cron as a manifest. An HttpCron with the settings that are not the defaults, for a repository of
   * manifests, and the names of the Secrets that it takes headers and signatures from. Other headers and the
   * payload are masked for those without `payloads`.
   */
  readCronManifest: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /**
   * Run a cron now. Runs it in addition to its ticks, also when paused. With `concurrency_policy` `forbid` the
   * answer is a 409 while a run has not ended.
   */
  runCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /** Pause a cron. No more ticks; runs in flight end normally. Pausing a paused cron changes nothing. */
  pauseCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /** Resume a cron. It ticks from now on. Ticks of the pause are not run. */
  resumeCron: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
  }
  /**
   * List a cron's runs. The records of the last 100 ticks and manual runs, newest first. Ticks that were
   * missed together are one record.
   */
  listCronRuns: {
    /** Ids of other teams and unknown ids are a 404. */
    cron_id: string | number
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * List alerts. Newest first, by the first time of each. All given filters must hold. A page before the last
   * may have fewer alerts than `limit`, even none: a request looks at a bounded number of alerts.
   */
  listAlerts: {
    /** Only alerts of this type. */
    type?: AlertType | undefined
    /** Only alerts with this reason. */
    reason?: AlertReason | undefined
    /** Only alerts about resources of this kind. */
    resource_kind?: AlertResourceKind | undefined
    /** Only alerts about the queue or the cron with this id. */
    resource_id?: Id | undefined
    /** `false`: only unread alerts; `true`: only those that are read. */
    read?: boolean | undefined
    /** Only alerts whose `last_at` is at or after this time; ISO 8601 with an offset. */
    after?: string | undefined
    /** Only alerts whose `last_at` is before this time; ISO 8601 with an offset. */
    before?: string | undefined
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Delete alerts. Deletes the alerts of now for which all given filters hold. At least one filter is
   * required, or `all=true`. May be sent again after a fault: what is deleted stays so, and is not counted
   * again.
   */
  deleteAlerts: {
    /** Only alerts of this type. */
    type?: AlertType | undefined
    /** Only alerts with this reason. */
    reason?: AlertReason | undefined
    /** Only alerts about resources of this kind. */
    resource_kind?: AlertResourceKind | undefined
    /** Only alerts about the queue or the cron with this id. */
    resource_id?: Id | undefined
    /** `false`: only unread alerts; `true`: only those that are read. */
    read?: boolean | undefined
    /** Only alerts whose `last_at` is at or after this time; ISO 8601 with an offset. */
    after?: string | undefined
    /** Only alerts whose `last_at` is before this time; ISO 8601 with an offset. */
    before?: string | undefined
    /** `true` deletes every alert; not together with a filter. */
    all?: boolean | undefined
  }
  /** Count unread alerts. */
  countAlerts: object
  /**
   * Mark alerts as read. Marks the alerts of now for which all given filters hold; `{}` marks every alert. May
   * be sent again after a fault: what is read stays so, and is not counted again.
   */
  markAlertsRead: {
    body: AlertFilter | JsonText
  }
  /** Read an alert. Does not mark it as read. */
  readAlert: {
    /** Ids of other teams and unknown ids are a 404. */
    alert_id: string | number
  }
  /** Delete an alert. */
  deleteAlert: {
    /** Ids of other teams and unknown ids are a 404. */
    alert_id: string | number
  }
  /** Mark an alert as read. */
  markAlertRead: {
    /** Ids of other teams and unknown ids are a 404. */
    alert_id: string | number
  }
  /**
   * List issues. Failed attempts of the last 7 days, grouped by queue or cron, reason, status and host. Those
   * that failed last come first. A team has at most about 1,000 issues, and a queue 40; failures of further
   * groups are counted together, in an issue of its queue without reason, status and host.
   */
  listIssues: {
    /** Only issues in this state, or in one of these, with commas between. */
    state?: string | undefined
    /** Only issues of the queue of this name. */
    queue?: string | undefined
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /** Read an issue. */
  readIssue: {
    /** The same whenever the group fails. Ids of other teams and unknown ids are a 404. */
    issue_id: string | number
  }
  /**
   * Acknowledge an issue. Says that somebody looks after it. It stays acknowledged while it goes on failing,
   * until it is resolved.
   */
  acknowledgeIssue: {
    /** The same whenever the group fails. Ids of other teams and unknown ids are a 404. */
    issue_id: string | number
  }
  /**
   * Mute an issue. Leaves it out of what needs attention until a time, whatever happens; then it is open
   * again. Alerts are not muted by it: a maintenance window does that.
   */
  muteIssue: {
    /** The same whenever the group fails. Ids of other teams and unknown ids are a 404. */
    issue_id: string | number
    body: IssueMute | JsonText
  }
  /**
   * Resolve an issue. Says that it is mended. Punctual does so by itself when nothing has failed for an hour
   * and a call of the queue to that host has succeeded since. With the next failure it is open again.
   */
  resolveIssue: {
    /** The same whenever the group fails. Ids of other teams and unknown ids are a 404. */
    issue_id: string | number
  }
  /** Reopen an issue. Takes back that it is acknowledged, muted or resolved. */
  reopenIssue: {
    /** The same whenever the group fails. Ids of other teams and unknown ids are a 404. */
    issue_id: string | number
  }
  /**
   * List who changed what. Newest first, by their first change. All given filters must hold. Records are kept
   * for 90 days: 2,500 about settings of a team, 10,000 about jobs, issues, alerts and bulks, and 2,000 about
   * logins, logouts and links that log in. A page before the last may have fewer records than `limit`, even
   * none: a request looks at a bounded number of records.
   */
  listAuditRecords: {
    /** Only changes by the token or user of this name. */
    actor?: string | undefined
    /** Only this action, such as `edit`, `delete` or `replay`. */
    action?: string | undefined
    /** Only changes of resources of this kind. */
    resource_kind?: AuditedKind | undefined
    /** Only changes of the resource with this id or name. */
    resource?: string | undefined
    /** Only changes at or after this time; of several in one record, the last of them. */
    after?: string | undefined
    /** Only changes before this time. */
    before?: string | undefined
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /** List maintenance windows. The windows of the team by name; at most 100. */
  listWindows: {
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Create a maintenance window. Either `start_at` and `end_at`, or `recurring`. Answered when the window is
   * in force, or after 2 s. Where resources are kept, it becomes a MaintenanceWindow. A name in use and a
   * 101st window are a 409.
   */
  createWindow: {
    body: WindowCreate | JsonText
  }
  /** Read a maintenance window. */
  readWindow: {
    /** The `id` of the window, which is its name. Names of other teams and unknown names are a 404. */
    window_id: string | number
  }
  /**
   * Change a maintenance window. Only the given fields change, also while the window is active. `recurring`
   * takes the place of `start_at` and `end_at`, and the other way round.
   */
  editWindow: {
    /** The `id` of the window, which is its name. Names of other teams and unknown names are a 404. */
    window_id: string | number
    body: WindowEdit | JsonText
  }
  /**
   * Delete a maintenance window. It ends if it is active. Answered when it is no longer in force, or after 2
   * s.
   */
  deleteWindow: {
    /** The `id` of the window, which is its name. Names of other teams and unknown names are a 404. */
    window_id: string | number
  }
  /**
   * Show when windows are open. The openings of all windows of the team within a span of time, by their start.
   * What lies beyond the span is cut off. At most 8,192 ticks of all schedules are looked at, and 1,024 of
   * each.
   */
  readWindowOpenings: {
    /** The begin of the span; ISO 8601 with an offset. */
    after: TimeOrSpan
    /** The end of the span, at most 62 days later. */
    before: TimeOrSpan
  }
  /**
   * Preview the openings of a window. The next five openings of a window with these times, and its schedules
   * in English. Creates nothing.
   */
  previewWindow: {
    body: WindowTimes | JsonText
  }
  /**
   * Read the statistics of the team. What happened over time in all queues of the team, those of crons and
   * deleted ones included. Kept by the minute for 7 days, longer than jobs; up to 10 s behind.
   */
  readStatistics: {
    /**
     * When the first point begins, or a little earlier, at a whole step; an hour before `until` if absent. What
     * is older than 7 days is left out.
     */
    since?: TimeOrSpan | undefined
    /**
     * When the last point ends, or a little later, at a whole step; now if absent or yet to come. It must be
     * after `since` and within the last 7 days.
     */
    until?: TimeOrSpan | undefined
    /**
     * Seconds of a point, a multiple of 60; by the length of the range if absent: a minute, 5 or 15 minutes, or
     * an hour. More than 1,500 points are a 422.
     */
    step?: number | undefined
    /** With `previous`, the answer also has the points of the span before, of the same length. */
    compare?: 'previous' | undefined
  }
  /**
   * Read quotas and usage of the team. The effective quotas of the token's team and its usage, over all its
   * queues.
   */
  readTeam: object
  /**
   * Read the test clock. The time of an installation for tests, one that was first started with
   * `PUNCTUAL_TEST_CLOCK=1`. In any other, this is a 404.
   */
  readTestClock: object
  /**
   * Move the test clock. Moves the time of an installation for tests forward, for all teams. What has become
   * due on the way starts within a second: delayed jobs and retries, crons by their policy for missed ticks.
   * Timeouts of calls go by the real time.
   */
  advanceTestClock: {
    body: TestClockMove | JsonText
  }
  /**
   * Read the state of the installation. Whether executors are alive, what the team has waiting, how late its
   * jobs start, and what it uses of its quotas. With the permission `admin` also the installation's part:
   * executors and their slots, leases, all that waits, and Redis with its memory and persistence. What was
   * read within the last 5 s is answered again.
   */
  readStatus: object
  /**
   * List bulks. The bulks of the team, newest first, with their progress. The last 100 are kept, for 30 days;
   * those that run are always listed.
   */
  listBulks: {
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Act on many jobs. Does one action to each job that `ids` name or that `filter` finds, in the background.
   * The filter and the moment are those of this request: jobs created later are not of the bulk. Each job is
   * worked off at most once. A dry run only counts, and looks at 20,000 records at most. `delete` and `purge`
   * need the permission to purge. At most 10 bulks of a team run at once; a further one is a 429.
   */
  createBulk: {
    body: BulkCreate | JsonText
  }
  /** Read a bulk. With its progress, and the jobs that the action could not be done to, at most 1,000. */
  readBulk: {
    /** Ids of other teams and unknown ids are a 404. */
    bulk_id: string | number
  }
  /**
   * Abort a bulk. What was done stays done. A page of at most 100 jobs that is being worked off is done to its
   * end; until then the state is `aborting`.
   */
  abortBulk: {
    /** Ids of other teams and unknown ids are a 404. */
    bulk_id: string | number
  }
  /**
   * Resume a bulk. Goes on with what is left of a bulk that was aborted or has stopped: it acts on no job
   * twice, and on none that was created, or has ended, since the bulk was created. Its rate rises from the
   * beginning again, and its `stop_when` counts only jobs that end from then on. It needs the permissions of
   * the bulk's creation.
   */
  resumeBulk: {
    /** Ids of other teams and unknown ids are a 404. */
    bulk_id: string | number
  }
  /** Purge the dead letters of a queue. A bulk that removes them for good. Later dead letters stay. */
  purgeQueue: {
    /** Ids of other teams and unknown ids are a 404. */
    queue_id: string | number
  }
  /**
   * Send a test message. To one channel or to all, as alerts are sent, and answers what each of them said,
   * within 15 s. A channel takes one test at a time and one in 10 s; a result says when it was not sent.
   */
  testNotifications: {
    body: ChannelTestRequest | JsonText
  }
  /** Read who asks, and what they may do. Any valid token may ask this. */
  readMe: object
  /**
   * List tokens. The tokens of the team by name, without the tokens themselves. Whoever is limited to queues
   * sees only those that are limited to these.
   */
  listTokens: {
    /**
     * Maximum of items on a page; a page before the last may have fewer. A parameter without a value, or given
     * twice, is a 422.
     */
    limit?: number | undefined
    /** The `next_cursor` of the page before; used with other filters or another list, it is a 422. */
    cursor?: string | undefined
  }
  /**
   * Create a token. The answer is the only place where the token is shown. Nobody can make a token with more
   * permissions, queues, life or requests per second than their own. A user, who is not a token, must give
   * `expires_at`, at most 365 days ahead. Where resources are kept, it becomes an ApiToken with its hash. A
   * name in use and a 501st token are a 409.
   */
  createToken: {
    body: TokenCreate | JsonText
  }
  /** Revoke a token. Answered when this process refuses it, or after 2 s; others refuse it within 2 s. */
  deleteToken: {
    /** The `id` of the token, which is its name. Names of other teams and unknown names are a 404. */
    token_id: string | number
  }
  /**
   * List channels. The channels in the settings of the team, those included that cannot be used. Their URLs
   * are not shown.
   */
  listNotificationChannels: object
  /**
   * Create a channel. Adds a channel to the settings of the team. Its URL goes to a Secret and is never shown.
   * Unless `test` is false, a test message is sent, and a channel that does not take it is removed again: a
   * 409 with the answer of its target. A name that is taken and an eleventh channel are a 409, too.
   */
  createNotificationChannel: {
    body: NewNotificationChannel | JsonText
  }
  /** Change which alerts a channel gets. To change the URL, delete the channel and create another. */
  editNotificationChannel: {
    /** The name of the channel. Those of other teams and unknown ones are a 404. */
    channel_id: string | number
    body: NotificationChannelEdit | JsonText
  }
  /**
   * Delete a channel. Nobody is told by it any more, within 2 s. A Secret that this API made for it is
   * removed, any other stays.
   */
  deleteNotificationChannel: {
    /** The name of the channel. Those of other teams and unknown ones are a 404. */
    channel_id: string | number
  }
  /**
   * List signing secrets. The secrets that calls of the team are signed with, newest first, without their
   * values; at most two.
   */
  listSigningSecrets: object
  /**
   * Create a signing secret. Makes a random secret, which becomes the newest; the former newest signs beside
   * it until it is deleted. The answer is the only place where the secret is shown. A third is a 409: delete
   * the older one first.
   */
  createSigningSecret: object
  /**
   * Delete a signing secret. Calls are no longer signed with it, within 2 s; without any other, they go out
   * unsigned. A Secret that this API made is removed, any other stays.
   */
  deleteSigningSecret: {
    /** The `id` of the signing secret. Those of other teams and unknown ones are a 404. */
    signing_secret_id: string | number
  }
  /**
   * Log in. Opens a session for whoever sends the token, or the code of a link that logs in once, for use by a
   * browser: at most 20 for each, of which those unused for longest end. A session gives what its token gives,
   * and ends with it, after 8 hours without a use, or after 24 hours. At most ten logins of the same sender at
   * once, then one in six seconds. After as many codes from an address that are not valid, the next such one
   * is a 429; one that is valid never is.
   */
  openSession: object
  /** Read the session. */
  readSession: object
  /** Log out. */
  endSession: {
    /** `true` ends every session of the same sender. */
    everywhere?: boolean | undefined
  }
  /**
   * Make a code that logs in once. For a link such as `https://punctual.example.com/#code=…`, which keeps the
   * token out of addresses and histories: `POST /api/session` takes the code in the header `X-Punctual-Code`
   * in place of the token, once, within ten minutes, at any API process.
   */
  createLoginCode: object
  /**
   * Read for whom a code logs in. The team and the name that `POST /api/session` would open a session for with
   * the code in the header `X-Punctual-Code`. The code stays valid.
   */
  readLoginCode: object
  /**
   * List your sessions. The open sessions of the token or the user that asks, by a session or by the token,
   * the one that was used last first: at most 20.
   */
  listSessions: object
  /** End one of your sessions. Every API refuses it from the answer on. The session that asks may end itself. */
  endOneSession: {
    /** The `id` of the session in a list. It opens nothing. One that is not yours, or has ended, is a 404. */
    session_id: string | number
  }
  /**
   * List the sessions of the team. The open sessions of the 200 tokens and users that logged in for the team
   * last; of users those that were opened for it. `is_complete` says whether there were no more of them.
   */
  listTeamSessions: object
  /**
   * End sessions of the team. Ends all sessions of a token of the team, or those that a user opened for it;
   * with `id` one of them. Whoever may log in still may do so again: revoke the token, or take the role away,
   * as well.
   */
  endTeamSessions: {
    /** Whether `subject` is a token or a user. */
    kind: string | number
    /** The name of the token or of the user. */
    subject: string | number
    /** The `id` of the only session that ends. */
    id?: string | undefined
  }
  /** This document as JSON. */
  readContract: object
}

/** What each operation answers; undefined for an answer without a body. */
export interface Answers {
  pushJob: ScheduledJob
  listJobs: JobList
  pushJobs: JobBatchResults
  listDeadLetterGroups: DeadLetterGroupList
  readJob: Job
  deleteJob: undefined
  retryJob: ScheduledJob
  cancelJob: Job
  fireJob: Job
  duplicateJob: ScheduledJob
  replayJob: ScheduledJob
  listQueues: QueueList
  createQueue: EditedQueue
  readQueue: Queue
  editQueue: EditedQueue
  deleteQueue: undefined
  readQueueManifest: Manifest
  readQueueState: QueueState
  pauseQueue: Queue
  drainQueue: Queue
  resumeQueue: Queue
  readQueueStatistics: Statistics
  listCrons: CronList
  createCron: CreatedCron
  previewCron: CronPreview
  readCron: Cron
  editCron: Cron
  deleteCron: undefined
  readCronManifest: Manifest
  runCron: StartedRun
  pauseCron: Cron
  resumeCron: Cron
  listCronRuns: CronRunList
  listAlerts: AlertList
  deleteAlerts: DeletedAlerts
  countAlerts: UnreadAlerts
  markAlertsRead: UpdatedAlerts
  readAlert: Alert
  deleteAlert: undefined
  markAlertRead: Alert
  listIssues: IssueList
  readIssue: Issue
  acknowledgeIssue: Issue
  muteIssue: Issue
  resolveIssue: Issue
  reopenIssue: Issue
  listAuditRecords: AuditRecordList
  listWindows: WindowList
  createWindow: MaintenanceWindow
  readWindow: MaintenanceWindow
  editWindow: MaintenanceWindow
  deleteWindow: undefined
  readWindowOpenings: WindowCalendar
  previewWindow: WindowPreview
  readStatistics: Statistics
  readTeam: Team
  readTestClock: TestTime
  advanceTestClock: TestTime
  readStatus: Status
  listBulks: BulkList
  createBulk: BulkPreview | Bulk
  readBulk: Bulk
  abortBulk: Bulk
  resumeBulk: Bulk
  purgeQueue: Bulk
  testNotifications: ChannelTestResults
  readMe: Me
  listTokens: TokenList
  createToken: Token
  deleteToken: undefined
  listNotificationChannels: NotificationChannelList
  createNotificationChannel: NotificationChannel
  editNotificationChannel: NotificationChannel
  deleteNotificationChannel: undefined
  listSigningSecrets: SigningSecretList
  createSigningSecret: SigningSecret
  deleteSigningSecret: undefined
  openSession: Session
  readSession: Session
  endSession: undefined
  createLoginCode: LoginCode
  readLoginCode: LoginOffer
  listSessions: SessionList
  endOneSession: undefined
  listTeamSessions: TeamSessionList
  endTeamSessions: EndedSessions
  readContract: Readonly<Record<string, unknown>>
}

/** The items of the operations that answer with a page. */
export interface Items {
  listJobs: JobSummary
  listDeadLetterGroups: DeadLetterGroup
  listQueues: QueueRow
  listCrons: CronSummary
  listCronRuns: CronRun
  listAlerts: Alert
  listIssues: Issue
  listAuditRecords: AuditRecord
  listWindows: MaintenanceWindow
  listBulks: Bulk
  listTokens: Token
  listNotificationChannels: NotificationChannel
  listSigningSecrets: SigningSecret
}

/** The field of a page that holds its items. */
export const ITEM_FIELDS = {
  listJobs: 'jobs',
  listDeadLetterGroups: 'groups',
  listQueues: 'queues',
  listCrons: 'crons',
  listCronRuns: 'runs',
  listAlerts: 'alerts',
  listIssues: 'issues',
  listAuditRecords: 'records',
  listWindows: 'windows',
  listBulks: 'bulks',
  listTokens: 'tokens',
  listNotificationChannels: 'channels',
  listSigningSecrets: 'signing_secrets',
} as const
