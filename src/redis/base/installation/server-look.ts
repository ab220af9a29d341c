import type { FoundRisk, StoreReplica, StoreServer } from '../../../ports/health.ts'
import { namedPrimariesOf, type RedisConnection } from '../client/connection.ts'

const SECTIONS = ['server', 'memory', 'persistence', 'stats', 'replication'] as const
/** Replicas of a server that are told of. */
const REPLICAS_MAX = 16

/** Looks at each primary, by its name; null = it does not answer. */
export async function readServers(
  connection: RedisConnection,
): Promise<ReadonlyMap<string, StoreServer | null>> {
  const looks = [...namedPrimariesOf(connection)].map(async ([name, node]) => {
    const info = await node.info(...SECTIONS).catch(() => null)
    return [name, info === null ? null : serverOf(name, fieldsOf(info))] as const
  })
  return new Map(await Promise.all(looks))
}

/** The fields of an INFO. */
export type ServerFields = ReadonlyMap<string, string>

export function fieldsOf(info: string): ServerFields {
  const pairs = [...info.matchAll(/^(\w+):(.*?)\r?$/gm)]
  return new Map(pairs.map(([, field = '', value = '']) => [field, value]))
}

/**
 * Reads a server's state from INFO: CONFIG GET would show passwords of the server to everybody who may ask, and a
 * managed Redis refuses it. A field that a server does not show is taken for nothing.
 */
export function serverOf(name: string, info: ServerFields): StoreServer {
  const figure = (field: string): number => Number(info.get(field) ?? 0)
  const isOk = (field: string): boolean | null => {
    const value = info.get(field)
    return value === undefined ? null : value === 'ok'
  }
  const saved = info.get('rdb_last_save_time')
  const appendOnly = info.get('aof_enabled')
  return {
    name,
    version: info.get('valkey_version') ?? info.get('redis_version') ?? null,
    replicas: replicasIn(info),
    usedBytes: figure('used_memory') - figure('mem_not_counted_for_evict'),
    maxBytes: figure('maxmemory'),
    evictedKeys: figure('evicted_keys'),
    isAppendOnly: appendOnly === undefined ? null : appendOnly === '1',
    isAppendOnlyWritten: isOk('aof_last_write_status'),
    savedAtSeconds: saved === undefined ? null : Number(saved),
    risks: risksIn(info),
  }
}

function replicasIn(info: ServerFields): readonly StoreReplica[] {
  return [...info]
    .filter(([field]) => /^slave\d+$/.test(field))
    .slice(0, REPLICAS_MAX)
    .map(([, text]) => {
      const facts = new Map(text.split(',').map((fact) => fact.split('=', 2) as [string, string]))
      const lag = facts.get('lag')
      return {
        name: `${facts.get('ip') ?? '?'}:${facts.get('port') ?? '?'}`,
        isOnline: facts.get('state') === 'online',
        lagSeconds: lag === undefined ? null : Math.max(0, Number(lag)),
      }
    })
}

/** Risks to jobs on this server. */
export function risksIn(info: ServerFields): readonly FoundRisk[] {
  const found: FoundRisk[] = []
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction') {
    const message = `Redis may evict jobs (maxmemory-policy is ${policy}): run "redis-cli CONFIG SET maxmemory-policy noeviction".`
    found.push({ risk: 'eviction', message })
  }
  if (info.get('aof_enabled') === '0') {
    const message =
      'Redis would lose jobs at a restart (appendonly is no): run "redis-cli CONFIG SET appendonly yes".'
    found.push({ risk: 'append_only_off', message })
  }
  const failing = (field: string): boolean => (info.get(field) ?? 'ok') !== 'ok'
  for (const field of ['aof_last_write_status', 'aof_last_bgrewrite_status']) {
    if (!failing(field)) continue
    const message = `Redis cannot write its AOF (${field} is ${info.get(field)}): look at its log and its disk.`
    found.push({ risk: 'append_only_failing', message })
  }
  if (failing('rdb_last_bgsave_status')) {
    const message =
      'Redis cannot write its snapshot (rdb_last_bgsave_status is err), and refuses all writes while stop-writes-on-bgsave-error is yes: look at its log and its disk.'
    found.push({ risk: 'snapshot_failing', message })
  }
  return found
}
