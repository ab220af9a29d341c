import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import {
  HASH_TEAMS_KEY,
  KEY_PREFIX,
  META_KEY,
  NAMESPACES_KEY,
  QUEUE_KEY_WORDS,
  revokedKey,
  SECRETS_KEY,
  SHARD_KEY_WORDS,
  shardPrefix,
  OWN_ADDRESSES_KEY,
  TEAMS_KEY,
  TOKENS_KEY,
  USED_KEY,
  WINDOWS_KEY,
} from '../../base/layout/keys.ts'
import { createShardKeyList, type ShardKeyList } from './inspect-facts.ts'
import { scanKeys } from '../../base/engine/paged-reads.ts'
import { inspectShard } from './inspect-shard.ts'

/** One thing in Redis that is not as the engine left it. */
export interface Finding {
  readonly key: string
  /** A sentence without the key. */
  readonly message: string
}

/** Findings of one pass over a shard. */
export interface ShardPass {
  readonly findings: readonly Finding[]
  /** Counters that differ from what was counted. The two are read at different moments: exact only while no step runs. */
  readonly miscounts: readonly Finding[]
}

/**
 * Walks every key of the program and checks that it agrees with all others. Empty = clean. Holds the ids of one shard
 * at a time. Exact only while no step runs; `inspectLive` is for an installation that works.
 */
export async function inspect(engine: Engine): Promise<readonly Finding[]> {
  const { lists, strays } = await listKeys(engine)
  const findings = [...strays]
  for (const shard of lists.keys()) {
    const pass = await passOverShard(engine, { shard, list: lists[shard] })
    findings.push(...pass.findings, ...pass.miscounts)
  }
  return findings
}

/** The keys of the program by shard, and those that no part of it uses. */
export async function listKeys(engine: Engine): Promise<{ lists: ShardKeyList[]; strays: Finding[] }> {
  const lists = engine.shards.map(() => createShardKeyList())
  const strays: Finding[] = []
  for (const key of await scanKeys(engine, `${KEY_PREFIX}*`)) {
    if (!place(lists, key)) strays.push({ key, message: 'is used by no part of the program' })
  }
  return { lists, strays }
}

/** @param advance called after each queue */
export async function passOverShard(
  engine: Engine,
  {
    shard,
    list = createShardKeyList(),
    advance = () => undefined,
  }: { readonly shard: number; readonly list: ShardKeyList | undefined; readonly advance?: () => void },
): Promise<ShardPass> {
  const findings: Finding[] = []
  const miscounts: Finding[] = []
  await inspectShard({
    engine,
    keys: shardKeys(engine, shard),
    list,
    find: (key, message) => findings.push({ key, message }),
    findMiscount: (key, message) => miscounts.push({ key, message }),
    advance,
  })
  return { findings, miscounts }
}

const INSTALLATION_KEYS: ReadonlySet<string> = new Set([
  META_KEY,
  HASH_TEAMS_KEY,
  SECRETS_KEY,
  TOKENS_KEY,
  TEAMS_KEY,
  USED_KEY,
  WINDOWS_KEY,
  OWN_ADDRESSES_KEY,
  NAMESPACES_KEY,
])
const REVOKED_PREFIX = revokedKey('')
const SHARD_KEYS: ReadonlySet<string> = new Set(Object.values(SHARD_KEY_WORDS))
/** `b` of `b:<q>`; those of deleted queues begin with `trash:`. */
const QUEUE_PARTS: ReadonlySet<string> = new Set(
  Object.values(QUEUE_KEY_WORDS).flatMap((word) => (word.endsWith(':<q>') ? [word.slice(0, -4)] : [])),
)

/** `ad` of `ad:<team>`: keys of a team's alerts. */
const ALERT_PARTS: ReadonlySet<string> = new Set(['ad', 'ao', 'af', 'an'])
/** Keys of a team's channels. */
const CHANNEL_PARTS: ReadonlySet<string> = new Set(['nc', 'nl'])
/** Keys of the audit log, of rate limits and of intakes, with which nothing else has to agree. */
const LONE_PARTS: ReadonlySet<string> = new Set([
  'au',
  'auc',
  'aq',
  'dau',
  'dauc',
  'daq',
  'sau',
  'sauc',
  'saq',
  'rl',
  'im',
])

/** Matches keys of sessions and of codes that log in, with which nothing else has to agree. */
const SESSIONS = /^punctual:\{[\w-]{43}\}:(?:session|code)$/

/** Sorts a key into its shard's list; false when nothing knows it. */
function place(lists: readonly ShardKeyList[], key: string): boolean {
  if (INSTALLATION_KEYS.has(key) || SESSIONS.test(key) || key.startsWith(REVOKED_PREFIX)) return true
  const shard = lists.findIndex((_, at) => key.startsWith(shardPrefix(at)))
  const list = lists[shard]
  if (list === undefined) return false
  const name = key.slice(shardPrefix(shard).length)
  if (SHARD_KEYS.has(name)) return true
  const colon = name.indexOf(':')
  const [kind, rest] = [name.slice(0, colon), name.slice(colon + 1)]
  if (kind === 'in') return list.executors.push(rest) > 0
  if (kind === 'trash') return placeTrash(list, rest)
  if (kind === 'qn') return list.queueTeams.push(rest) > 0
  if (kind === 'kn') return list.cronTeams.push(rest) > 0
  if (ALERT_PARTS.has(kind)) return list.alertTeams.add(rest).size > 0
  if (kind === 'is') return list.issueTeams.add(rest).size > 0
  if (LONE_PARTS.has(kind)) return true
  if (kind === 'bk') return list.bulkTeams.add(rest).size > 0
  if (kind === 'bp') return list.bulkParts.add(rest).size > 0
  if (kind === 'bf' || kind === 'bj' || kind === 'bu') return true
  if (kind === 's') return list.owners.push(rest) > 0
  if (CHANNEL_PARTS.has(kind)) return list.channelTeams.add(rest).size > 0
  if (!/^(0|[1-9]\d*)$/.test(rest)) return false
  if (kind === 'kr') return list.records.push(rest) > 0
  if (kind === 'm') return list.minutes.push(Number(rest)) > 0
  if (kind === 'ix') return list.blocks.push(Number(rest)) > 0
  if (kind === 'pushed') return list.pushed.push(rest) > 0
  if (kind === 'idem') return list.days.push(Number(rest)) > 0
  if (!QUEUE_PARTS.has(kind)) return false
  addPart(list.queues, rest, kind)
  return true
}

function placeTrash(list: ShardKeyList, rest: string): boolean {
  const match = /^([1-9]\d*):(b|d|xb|p)$/.exec(rest)
  if (match === null) return false
  addPart(list.trash, match[1] as string, match[2] as string)
  return true
}

function addPart(parts: Map<string, Set<string>>, id: string, part: string): void {
  const known = parts.get(id)
  if (known === undefined) parts.set(id, new Set([part]))
  else known.add(part)
}
