/**
 * The fields of hashes in Redis, by the name that code and Lua steps use (`QUEUE.active`); the value is the field in
 * Redis.
 */

/** Of `meta`, the hash of a queue. */
export const QUEUE = {
  /** 1, or 0 while the queue is paused. */
  active: 'a',
  /** What the blocks beyond the kept ones say their summaries have, in bytes. */
  beyondKept: 'y',
  /** Bytes of deleted finished chains that the blocks of the queue say they have. */
  buried: 'b',
  /** Ids of cancelled jobs that still stand in the ready list. */
  cancelledReady: 'g',
  /** 1 when a resource has set the queue's settings; a queue without it was made by a push. */
  compiled: 'c',
  /** Of a cron's hidden queue. */
  cronId: 'o',
  /** Bytes of the finished chains of the oldest block that have left the history since it was sealed. */
  departed: 'f',
  /** 1 while the queue drains: it takes no new jobs. */
  draining: 'e',
  /** The newest failure that was raised for it, `at|reason`: 13 digits of Unix ms, and why. */
  lastFailure: 'l',
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

/** Of `clock`. Times are 13 digits of Unix ms. */
export const CLOCK = {
  jumpedAt: 'j',
  jumpsBack: 'jb',
  jumpsForward: 'jf',
  lastTime: 't',
  /** The latest time that any step had before a jump back. */
  latestTime: 'h',
  /** How many of `jumpsBack` `latestTime` takes into account: an earlier version notes none. */
  notedBack: 'hb',
} as const

/** Of the hashes of compiled teams and tokens, beside a field for each. */
export const COMPILED = { epoch: '#t', version: '#v' } as const

/** Beside the hashes of tokens: whether those that earlier versions stored are among them. */
export const HASH_TEAMS = { isComplete: '#c' } as const

/** Of `heldJobs`, beside an entry for each job: what the last claim and the last finish answered, for a resend. */
export const HELD = { lastClaim: '#c', lastFinish: '#f' } as const

/** Of `jobIndex`, beside an entry for each job. */
export const INDEX = { owner: 'o' } as const

/** Of the installation's `meta`. */
export const META = { epoch: 'term', installation: 'installation' } as const

/** Of `shardUsage`. */
export const SHARD_USAGE = {
  callBytes: 'calls',
  /** Of all finished chains in blocks, as the budget counts them; history/sealed.lua says how. */
  sealedBytes: 'sealed',
  unknownSettings: 'unknown_settings',
} as const

/** Of `statistics`. */
export const STATISTICS = {
  /** Jobs that ended while the log was full: they are in no statistics. */
  lostJobs: 'lost',
  /** The last minute in which queues were counted. */
  sampledMinute: 'm',
  /** Until when one executor counts queues alone, in Unix ms. */
  turnEndsAt: 't',
  /** Rises with every change of tallies, which only one process makes at a time. */
  version: 'v',
} as const

/** Endings of the fields of `teamUsage`, `<team>:b` and so on; `*:b` is the bytes of all teams. */
export const TEAM_USAGE = { bytes: ':b', inFlight: ':f', jobs: ':j', month: ':m', sealed: ':h' } as const

/** Of `alertCounts`; `unread` is followed by a type. */
export const ALERT_COUNTS = {
  /** The highest number that an id was made of. */
  last: 'i',
  unread: 'u:',
  /** How often something was raised. */
  version: 'v',
} as const

/** Of the part of a bulk. */
export const BULK_PART = {
  /** What the last page answered, for a resend. */
  answer: 'r',
  done: 'd',
  failed: 'f',
  /** JSON array of the ids, if the bulk was given ids. */
  ids: 'i',
  /** Of the last page. */
  nonce: 'n',
  /** Where the next page begins; '' = at the start. */
  place: 'p',
  skipped: 'k',
  /** running, done or aborted. */
  state: 's',
  /** Rises with each page. */
  version: 'v',
} as const

/** How a job in flight ends: the `kind` of a job in the batches of `finish` and `reap`. */
export const END = {
  callbackEnded: 'c',
  deadLetter: 'd',
  failed: 'f',
  /** Its slot was lost with its record; only what still holds it is freed. */
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
  HASH_TEAMS,
  HELD,
  INDEX,
  META,
  QUEUE,
  SHARD_USAGE,
  STATISTICS,
  TEAM_USAGE,
} as const
