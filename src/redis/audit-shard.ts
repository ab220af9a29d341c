import { createHash } from 'node:crypto'
import { ID_BLOCK, IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX } from '../domain/limits.ts'
import { auditQueue, auditTrash } from './audit-queue.ts'
import { readHash, readList, readSortedSet } from './audit-reads.ts'
import type { Engine } from './engine.ts'
import { SYSTEM_QUEUE, type ShardKeys } from './keys.ts'

/** The keys of a shard whose names hold data. */
export interface ShardKeyList {
  readonly executors: string[]
  readonly minutes: number[]
  readonly blocks: number[]
  readonly days: number[]
  /** Local queue id → parts that exist. */
  readonly queues: Map<string, Set<string>>
  readonly trash: Map<string, Set<string>>
}

export function createShardKeyList(): ShardKeyList {
  return { executors: [], minutes: [], blocks: [], days: [], queues: new Map(), trash: new Map() }
}

export interface AuditedShard {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly list: ShardKeyList
  find(key: string, message: string): void
}

/** What the shard's own keys say, and what the queues turn out to hold. */
export interface ShardFacts {
  readonly names: ReadonlyMap<string, string>
  readonly ring: ReadonlyMap<string, number>
  readonly gc: ReadonlyMap<string, number>
  readonly cq: ReadonlyMap<string, number>
  readonly set: ReadonlyMap<string, string>
  /** `queue|job` → due times of its entries in near and in the minute buckets. */
  readonly near: ReadonlyMap<string, number>
  readonly buckets: ReadonlyMap<string, readonly number[]>
  /** `queue|job` → executors that hold it. */
  readonly held: ReadonlyMap<string, readonly string[]>
  /** seq → local queue id; a chain that was found takes its entry out. */
  readonly index: Map<number, string>
  readonly counted: {
    readonly settings: Map<string, number>
    callBytes: number
    highestSeq: number
    highestQueue: number
    highestToken: number
  }
}

export async function auditShard(shard: AuditedShard): Promise<void> {
  const facts = await readFacts(shard)
  for (const [id, parts] of shard.list.queues) await auditQueue(shard, facts, id, parts)
  for (const [id, parts] of shard.list.trash) await auditTrash(shard, facts, id, parts)
  auditNames(shard, facts)
  auditMembers(shard, facts)
  await auditCounters(shard, facts)
  await auditClock(shard)
  await auditIdempotency(shard)
  for (const [seq, queue] of facts.index) {
    const block = Math.floor(seq / ID_BLOCK)
    shard.find(shard.keys.index(block), `names queue ${queue} for seq ${seq}, which holds no such chain`)
  }
}

async function readFacts(shard: AuditedShard): Promise<ShardFacts> {
  const { engine, keys } = shard
  const counted = {
    settings: new Map<string, number>(),
    callBytes: 0,
    highestSeq: -1,
    highestQueue: 0,
    highestToken: 0,
  }
  const executors = await readSortedSet(engine, keys.ex)
  const facts: ShardFacts = {
    names: await readHash(engine, keys.names),
    ring: await readSortedSet(engine, keys.ring),
    gc: await readSortedSet(engine, keys.gc),
    cq: await readSortedSet(engine, keys.cq),
    set: await readHash(engine, keys.set),
    near: await readSortedSet(engine, keys.near),
    buckets: await readBuckets(shard),
    held: new Map(),
    index: await readIndex(shard),
    counted,
  }
  for (const member of facts.near.keys()) {
    if (!/^\d+\|\d+$/.test(member)) shard.find(keys.near, `holds the member ${member}`)
  }
  for (const executor of shard.list.executors) {
    if (!executors.has(executor)) shard.find(keys.held(executor), 'belongs to an executor without a lease')
    await readHeld(shard, facts, executor)
  }
  return facts
}

async function readBuckets(shard: AuditedShard): Promise<Map<string, number[]>> {
  const { engine, keys, list } = shard
  const buckets = new Map<string, number[]>()
  const live = await readSortedSet(engine, keys.mins)
  for (const [minute, score] of live) {
    if (Number(minute) !== score) shard.find(keys.mins, `lists minute ${minute} at ${score}`)
    if (!list.minutes.includes(Number(minute))) shard.find(keys.mins, `lists minute ${minute}, which is empty`)
  }
  for (const minute of list.minutes) {
    const key = keys.minute(minute)
    if (!live.has(String(minute))) shard.find(key, 'is not listed in mins, so nothing will pour it')
    for (const entry of await readList(engine, key)) {
      const [, member, offset] = /^(\d+\|\d+)\|(\d{1,5})$/.exec(entry) ?? []
      if (member === undefined || Number(offset) >= 60_000) {
        shard.find(key, `holds the entry ${entry}`)
        continue
      }
      buckets.set(member, [...(buckets.get(member) ?? []), minute * 60_000 + Number(offset)])
    }
  }
  return buckets
}

async function readIndex(shard: AuditedShard): Promise<Map<number, string>> {
  const index = new Map<number, string>()
  for (const block of shard.list.blocks) {
    const key = shard.keys.index(block)
    const fields = await readHash(shard.engine, key)
    if (!fields.delete('o')) shard.find(key, 'has no owner mark')
    if (fields.size === 0) shard.find(key, 'holds an owner mark and no job')
    for (const [field, queue] of fields) {
      const isField = /^\d{1,3}$/.test(field) && Number(field) < ID_BLOCK
      if (isField) index.set(block * ID_BLOCK + Number(field), queue)
      else shard.find(key, `holds the field ${field}`)
    }
  }
  return index
}

async function readHeld(shard: AuditedShard, facts: ShardFacts, executor: string): Promise<void> {
  const key = shard.keys.held(executor)
  const held = facts.held as Map<string, string[]>
  for (const [id, value] of await readHash(shard.engine, key)) {
    if (id === '#f') {
      if (!/^\S+ [ds]+$/.test(value)) shard.find(key, `notes the finish ${value}`)
      continue
    }
    const [, queue, token] =
      (id === '#c' ? /^\S+()? (\d+) [\d ]+$/ : /^(\d+)\|(\d+)$/).exec(value) ?? []
    if (token === undefined) {
      shard.find(key, `holds ${id} = ${value}`)
      continue
    }
    facts.counted.highestToken = Math.max(facts.counted.highestToken, Number(token))
    if (id === '#c') continue
    const member = `${queue}|${id}`
    held.set(member, [...(held.get(member) ?? []), executor])
    // A deleted queue leaves its calls in flight with their holders until they end.
    const isThere = shard.list.queues.get(queue ?? '')?.has('a') === true
    if (!isThere && shard.list.queues.has(queue ?? '')) shard.find(key, `holds job ${id}, which has no slot`)
  }
}

function auditNames(shard: AuditedShard, facts: ShardFacts): void {
  const used = new Set<string>()
  for (const [name, id] of facts.names) {
    if (!/^[^/]+\/./s.test(name) || !/^[1-9]\d*$/.test(id)) shard.find(shard.keys.names, `maps ${name} to ${id}`)
    if (used.has(id)) shard.find(shard.keys.names, `maps two names to queue ${id}`)
    used.add(id)
    noteQueue(facts, id)
  }
  for (const id of [...shard.list.queues.keys(), ...shard.list.trash.keys()]) noteQueue(facts, id)
}

function noteQueue(facts: ShardFacts, id: string): void {
  facts.counted.highestQueue = Math.max(facts.counted.highestQueue, Number(id))
}

/** Members of the shard's sorted sets that name queues which have no business there. */
function auditMembers(shard: AuditedShard, facts: ShardFacts): void {
  const { keys, list } = shard
  for (const id of facts.ring.keys()) {
    if (!list.queues.has(id)) shard.find(keys.ring, `names queue ${id}, which holds nothing`)
  }
  for (const id of facts.cq.keys()) {
    if (list.queues.get(id)?.has('c') !== true) shard.find(keys.cq, `names queue ${id}, which keeps no calls`)
  }
  for (const member of facts.gc.keys()) {
    const isKnown = member.startsWith('t') ? list.trash.has(member.slice(1)) : list.queues.has(member)
    if (!isKnown) shard.find(keys.gc, `names ${member}, which holds nothing`)
  }
}

async function auditCounters(shard: AuditedShard, facts: ShardFacts): Promise<void> {
  const { engine, keys } = shard
  const { counted } = facts
  const [seq, qseq, tok] = await engine.runner.read((redis) =>
    Promise.all([redis.get(keys.seq), redis.get(keys.qseq), redis.get(keys.tok)]),
  )
  const highestBlock = Math.max(Math.floor(counted.highestSeq / ID_BLOCK), ...shard.list.blocks, -1)
  if (Number(seq ?? -1) < highestBlock) shard.find(keys.seq, `is ${seq} while block ${highestBlock} is in use`)
  if (Number(qseq ?? 0) < counted.highestQueue) {
    shard.find(keys.qseq, `is ${qseq} while queue ${counted.highestQueue} is in use`)
  }
  if (Number(tok ?? 0) < counted.highestToken) {
    shard.find(keys.tok, `is ${tok} while token ${counted.highestToken} is in use`)
  }
  const use = await readHash(engine, keys.use)
  if (Number(use.get('calls') ?? 0) !== counted.callBytes) {
    shard.find(keys.use, `counts ${use.get('calls')} bytes of call records; there are ${counted.callBytes}`)
  }
  const references = await readHash(engine, keys.setn)
  for (const hash of new Set([...references.keys(), ...facts.set.keys(), ...counted.settings.keys()])) {
    const [said, is] = [Number(references.get(hash) ?? 0), counted.settings.get(hash) ?? 0]
    if (said !== is) shard.find(keys.setn, `counts ${said} uses of the settings ${hash}; there are ${is}`)
    const json = facts.set.get(hash)
    if (json === undefined) shard.find(keys.set, `lacks the settings ${hash}`)
    else if (createHash('sha256').update(json).digest('base64url').slice(0, 11) !== hash) {
      shard.find(keys.set, `holds under ${hash} settings that have another hash`)
    }
    if (is === 0) shard.find(keys.set, `keeps the settings ${hash}, which nothing uses`)
  }
}

async function auditClock(shard: AuditedShard): Promise<void> {
  for (const [field, value] of await readHash(shard.engine, shard.keys.clk)) {
    const isKnown = field === 't' ? /^\d{13}$/.test(value) : /^(b|jf|jb)$/.test(field) && /^\d+$/.test(value)
    if (!isKnown) shard.find(shard.keys.clk, `holds ${field} = ${value}`)
  }
  for (const [executor, lease] of await readSortedSet(shard.engine, shard.keys.ex)) {
    if (/\s/.test(executor) || !Number.isSafeInteger(lease)) shard.find(shard.keys.ex, `holds ${executor} = ${lease}`)
  }
}

async function auditIdempotency(shard: AuditedShard): Promise<void> {
  for (const day of shard.list.days) {
    const key = shard.keys.idempotency(day)
    const entries = await readHash(shard.engine, key)
    if (entries.size > IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX) shard.find(key, `holds ${entries.size} entries`)
    for (const [field, value] of entries) {
      const isWellFormed = /^[1-9]\d*:./s.test(field) && /^\S+ \d+ \d{13}$/.test(value)
      if (!isWellFormed) shard.find(key, `holds ${field} = ${value}`)
    }
    if ((await shard.engine.runner.read((redis) => redis.ttl(key))) < 0) shard.find(key, 'never expires')
  }
}

/** Whether a queue may have keys at all: it has a `q:`, or it is the system queue. */
export function queueExists(shard: AuditedShard, id: string): boolean {
  return id === SYSTEM_QUEUE || shard.list.queues.get(id)?.has('q') === true
}
