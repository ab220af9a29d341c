import type { InspectedShard, ShardFacts } from './inspect-facts.ts'
import { readHash, readLengths, readSortedSet } from '../../base/engine/paged-reads.ts'
import { QUEUE, SHARD_USAGE, TEAM_USAGE } from '../../base/layout/fields.ts'
import { splitNameField, usageField } from '../../base/layout/keys.ts'

/** The keys of a queue whose bytes count for its team. */
const PARTS = ['records', 'payloads', 'deadLetterRecords', 'summaries', 'callRecords'] as const
const TRASH_PARTS = [
  'trashedRecords',
  'trashedPayloads',
  'trashedDeadLetterRecords',
  'trashedSummaries',
] as const

/** Counts what each team holds in a shard, and compares it with the counters of the steps. */
export async function inspectUsage(
  shard: InspectedShard,
  { counted: { sealed } }: ShardFacts,
): Promise<void> {
  const { keys, list } = shard
  const counted = new Map<string, number>()
  const add = (field: string, count: number): void => {
    counted.set(field, (counted.get(field) ?? 0) + count)
  }
  const addTo = (team: string, part: keyof typeof TEAM_USAGE, count: number): void =>
    add(usageField(team, part), count)
  const addBytes = (team: string, bytes: number): void => {
    addTo(team, 'bytes', bytes)
    add(usageField('*', 'bytes'), bytes)
  }
  for (const [member, { beyondKept }] of sealed) addTo(splitNameField(member).team, 'sealed', beyondKept)
  const noted = await readHash(shard.engine, keys.teamUsage)
  for (const id of list.queues.keys()) {
    const k = keys.queue(id)
    const [name, jobs, inFlight] = await shard.engine.runner.read((redis) =>
      Promise.all([redis.hget(k.meta, QUEUE.name), redis.hlen(k.records), redis.zcard(k.inFlight)]),
    )
    if (name === null) continue
    const { team } = splitNameField(name)
    addTo(team, 'jobs', jobs)
    addTo(team, 'inFlight', inFlight)
    addBytes(
      team,
      await bytesOf(
        shard,
        PARTS.map((part) => k[part]),
      ),
    )
  }
  for (const id of list.trash.keys()) {
    const team = noted.get(`t${id}`)
    if (team === undefined) shard.find(keys.teamUsage, `does not say whose the trash of queue ${id} is`)
    else
      addBytes(
        team,
        await bytesOf(
          shard,
          TRASH_PARTS.map((part) => keys.queueKey(part, id)),
        ),
      )
    noted.delete(`t${id}`)
  }
  for (const [field, value] of noted) {
    if (!field.endsWith(TEAM_USAGE.month)) continue
    if (!/^\d+ \d+$/.test(value)) shard.find(keys.teamUsage, `holds ${field} = ${value}`)
    noted.delete(field)
  }
  for (const field of new Set([...noted.keys(), ...counted.keys()])) {
    const [said, is] = [Number(noted.get(field) ?? 0), counted.get(field) ?? 0]
    if (said !== is) shard.findMiscount(keys.teamUsage, `says ${noted.get(field)} of ${field}; it is ${is}`)
  }
}

async function bytesOf({ engine }: InspectedShard, hashes: readonly string[]): Promise<number> {
  let bytes = 0
  for (const key of hashes) {
    for (const length of (await readLengths(engine, key)).values()) bytes += length
  }
  return bytes
}

/** Compares what the budget counts with the blocks. */
export async function inspectSealed(
  { engine, keys, findMiscount }: InspectedShard,
  { counted: { sealed } }: ShardFacts,
): Promise<void> {
  const noted = await readSortedSet(engine, keys.sealedHistories)
  for (const member of new Set([...noted.keys(), ...sealed.keys()])) {
    const [said, is] = [noted.get(member) ?? 0, sealed.get(member)?.weight ?? 0]
    if (said !== is)
      findMiscount(keys.sealedHistories, `says ${said} of the blocks of ${member}; it is ${is}`)
  }
  const sum = Number((await readHash(engine, keys.shardUsage)).get(SHARD_USAGE.sealedBytes) ?? 0)
  const total = noted.values().reduce((all, weight) => all + weight, 0)
  if (sum !== total) findMiscount(keys.shardUsage, `says ${sum} of all blocks; it is ${total}`)
}
