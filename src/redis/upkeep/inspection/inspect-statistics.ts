import { decodeCells, decodeOpen } from '../../base/layout/statistics/statistics-cell.ts'
import { decodeEntry } from '../../base/layout/statistics/statistics-log.ts'
import { splitOpenField } from '../../watch/statistics/tally-store.ts'
import type { InspectedShard } from './inspect-facts.ts'
import { readHash, readList, readSet } from '../../base/engine/paged-reads.ts'

/** Statistics agree with nothing else, as they outlive jobs and queues; they must be readable, and end. */
export async function inspectStatistics(shard: InspectedShard): Promise<void> {
  const { engine, keys, find } = shard
  for (const [field, value] of await readHash(engine, keys.statistics)) {
    if (!/^(v|m|t|lost)$/.test(field) || !/^\d{1,16}$/.test(value))
      find(keys.statistics, `holds ${field} = ${value}`)
  }
  for (const entry of await readList(engine, keys.statisticsLog)) {
    if (decodeEntry(entry) === null) find(keys.statisticsLog, `holds the entry ${entry}`)
  }
  for (const [field, text] of await readHash(engine, keys.openTallies)) {
    if (splitOpenField(field) === null || decodeOpen(text) === null)
      find(keys.openTallies, `holds ${field} = ${text}`)
  }
  for (const localId of await readSet(engine, keys.sampledQueues)) {
    if (!/^[1-9]\d*$/.test(localId)) find(keys.sampledQueues, `holds ${localId}`)
  }
  for (const owner of shard.list.owners) await inspectCells(shard, owner)
}

async function inspectCells({ engine, keys, find }: InspectedShard, owner: string): Promise<void> {
  const key = keys.settledTallies(owner)
  if (!/^(?:q[1-9]\d*|t.+)$/.test(owner)) find(key, 'is of no queue and no team')
  for (const text of await readList(engine, key)) {
    if (decodeCells(text).length !== 1) find(key, `holds the cell ${text}`)
  }
  if ((await engine.runner.read((redis) => redis.ttl(key))) < 0) find(key, 'never expires')
}
