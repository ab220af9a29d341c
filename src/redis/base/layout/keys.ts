import { ID_BLOCK } from '../../../domain/limits.ts'
import { TEAM_USAGE } from './fields.ts'
import { SHARD_TAGS } from './shard-tags.ts'

/** Every key begins with this; an ACL of `~punctual:*` covers the program. */
export const KEY_PREFIX = 'punctual:'

/** Installation-wide keys, outside the shards. */
export const META_KEY = `${KEY_PREFIX}meta`
export const TOKENS_KEY = `${KEY_PREFIX}tokens`
export const TEAMS_KEY = `${KEY_PREFIX}teams`
/** Times at which tokens were last used: `["team","name"]` → Unix ms. */
export const USED_KEY = `${KEY_PREFIX}used`
/** The team of each token's hash, also of revoked ones; beside the tokens, in their slot. */
export const HASH_TEAMS_KEY = `${KEY_PREFIX}{${TOKENS_KEY}}:teams`
/** The revoked hashes of a team, in order. */
export function revokedKey(team: string): string {
  return `${KEY_PREFIX}{${TOKENS_KEY}}:revoked:${team}`
}
/** Secrets of queues and crons, sealed. */
export const SECRETS_KEY = `${KEY_PREFIX}secrets`
export const WINDOWS_KEY = `${KEY_PREFIX}windows`
/** Addresses that jobs may not call, as the controller finds them: `apiServer` and `pods`. */
export const OWN_ADDRESSES_KEY = `${KEY_PREFIX}own-addresses`
/** The uid of the namespace that each team's data belongs to. */
export const NAMESPACES_KEY = `${KEY_PREFIX}namespaces`
/** The sessions of a subject. @param subject a hash in base64url */
export function sessionsKey(subject: string): string {
  return `${KEY_PREFIX}{${subject}}:session`
}
/** A code that logs in once. @param code its hash in base64url */
export function loginCodeKey(code: string): string {
  return `${KEY_PREFIX}{${code}}:code`
}
/** Plain PUBLISH of a shard's number when its ring became non-empty: a hint, never relied on. */
export const WAKE_CHANNEL = `${KEY_PREFIX}wake`
/** Whether a key is a session or a login code. */
export function isLoginKey(key: string): boolean {
  return LOGIN_KEY.test(key)
}
const LOGIN_KEY = new RegExp(`^${KEY_PREFIX}\\{[^}]*\\}:(?:session|code)$`)

/** A local id that no queue ever has. */
export const NO_QUEUE = '0'
/** A team's callback queue has this much more for its local id than the team's number: far above all others. */
const CALLBACK_QUEUES_FROM = 2 ** 40

/** Queue numbers in one set of pushed queues; base/lib/pushed.lua says why. */
const PUSHED_BUCKET = 512
/** The score of a suspect in `a:`, to which its due time is added; see base/lib/suspects.lua. */
const SUSPECT_WAITS = 9e15

/**
 * The keys of a shard, by the name that code and Lua steps use; the value is the word in Redis. docs/architecture.md
 * says what each holds.
 */
export const SHARD_KEY_WORDS = {
  bulksDue: 'bw',
  bulkLock: 'bt',
  clock: 'clk',
  created: 'mark',
  cronAlerts: 'ka',
  cronDefinitions: 'kd',
  cronIds: 'kn',
  cronShards: 'ki',
  cronStates: 'ks',
  cronsDue: 'crons',
  executors: 'ex',
  failingQueues: 'fq',
  fencingToken: 'tok',
  issuesDue: 'isd',
  jobBlock: 'seq',
  leaderEpoch: 'term',
  limitWarnings: 'lw',
  minutes: 'mins',
  nearSet: 'near',
  notices: 'np',
  oldestCalls: 'cq',
  openTallies: 'so',
  pushedBuckets: 'pushed',
  queueIds: 'names',
  queueNumber: 'qseq',
  retentionDue: 'gc',
  ring: 'ring',
  roundLock: 'mr',
  sampledQueues: 'sq',
  sealedHistories: 'hs',
  settings: 'set',
  settingsUses: 'setn',
  shardUsage: 'use',
  statistics: 'stat',
  statisticsLog: 'sl',
  suspects: 'sus',
  teamNumbers: 'tn',
  teamUsage: 'tu',
  teams: 'teams',
} as const

/** The keys of one queue; `<q>` is its local id. */
export const QUEUE_KEY_WORDS = {
  blocks: 'hb:<q>',
  callRecords: 'c:<q>',
  deadLetterRecords: 'xb:<q>',
  deadLetters: 'x:<q>',
  failedCalls: 'cf:<q>',
  history: 'h:<q>',
  inFlight: 'a:<q>',
  meta: 'q:<q>',
  payloads: 'p:<q>',
  ready: 'r:<q>',
  records: 'b:<q>',
  successfulCalls: 'co:<q>',
  summaries: 'd:<q>',
  trashedDeadLetterRecords: 'trash:<q>:xb',
  trashedPayloads: 'trash:<q>:p',
  trashedRecords: 'trash:<q>:b',
  trashedSummaries: 'trash:<q>:d',
} as const

export type ShardKeyName = keyof typeof SHARD_KEY_WORDS
export type QueueKeyName = keyof typeof QUEUE_KEY_WORDS
export const QUEUE_KEY_NAMES = Object.keys(QUEUE_KEY_WORDS) as readonly QueueKeyName[]

/** The word that the name of such a key begins with. */
export function queueKeyWord(name: QueueKeyName): string {
  return QUEUE_KEY_WORDS[name].split(':')[0] as string
}

export type QueueKeys = Readonly<Record<QueueKeyName, string>>

export interface ShardKeys extends Readonly<Record<ShardKeyName, string>> {
  readonly shard: number
  queue(localId: string): QueueKeys
  /** One key of a queue, for where the others would be made in vain. */
  queueKey(name: QueueKeyName, localId: string): string
  /** The names of a team's queues, in order. */
  teamQueues(team: string): string
  /** The names of a team's crons at home here, in order. */
  teamCrons(team: string): string
  /** The alerts of a team's resources here, by id. */
  alertRecords(team: string): string
  /** Ids of the alerts, in order. */
  alertOrder(team: string): string
  /** Totals of the alerts, by fingerprint. */
  alertTotals(team: string): string
  /** The last id, and what is unread. */
  alertCounts(team: string): string
  /** The issues of a team's queues and crons here. */
  issues(team: string): string
  /** The audit log of a team's settings, in its home. */
  auditLog(team: string): string
  /** Like changes counted into entries of `auditLog`, by their ids. */
  auditCounts(team: string): string
  /** The audit log of deeds on jobs, alerts and bulks here, of which there may be thousands a minute. */
  deedLog(team: string): string
  deedCounts(team: string): string
  /** Changes of the team that somebody asked for and that have not ended, in its home. */
  auditAsked(team: string): string
  /** Deeds that somebody asked for and that have not ended; they go to `deedLog`. */
  deedAsked(team: string): string
  /** The audit log of logins and logouts alone, in the team's home. */
  sessionLog(team: string): string
  sessionCounts(team: string): string
  sessionAsked(team: string): string
  /** Requests that a token with a rate limit has taken. @param token `team/name` */
  tokenRate(token: string): string
  /** The bulks of a team at home here, by id. */
  bulks(team: string): string
  /** The part of a bulk here; `bulk` is `team/id`. */
  bulkPart(bulk: string): string
  /** Jobs here that the bulk could not act on. */
  bulkFailures(bulk: string): string
  /** Jobs here that the bulk made or fired. */
  bulkJobs(bulk: string): string
  /** Those of them that were made and whose end has not been counted. */
  bulkWaiting(bulk: string): string
  /** The channels of a team at home here. */
  channelStates(team: string): string
  /** The last messages to them. */
  deliveryLog(team: string): string
  /** The records of a cron's last ticks, by its whole id. */
  cronRecords(cronId: string): string
  heldJobs(executor: string): string
  pushedBucket(localId: string): string
  minuteBucket(minute: number): string
  jobIndex(block: number): string
  /** What this Redis has of the steps of an intake; expires. @param intake its nonce */
  intakeMark(intake: string): string
  /** Counts of each minute of a queue or team. */
  settledTallies(owner: string): string
  idempotencyKeys(day: number): string
}

export function shardPrefix(shard: number): string {
  const tag = SHARD_TAGS[shard]
  if (tag === undefined) throw new Error(`no such shard: ${shard}`)
  return `${KEY_PREFIX}{${tag}}:`
}

export function createShardKeys(shard: number): ShardKeys {
  const prefix = shardPrefix(shard)
  const ofQueue = mapped(QUEUE_KEY_WORDS, (word) => {
    const [before = '', after = ''] = word.split('<q>')
    return { before: prefix + before, after }
  })
  return {
    shard,
    ...mapped(SHARD_KEY_WORDS, (word) => prefix + word),
    queue: (localId) => mapped(ofQueue, ({ before, after }) => before + localId + after),
    queueKey: (name, localId) => ofQueue[name].before + localId + ofQueue[name].after,
    teamQueues: (team) => `${prefix}qn:${team}`,
    teamCrons: (team) => `${prefix}kn:${team}`,
    alertRecords: (team) => `${prefix}ad:${team}`,
    alertOrder: (team) => `${prefix}ao:${team}`,
    alertTotals: (team) => `${prefix}af:${team}`,
    alertCounts: (team) => `${prefix}an:${team}`,
    issues: (team) => `${prefix}is:${team}`,
    auditLog: (team) => `${prefix}au:${team}`,
    auditCounts: (team) => `${prefix}auc:${team}`,
    auditAsked: (team) => `${prefix}aq:${team}`,
    deedLog: (team) => `${prefix}dau:${team}`,
    deedCounts: (team) => `${prefix}dauc:${team}`,
    deedAsked: (team) => `${prefix}daq:${team}`,
    sessionLog: (team) => `${prefix}sau:${team}`,
    sessionCounts: (team) => `${prefix}sauc:${team}`,
    sessionAsked: (team) => `${prefix}saq:${team}`,
    tokenRate: (token) => `${prefix}rl:${token}`,
    bulks: (team) => `${prefix}bk:${team}`,
    bulkPart: (bulk) => `${prefix}bp:${bulk}`,
    bulkFailures: (bulk) => `${prefix}bf:${bulk}`,
    bulkJobs: (bulk) => `${prefix}bj:${bulk}`,
    bulkWaiting: (bulk) => `${prefix}bu:${bulk}`,
    channelStates: (team) => `${prefix}nc:${team}`,
    deliveryLog: (team) => `${prefix}nl:${team}`,
    cronRecords: (cronId) => `${prefix}kr:${cronId}`,
    pushedBucket: (localId) => `${prefix}pushed:${Math.floor(Number(localId) / PUSHED_BUCKET)}`,
    heldJobs: (executor) => `${prefix}in:${executor}`,
    minuteBucket: (minute) => `${prefix}m:${minute}`,
    settledTallies: (owner) => `${prefix}s:${owner}`,
    jobIndex: (block) => `${prefix}ix:${block}`,
    intakeMark: (intake) => `${prefix}im:${intake}`,
    idempotencyKeys: (day) => `${prefix}idem:${day}`,
  }
}

function mapped<Name extends string, From, To>(
  table: Readonly<Record<Name, From>>,
  to: (value: From) => To,
): Record<Name, To> {
  const made = {} as Record<Name, To>
  for (const name in table) made[name] = to(table[name])
  return made
}

/**
 * A key in the slot of these that never exists. While a slot moves, a Cluster refuses a step one of whose keys is
 * absent, and else lets it begin: a step that then empties a key and looks at it again is stopped half way. With this
 * key declared every step waits, whole, until the move is over.
 */
export function absentKeyBeside(keys: readonly string[]): string {
  const [first = ''] = keys
  // A key without a tag has its whole name for one.
  const tagged = first.includes('}') ? first.slice(0, first.indexOf('}') + 1) : `${KEY_PREFIX}{${first}}`
  return `${tagged}:absent`
}

/** Estimates of Redis time are good to this; both minutes are declared near a boundary. */
const CLOCK_TOLERANCE_MS = 1500

/** The minute buckets a job due at about `dueMs` may fall into. */
export function minutesAround(dueMs: number): number[] {
  const first = Math.floor((dueMs - CLOCK_TOLERANCE_MS) / 60_000)
  const last = Math.floor((dueMs + CLOCK_TOLERANCE_MS) / 60_000)
  return first === last ? [first] : [first, last]
}

/** The index block of a job sequence number, and its field in it. */
export function indexPlace(seq: number): { block: number; field: string } {
  return { block: Math.floor(seq / ID_BLOCK), field: String(seq % ID_BLOCK) }
}

/** A field of `teamUsage`, which base/lib/usage.lua describes. @param team `*` = all teams */
export function usageField(team: string, part: keyof typeof TEAM_USAGE): string {
  return team + TEAM_USAGE[part]
}

/** `team/name`, the field of `names`; a team is a DNS label and holds no slash. */
export function nameField(team: string, queue: string): string {
  return `${team}/${queue}`
}

export function splitNameField(field: string): { team: string; queue: string } {
  const slash = field.indexOf('/')
  return { team: field.slice(0, slash), queue: field.slice(slash + 1) }
}

/** The local id of a team's hidden queue for callbacks. */
export function callbackQueueOf(teamNumber: string): string {
  return String(CALLBACK_QUEUES_FROM + Number(teamNumber))
}

export function isCallbackQueue(localId: string): boolean {
  return Number(localId) >= CALLBACK_QUEUES_FROM
}

/** Whether a job with this score in `a:` is a suspect that waits; see base/lib/suspects.lua. */
export function isSuspectWaiting(score: string | number): boolean {
  return Number(score) >= SUSPECT_WAITS
}

/** Time since which a waiting suspect is due, by its score; 0 when its record was damaged. */
export function suspectDueMs(score: string | number): number {
  return Number(score) - SUSPECT_WAITS
}

/** A queue's public id: its local id and its shard in one number. */
export function queueIdOf(localId: string, shard: number, shards: number): number {
  return Number(localId) * shards + shard
}
