import { ID_BLOCK } from '../../../domain/limits.ts'
import { readHash, readList, readSet, readSortedSet } from '../../base/engine/paged-reads.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { BlockSums } from '../../jobs/history/check-blocks.ts'
import { INDEX } from '../../base/layout/fields.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/** The keys of a shard whose names hold data. */
export interface ShardKeyList {
  readonly executors: string[]
  readonly minutes: number[]
  readonly blocks: number[]
  readonly days: number[]
  /** Queues and teams with statistics. */
  readonly owners: string[]
  /** Crons that have records of ticks. */
  readonly records: string[]
  /** Buckets of pushed queues. */
  readonly pushed: string[]
  /** Teams with an index of their queues' names, and of those of their crons. */
  readonly queueTeams: string[]
  readonly cronTeams: string[]
  /** Teams with alerts. */
  readonly alertTeams: Set<string>
  /** Teams with issues. */
  readonly issueTeams: Set<string>
  /** Teams whose channels are kept here. */
  readonly channelTeams: Set<string>
  readonly bulkTeams: Set<string>
  /** `team/id` of each. */
  readonly bulkParts: Set<string>
  /** Local queue id → parts that exist. */
  readonly queues: Map<string, Set<string>>
  readonly trash: Map<string, Set<string>>
}

export function createShardKeyList(): ShardKeyList {
  const lists = {
    executors: [],
    minutes: [],
    blocks: [],
    days: [],
    owners: [],
    records: [],
    pushed: [],
    queueTeams: [],
    cronTeams: [],
  }
  const bulks = { bulkTeams: new Set<string>(), bulkParts: new Set<string>() }
  return {
    ...lists,
    alertTeams: new Set(),
    issueTeams: new Set(),
    channelTeams: new Set(),
    ...bulks,
    queues: new Map(),
    trash: new Map(),
  }
}

export interface InspectedShard {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly list: ShardKeyList
  find(key: string, message: string): void
  /** Reports a counter that differs from what was counted. */
  findMiscount(key: string, message: string): void
  /** Called after each queue. */
  advance(): void
}

/** Contents of the shard's own keys, and what is counted while its queues are read. */
export interface ShardFacts {
  readonly names: ReadonlyMap<string, string>
  /** Id → name of the crons whose home this is. */
  readonly crons: ReadonlyMap<string, string>
  readonly ring: ReadonlyMap<string, number>
  /** Numbers of the teams that may have a queue in the ring. */
  readonly teams: ReadonlyMap<string, number>
  /** Team → its number. */
  readonly numbers: ReadonlyMap<string, string>
  readonly gc: ReadonlyMap<string, number>
  readonly cq: ReadonlyMap<string, number>
  /** Local ids of queues that a push has created and no resource has taken over. */
  readonly pushed: ReadonlySet<string>
  readonly set: ReadonlyMap<string, string>
  /** `queue|job` → due times of its entries in near and in the minute buckets. */
  readonly near: ReadonlyMap<string, number>
  /** `queue|job` of suspects that wait. */
  readonly suspects: ReadonlyMap<string, number>
  readonly buckets: ReadonlyMap<string, readonly number[]>
  /** Local queue id → job → executors that hold it. */
  readonly held: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
  /** seq → local queue id; the entry of a chain is removed when the chain is found. */
  readonly index: Map<number, string>
  readonly counted: {
    readonly settings: Map<string, number>
    /** Records that cannot be read, whose settings are unknown. */
    damaged: number
    callBytes: number
    /** Member of `sealedHistories` → what the budget counts for its blocks, and their summaries. */
    readonly sealed: Map<string, BlockSums>
    highestSeq: number
    highestQueue: number
    highestToken: number
  }
}

export async function readFacts(shard: InspectedShard): Promise<ShardFacts> {
  const { engine, keys } = shard
  const counted = {
    settings: new Map<string, number>(),
    damaged: 0,
    callBytes: 0,
    sealed: new Map<string, BlockSums>(),
    highestSeq: -1,
    highestQueue: 0,
    highestToken: 0,
  }
  const executors = await readSortedSet(engine, keys.executors)
  const facts: ShardFacts = {
    names: await readHash(engine, keys.queueIds),
    crons: await readCronNames(shard),
    ring: await readSortedSet(engine, keys.ring),
    teams: await readSortedSet(engine, keys.teams),
    numbers: await readHash(engine, keys.teamNumbers),
    gc: await readSortedSet(engine, keys.retentionDue),
    cq: await readSortedSet(engine, keys.oldestCalls),
    pushed: await readPushed(shard),
    set: await readHash(engine, keys.settings),
    near: await readSortedSet(engine, keys.nearSet),
    suspects: await readSortedSet(engine, keys.suspects),
    buckets: await readBuckets(shard),
    held: new Map(),
    index: await readIndex(shard),
    counted,
  }
  for (const member of facts.near.keys()) {
    if (!/^\d+\|\d+$/.test(member)) shard.find(keys.nearSet, `holds the member ${member}`)
  }
  for (const executor of shard.list.executors) {
    if (!executors.has(executor))
      shard.find(keys.heldJobs(executor), 'belongs to an executor without a lease')
    await readHeld(shard, facts, executor)
  }
  return facts
}

async function readCronNames({ engine, keys, find }: InspectedShard): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const [name, id] of await readHash(engine, keys.cronIds)) {
    if (names.has(id)) find(keys.cronIds, `maps two names to cron ${id}`)
    names.set(id, name)
  }
  return names
}

async function readPushed({ engine, keys, list, find }: InspectedShard): Promise<Set<string>> {
  const listed = await readSet(engine, keys.pushedBuckets)
  const inBuckets = new Set(list.pushed)
  for (const bucket of listed.symmetricDifference(inBuckets)) {
    find(keys.pushedBuckets, `${listed.has(bucket) ? 'lists the empty' : 'lacks the'} bucket ${bucket}`)
  }
  const pushed = new Set<string>()
  for (const bucket of list.pushed) {
    for (const id of await readSet(engine, `${keys.pushedBuckets}:${bucket}`)) {
      if (keys.pushedBucket(id) !== `${keys.pushedBuckets}:${bucket}`)
        find(keys.pushedBuckets, `has queue ${id} in bucket ${bucket}`)
      pushed.add(id)
    }
  }
  return pushed
}

async function readBuckets(shard: InspectedShard): Promise<Map<string, number[]>> {
  const { engine, keys, list } = shard
  const buckets = new Map<string, number[]>()
  const live = await readSortedSet(engine, keys.minutes)
  for (const [minute, score] of live) {
    if (Number(minute) !== score) shard.find(keys.minutes, `lists minute ${minute} at ${score}`)
    if (!list.minutes.includes(Number(minute)))
      shard.find(keys.minutes, `lists minute ${minute}, which is empty`)
  }
  for (const minute of list.minutes) {
    const key = keys.minuteBucket(minute)
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

async function readIndex(shard: InspectedShard): Promise<Map<number, string>> {
  const index = new Map<number, string>()
  for (const block of shard.list.blocks) {
    const key = shard.keys.jobIndex(block)
    const fields = await readHash(shard.engine, key)
    if (!fields.delete(INDEX.owner)) shard.find(key, 'has no owner mark')
    if (fields.size === 0) shard.find(key, 'holds an owner mark and no job')
    for (const [field, queue] of fields) {
      const isField = /^\d{1,3}$/.test(field) && Number(field) < ID_BLOCK
      if (isField) index.set(block * ID_BLOCK + Number(field), queue)
      else shard.find(key, `holds the field ${field}`)
    }
  }
  return index
}

async function readHeld(shard: InspectedShard, facts: ShardFacts, executor: string): Promise<void> {
  const key = shard.keys.heldJobs(executor)
  const held = facts.held as Map<string, Map<string, string[]>>
  for (const [id, value] of await readHash(shard.engine, key)) {
    if (id === '#f') {
      if (!/^\S+ [dsa]+$/.test(value)) shard.find(key, `notes the finish ${value}`)
      continue
    }
    const [, queue, token] = (id === '#c' ? /^\S+()? (\d+) [\d ]+$/ : /^(\d+)\|(\d+)$/).exec(value) ?? []
    if (token === undefined) {
      shard.find(key, `holds ${id} = ${value}`)
      continue
    }
    facts.counted.highestToken = Math.max(facts.counted.highestToken, Number(token))
    if (id === '#c') continue
    const ofQueue = held.get(queue ?? '') ?? new Map<string, string[]>()
    ofQueue.set(id, [...(ofQueue.get(id) ?? []), executor])
    held.set(queue ?? '', ofQueue)
  }
}
