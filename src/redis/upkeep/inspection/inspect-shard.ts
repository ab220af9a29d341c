import { createHash } from 'node:crypto'
import { ID_BLOCK, IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX } from '../../../domain/limits.ts'
import { inspectAlerts } from './inspect-alerts.ts'
import { inspectBulks } from './inspect-bulks.ts'
import { inspectChannels } from './inspect-channels.ts'
import { inspectCrons } from './inspect-crons.ts'
import { readFacts, type InspectedShard, type ShardFacts, type ShardKeyList } from './inspect-facts.ts'
import { checkIssues } from '../../ledger/issues/check-issues.ts'
import { inspectTeamIndexes } from './inspect-names.ts'
import { inspectQueue, inspectTrash } from './inspect-queue.ts'
import { readHash, readSortedSet } from '../../base/engine/paged-reads.ts'
import { inspectStatistics } from './inspect-statistics.ts'
import { inspectSealed, inspectUsage } from './inspect-usage.ts'
import { isCallbackQueue, queueKeyWord } from '../../base/layout/keys.ts'

/** The last number, which all later teams share. */
const TEAM_NUMBER_MAX = 65_535

export async function inspectShard(shard: InspectedShard): Promise<void> {
  const facts = await readFacts(shard)
  for (const [id, parts] of shard.list.queues) {
    await inspectQueue(shard, facts, id, parts)
    shard.advance()
  }
  for (const [id, parts] of shard.list.trash) await inspectTrash(shard, facts, id, parts)
  inspectNames(shard, facts)
  await inspectTeamIndexes(shard, facts)
  inspectTeams(shard, facts)
  await inspectCrons(shard, facts)
  await inspectAlerts(shard, facts)
  await checkIssues(shard.engine, shard.keys, { teams: shard.list.issueTeams, find: shard.find })
  await inspectChannels(shard)
  await inspectBulks(shard)
  inspectMembers(shard, facts)
  await inspectCounters(shard, facts)
  await inspectUsage(shard, facts)
  await inspectSealed(shard, facts)
  await inspectClock(shard)
  await inspectStatistics(shard)
  await inspectIdempotency(shard)
  for (const [seq, queue] of facts.index) {
    const block = Math.floor(seq / ID_BLOCK)
    shard.find(shard.keys.jobIndex(block), `names queue ${queue} for seq ${seq}, which holds no such chain`)
  }
}

function inspectNames(shard: InspectedShard, facts: ShardFacts): void {
  const used = new Set<string>()
  for (const [name, id] of facts.names) {
    if (!/^[^/]+\/./s.test(name) || !/^[1-9]\d*$/.test(id))
      shard.find(shard.keys.queueIds, `maps ${name} to ${id}`)
    if (used.has(id)) shard.find(shard.keys.queueIds, `maps two names to queue ${id}`)
    used.add(id)
    noteQueue(facts, id)
  }
  for (const id of facts.crons.keys())
    noteQueue(facts, String(Math.floor(Number(id) / shard.engine.shards.length)))
  for (const id of [...shard.list.queues.keys(), ...shard.list.trash.keys()]) noteQueue(facts, id)
}

/** Each team has its own number, except those that share the last one. */
function inspectTeams({ keys, find }: InspectedShard, facts: ShardFacts): void {
  const used = new Set<string>()
  for (const [team, number] of facts.numbers) {
    if (!/^[1-9]\d*$/.test(number) || Number(number) > TEAM_NUMBER_MAX)
      find(keys.teamNumbers, `maps ${team} to ${number}`)
    if (used.has(number) && Number(number) < TEAM_NUMBER_MAX)
      find(keys.teamNumbers, `maps two teams to ${number}`)
    used.add(number)
  }
  for (const [number, score] of facts.teams) {
    if (!used.has(number) || !Number.isSafeInteger(score)) find(keys.teams, `holds ${number} = ${score}`)
  }
}

function noteQueue(facts: ShardFacts, id: string): void {
  if (isCallbackQueue(id)) return
  facts.counted.highestQueue = Math.max(facts.counted.highestQueue, Number(id))
}

/** Finds members of the shard's sets that name queues without the data for them. */
function inspectMembers(shard: InspectedShard, facts: ShardFacts): void {
  const { keys, list } = shard
  for (const id of facts.ring.keys()) {
    if (!list.queues.has(id)) shard.find(keys.ring, `names queue ${id}, which holds nothing`)
  }
  for (const id of facts.cq.keys()) {
    if (list.queues.get(id)?.has(queueKeyWord('callRecords')) !== true)
      shard.find(keys.oldestCalls, `names queue ${id}, which keeps no calls`)
  }
  for (const id of facts.pushed) {
    if (!list.queues.has(id)) shard.find(keys.pushedBuckets, `names queue ${id}, which holds nothing`)
  }
  for (const member of facts.gc.keys()) {
    if (!isRetained(list, member)) shard.find(keys.retentionDue, `names ${member}, which holds nothing`)
  }
}

function isRetained(list: ShardKeyList, member: string): boolean {
  if (member.startsWith('t')) return list.trash.has(member.slice(1))
  if (member.startsWith('a')) return list.alertTeams.has(member.slice(1))
  return list.queues.has(member)
}

async function inspectCounters(shard: InspectedShard, facts: ShardFacts): Promise<void> {
  const { engine, keys } = shard
  const { counted } = facts
  const [seq, qseq, tok] = await engine.runner.read((redis) =>
    Promise.all([redis.get(keys.jobBlock), redis.get(keys.queueNumber), redis.get(keys.fencingToken)]),
  )
  const highestBlock = Math.max(Math.floor(counted.highestSeq / ID_BLOCK), ...shard.list.blocks, -1)
  if (Number(seq ?? -1) < highestBlock)
    shard.find(keys.jobBlock, `is ${seq} while block ${highestBlock} is in use`)
  if (Number(qseq ?? 0) < counted.highestQueue) {
    shard.find(keys.queueNumber, `is ${qseq} while queue ${counted.highestQueue} is in use`)
  }
  if (Number(tok ?? 0) < counted.highestToken) {
    shard.find(keys.fencingToken, `is ${tok} while token ${counted.highestToken} is in use`)
  }
  const use = await readHash(engine, keys.shardUsage)
  if (Number(use.get('calls') ?? 0) !== counted.callBytes) {
    shard.findMiscount(
      keys.shardUsage,
      `counts ${use.get('calls')} bytes of call records; there are ${counted.callBytes}`,
    )
  }
  const references = await readHash(engine, keys.settingsUses)
  // Uses by damaged records, present or removed, are in the counter and cannot be found.
  let unknown = Number(use.get('unknown_settings') ?? 0) + counted.damaged
  for (const hash of new Set([...references.keys(), ...facts.set.keys(), ...counted.settings.keys()])) {
    const [said, is] = [Number(references.get(hash) ?? 0), counted.settings.get(hash) ?? 0]
    const extra = Math.min(unknown, Math.max(0, said - is))
    unknown -= extra
    if (said - extra !== is)
      shard.findMiscount(keys.settingsUses, `counts ${said} uses of the settings ${hash}; there are ${is}`)
    const json = facts.set.get(hash)
    if (json === undefined) shard.findMiscount(keys.settings, `lacks the settings ${hash}`)
    else if (createHash('sha256').update(json).digest('base64url').slice(0, 11) !== hash) {
      shard.find(keys.settings, `holds under ${hash} settings that have another hash`)
    }
    if (is + extra === 0) shard.findMiscount(keys.settings, `keeps the settings ${hash}, which nothing uses`)
  }
}

async function inspectClock(shard: InspectedShard): Promise<void> {
  for (const [field, value] of await readHash(shard.engine, shard.keys.clock)) {
    const isKnown = /^(t|h|na)$/.test(field)
      ? /^\d{13}$/.test(value)
      : /^(j|jf|jb|hb|n|o|om)$/.test(field) && /^\d+$/.test(value)
    if (!isKnown) shard.find(shard.keys.clock, `holds ${field} = ${value}`)
  }
  for (const [executor, lease] of await readSortedSet(shard.engine, shard.keys.executors)) {
    if (/\s/.test(executor) || !Number.isSafeInteger(lease))
      shard.find(shard.keys.executors, `holds ${executor} = ${lease}`)
  }
}

async function inspectIdempotency(shard: InspectedShard): Promise<void> {
  for (const day of shard.list.days) {
    const key = shard.keys.idempotencyKeys(day)
    const entries = await readHash(shard.engine, key)
    if (entries.size > IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX) shard.find(key, `holds ${entries.size} entries`)
    for (const [field, value] of entries) {
      const isWellFormed = /^[1-9]\d*:./s.test(field) && /^\S+ \d+ \d{13}$/.test(value)
      if (!isWellFormed) shard.find(key, `holds ${field} = ${value}`)
    }
    if ((await shard.engine.runner.read((redis) => redis.ttl(key))) < 0) shard.find(key, 'never expires')
  }
}
