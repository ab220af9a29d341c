/**
 * The fields of hashes in Redis, by the name that code and Lua steps use (`QUEUE.active`); the value is the field in
 * Redis.
 */

/** Fields of `meta`, the hash of a queue. */
export const QUEUE = {
  /** 1; 0 while the queue is paused, 2 while it is throttled. */
  active: 'a',
  /** Bytes of the summaries in the blocks beyond the kept ones. */
  beyondKept: 'y',
  /** Bytes of deleted finished chains that the blocks of the queue say they have. */
  buried: 'b',
  /** Ids of cancelled jobs that still stand in the ready list. */
  cancelledReady: 'g',
  /** 1 when a resource has set the queue's settings; a queue without it was made by a push. */
  compiled: 'c',
  /** Id of the cron whose hidden queue it is. */
  cronId: 'o',
  /** Bytes of the finished chains of the oldest block that have left the history since it was sealed. */
  departed: 'f',
  /** 1 while the queue drains: it takes no new jobs. */
  draining: 'e',
  /** How fast its target may be called, as base/ring/flow.lua says; absent = as slots allow. */
  flow: 'j',
  /** What has come of it. */
  flowState: 'w',
  /** The newest failure that was raised for it, `at|reason`: 13 digits of Unix ms, and why. */
  lastFailure: 'l',
  /**
   * Jobs that Redis came back without, `at|count|from|to`: when it was told, how many, and when they were accepted; times
   * are 13 digits of Unix ms.
   */
  lostJobs: 'v',
  /** How many jobs may be in flight; absent = no limit. */
  maxParallel: 'm',
  /** `team/name`; without a name for a hidden queue. */
  name: 'n',
  settingsHash: 's',
  /** 1 when the limit holds across a retry's delay as well. */
  strict: 'k',
  teamNumber: 'u',
  timeoutSeconds: 't',
  /** Finished chains that were deleted and whose ids are still in the history. */
  tombstones: 'd',
  /** How many finished chains have left the history at its old end, ever. */
  trimmed: 'h',
} as const

/** Fields of `clock`. Times are 13 digits of Unix ms. */
export const CLOCK = {
  /** How far time is held ahead of Redis TIME, and how far it may be; ms, absent = 0. */
  heldMs: 'o',
  holdMaxMs: 'om',
  jumpedAt: 'j',
  jumpsBack: 'jb',
  jumpsForward: 'jf',
  lastTime: 't',
  /** The latest time that any step had before a jump back. */
  latestTime: 'h',
  /** Jobs that were accepted and lost, as far as it was told; and when it was told last. */
  lostJobs: 'n',
  lossToldAt: 'na',
} as const

/** Fields of the hashes of compiled teams and tokens, beside one for each. */
export const COMPILED = { epoch: '#t', version: '#v' } as const

/** Fields of `heldJobs`, beside one for each job: the answers of the last claim and the last finish, for a resend. */
export const HELD = { lastClaim: '#c', lastFinish: '#f' } as const

/** Fields of `jobIndex`, beside one for each job. */
export const INDEX = { owner: 'o' } as const

/** Fields of the installation's `meta`. */
export const META = {
  epoch: 'term',
  installation: 'installation',
  /** How far time is ahead of the clock of Redis, ms; absent but in an installation for tests. */
  testClockMs: 'test_clock_ms',
} as const

/** Fields of `shardUsage`. */
export const SHARD_USAGE = {
  callBytes: 'calls',
  /** Bytes of all finished chains in blocks, as the budget counts them; history/sealed.lua says how. */
  sealedBytes: 'sealed',
  unknownSettings: 'unknown_settings',
} as const

/** Fields of `statistics`. */
export const STATISTICS = {
  /** Jobs that ended while the log was full: they are in no statistics. */
  lostJobs: 'lost',
  /** The last minute in which queues were counted. */
  sampledMinute: 'm',
  /** The end of the lease of `roundLock`, in Unix ms; executors of the version before look here. */
  lockEndsAt: 't',
  /** Rises with every change of tallies, which only one process makes at a time. */
  version: 'v',
} as const

/** Endings of the fields of `teamUsage`, `<team>:b` and so on; `*:b` is the bytes of all teams. */
export const TEAM_USAGE = { bytes: ':b', inFlight: ':f', jobs: ':j', month: ':m', sealed: ':h' } as const

/** Fields of `alertCounts`; `unread` is followed by a type. */
export const ALERT_COUNTS = {
  /** The highest number that an id was made of. */
  last: 'i',
  unread: 'u:',
  /** Fields of the part of a bulk. */
  version: 'v',
} as const

/** Fields of a bulk's part in a shard. */
export const BULK_PART = {
  /** Answer of the last page, for a resend. */
  answer: 'r',
  done: 'd',
  failed: 'f',
  /** Jobs that it made and that failed again. */
  failedAgain: 'a',
  /** JSON array of the ids, if the bulk was given ids. */
  ids: 'i',
  /** Jobs that it is yet to look at before it rests. */
  looksLeft: 'l',
  /** Jobs that it made. */
  made: 'm',
  /** Nonce of the last page. */
  nonce: 'n',
  /** Rises with each look at what became of its jobs. */
  outcomeVersion: 'o',
  /** Position at which the next page begins; '' = at the start. */
  place: 'p',
  /** Jobs that it made and that were removed before their end was counted. */
  removed: 'x',
  /** How often the bulk had been resumed when the part last was. */
  resumes: 'u',
  skipped: 'k',
  /** running, done or aborted. */
  state: 's',
  /** Jobs that it made and that succeeded. */
  succeeded: 'c',
  /** Rises with each page. */
  version: 'v',
} as const

/**
 * How a job in flight ends, under the names of `AttemptEnd` and `WorkEnd`: the `kind` of a job in the batches of `finish`
 * and `reap`.
 */
export const END = {
  callback_ended: 'c',
  dead_letter: 'd',
  failed_no_retries: 'f',
  /** The job's slot was lost with its record; only what still holds it is freed. */
  freed: 'n',
  quarantined: 'x',
  released: 'g',
  retry: 'r',
  success: 's',
} as const

export const FIELDS = {
  ALERT_COUNTS,
  BULK_PART,
  CLOCK,
  COMPILED,
  END,
  HELD,
  INDEX,
  META,
  QUEUE,
  SHARD_USAGE,
  STATISTICS,
  TEAM_USAGE,
} as const
