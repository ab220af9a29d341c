import { ID_BLOCK } from '../../domain/limits.ts'
import { SHARD_TAGS } from './shard-tags.ts'

/** Every key begins with this; an ACL of `~punctual:*` covers the program. */
export const KEY_PREFIX = 'punctual:'

/** Installation-wide keys, outside the shards. */
export const META_KEY = `${KEY_PREFIX}meta`
export const TOKENS_KEY = `${KEY_PREFIX}tokens`
export const TEAMS_KEY = `${KEY_PREFIX}teams`
/** Plain PUBLISH of a shard's number when its ring became non-empty: a hint, never relied on. */
export const WAKE_CHANNEL = `${KEY_PREFIX}wake`

/** A local id that no queue ever has. */
export const NO_QUEUE = '0'
/** A team's callback queue has this much more for its local id than the team's number: far above all others. */
const CALLBACK_QUEUES_FROM = 2 ** 40

/** Queue numbers in one set of pushed queues; lib/pushed.lua says why. */
const PUSHED_BUCKET = 512

/** Keys of one queue; see docs/architecture.md for what each holds. */
export interface QueueKeys {
  readonly q: string
  readonly r: string
  readonly b: string
  readonly a: string
  readonly p: string
  readonly x: string
  readonly xb: string
  readonly h: string
  readonly d: string
  readonly c: string
  readonly cf: string
  readonly co: string
}

export interface ShardKeys {
  readonly shard: number
  readonly clk: string
  readonly ex: string
  readonly names: string
  readonly near: string
  readonly mins: string
  readonly ring: string
  readonly teams: string
  readonly tn: string
  readonly mark: string
  readonly set: string
  readonly setn: string
  readonly seq: string
  readonly qseq: string
  readonly tok: string
  readonly gc: string
  readonly cq: string
  readonly use: string
  readonly sus: string
  /** What each team holds. */
  readonly tu: string
  /** The buckets of `pushedBucket` that hold any. */
  readonly pushed: string
  readonly term: string
  readonly crons: string
  readonly kn: string
  readonly ki: string
  readonly kd: string
  readonly ks: string
  /** The names of a team's queues, in order. */
  qnOf(team: string): string
  /** The names of a team's crons at home here, in order. */
  knOf(team: string): string
  /** The records of a cron's last ticks, by its whole id. */
  kr(cronId: string): string
  held(executor: string): string
  pushedBucket(localId: string): string
  minute(minute: number): string
  index(block: number): string
  idempotency(day: number): string
  queue(localId: string): QueueKeys
  trash(localId: string, part: 'b' | 'd' | 'xb' | 'p'): string
}

export function shardPrefix(shard: number): string {
  const tag = SHARD_TAGS[shard]
  if (tag === undefined) throw new Error(`no such shard: ${shard}`)
  return `${KEY_PREFIX}{${tag}}:`
}

export function createShardKeys(shard: number): ShardKeys {
  const p = shardPrefix(shard)
  return {
    shard,
    clk: `${p}clk`,
    ex: `${p}ex`,
    names: `${p}names`,
    near: `${p}near`,
    mins: `${p}mins`,
    ring: `${p}ring`,
    teams: `${p}teams`,
    tn: `${p}tn`,
    mark: `${p}mark`,
    set: `${p}set`,
    setn: `${p}setn`,
    seq: `${p}seq`,
    qseq: `${p}qseq`,
    tok: `${p}tok`,
    gc: `${p}gc`,
    cq: `${p}cq`,
    use: `${p}use`,
    sus: `${p}sus`,
    tu: `${p}tu`,
    pushed: `${p}pushed`,
    term: `${p}term`,
    crons: `${p}crons`,
    kn: `${p}kn`,
    ki: `${p}ki`,
    kd: `${p}kd`,
    ks: `${p}ks`,
    qnOf: (team) => `${p}qn:${team}`,
    knOf: (team) => `${p}kn:${team}`,
    kr: (cronId) => `${p}kr:${cronId}`,
    pushedBucket: (localId) => `${p}pushed:${Math.floor(Number(localId) / PUSHED_BUCKET)}`,
    held: (executor) => `${p}in:${executor}`,
    minute: (minute) => `${p}m:${minute}`,
    index: (block) => `${p}ix:${block}`,
    idempotency: (day) => `${p}idem:${day}`,
    queue: (id) => ({
      q: `${p}q:${id}`,
      r: `${p}r:${id}`,
      b: `${p}b:${id}`,
      a: `${p}a:${id}`,
      p: `${p}p:${id}`,
      x: `${p}x:${id}`,
      xb: `${p}xb:${id}`,
      h: `${p}h:${id}`,
      d: `${p}d:${id}`,
      c: `${p}c:${id}`,
      cf: `${p}cf:${id}`,
      co: `${p}co:${id}`,
    }),
    trash: (id, part) => `${p}trash:${id}:${part}`,
  }
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

/** The index block of a job sequence number, and its field in it. */
export function indexPlace(seq: number): { block: number; field: string } {
  return { block: Math.floor(seq / ID_BLOCK), field: String(seq % ID_BLOCK) }
}

/** Fields of `tu`: a team's bytes, jobs not ended, calls in flight and jobs of a month; lib/usage.lua says more. */
export type UsagePart = 'b' | 'j' | 'f' | 'm'
export function usageField(team: string, part: UsagePart): string {
  return `${team}:${part}`
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

/** Whether a job with this score in `a:` is a suspect that waits; see lib/suspects.lua. */
export function isSuspectWaiting(score: string | number): boolean {
  return Number(score) >= 9e15
}

/** A queue's public id: its local id and its shard in one number. */
export function queueIdOf(localId: string, shard: number, shards: number): number {
  return Number(localId) * shards + shard
}
