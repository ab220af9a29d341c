import { createShardKeyList, type ShardKeyList } from './audit-facts.ts'
import { scanKeys } from './audit-reads.ts'
import { auditShard } from './audit-shard.ts'
import type { Engine } from '../client/engine.ts'
import { KEY_PREFIX, META_KEY, shardPrefix, TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'

/** One thing in Redis that is not as the engine left it. */
export interface Finding {
  readonly key: string
  /** A sentence without the key. */
  readonly message: string
}

export type AuditReport = readonly Finding[]

/**
 * Walks every key of the program and checks that it agrees with all others. Empty = clean. Holds the ids of one shard
 * at a time. It is exact while no step runs; on a live installation a step between two of its reads may show as a
 * finding, which a second run then does not repeat.
 */
export async function audit(engine: Engine): Promise<AuditReport> {
  const findings: Finding[] = []
  const lists = engine.shards.map(() => createShardKeyList())
  for (const key of await scanKeys(engine, `${KEY_PREFIX}*`)) {
    if (!place(lists, key)) findings.push({ key, message: 'no part of the program uses this key' })
  }
  for (const [shard, list] of lists.entries()) {
    const keys = engine.shards[shard]
    if (keys === undefined) continue
    await auditShard({
      engine,
      keys,
      list,
      find: (key, message) => findings.push({ key, message }),
    })
  }
  return findings
}

const INSTALLATION_KEYS: ReadonlySet<string> = new Set([META_KEY, TOKENS_KEY, TEAMS_KEY])
const SHARD_KEYS: ReadonlySet<string> = new Set([
  ...[
    'clk',
    'ex',
    'names',
    'near',
    'mins',
    'ring',
    'teams',
    'tn',
    'mark',
    'set',
    'setn',
    'seq',
    'qseq',
    'tok',
    'gc',
    'cq',
    'use',
    'sus',
    'tu',
    'pushed',
    'term',
    'crons',
    'kn',
    'ki',
    'kd',
    'ks',
  ],
])
const QUEUE_PARTS: ReadonlySet<string> = new Set([
  ...['q', 'r', 'b', 'a', 'p', 'x', 'xb', 'h', 'd', 'c', 'cf', 'co'],
])

/** Sorts a key into its shard's list; false when nothing knows it. */
function place(lists: readonly ShardKeyList[], key: string): boolean {
  if (INSTALLATION_KEYS.has(key)) return true
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
