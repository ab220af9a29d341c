import { Cluster } from 'ioredis'
import type { RedisConnection } from '../client/connection.ts'
import type { Engine } from '../client/engine.ts'

/** Paged reads for the audit: no reply is longer than a page, whatever a key holds. */
const PAGE = 500

export async function scanKeys(engine: Engine, pattern: string): Promise<string[]> {
  const keys = new Set<string>()
  await engine.runner.read(async (connection) => {
    for (const node of nodesOf(connection)) {
      let cursor = '0'
      do {
        const [next, page] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE)
        for (const key of page) keys.add(key)
        cursor = next
      } while (cursor !== '0')
    }
  })
  return [...keys].toSorted()
}

/** SCAN sees one node only. */
function nodesOf(connection: RedisConnection): Array<Pick<RedisConnection, 'scan'>> {
  return connection instanceof Cluster ? connection.nodes('master') : [connection]
}

export async function readHash(engine: Engine, key: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  await pageThrough(
    (cursor) => engine.runner.read((redis) => redis.hscan(key, cursor, 'COUNT', PAGE)),
    fields,
  )
  return fields
}

export async function readSortedSet(engine: Engine, key: string): Promise<Map<string, number>> {
  const members = new Map<string, string>()
  await pageThrough(
    (cursor) => engine.runner.read((redis) => redis.zscan(key, cursor, 'COUNT', PAGE)),
    members,
  )
  return new Map([...members].map(([member, score]) => [member, Number(score)]))
}

export async function readSet(engine: Engine, key: string): Promise<Set<string>> {
  const members = new Set<string>()
  let cursor = '0'
  do {
    const [next, page] = await engine.runner.read((redis) => redis.sscan(key, cursor, 'COUNT', PAGE))
    for (const member of page) members.add(member)
    cursor = next
  } while (cursor !== '0')
  return members
}

async function pageThrough(
  page: (cursor: string) => Promise<[string, string[]]>,
  into: Map<string, string>,
): Promise<void> {
  let cursor = '0'
  do {
    const [next, flat] = await page(cursor)
    for (let i = 0; i < flat.length; i += 2) into.set(flat[i] as string, flat[i + 1] as string)
    cursor = next
  } while (cursor !== '0')
}

export async function readList(engine: Engine, key: string): Promise<string[]> {
  const items: string[] = []
  for (;;) {
    const page = await engine.runner.read((redis) => redis.lrange(key, items.length, items.length + PAGE - 1))
    for (const item of page) items.push(item)
    if (page.length < PAGE) return items
  }
}

/** Fields only: the values may be large. */
export function readFields(engine: Engine, key: string): Promise<string[]> {
  return engine.runner.read((redis) => redis.hkeys(key))
}

export async function readLengths(
  engine: Engine,
  key: string,
  fields: readonly string[],
): Promise<Map<string, number>> {
  const lengths = new Map<string, number>()
  for (let i = 0; i < fields.length; i += PAGE) {
    const page = fields.slice(i, i + PAGE)
    const found = await engine.runner.read((redis) =>
      Promise.all(page.map((field) => redis.hstrlen(key, field))),
    )
    page.forEach((field, at) => lengths.set(field, found[at] ?? 0))
  }
  return lengths
}

/** A page of one hash at a time, for values that should not all be held at once. */
export async function forEachField(
  engine: Engine,
  key: string,
  look: (field: string, value: string) => void,
): Promise<void> {
  const seen = new Set<string>()
  let cursor = '0'
  do {
    const [next, flat] = await engine.runner.read((redis) => redis.hscan(key, cursor, 'COUNT', PAGE))
    for (let i = 0; i < flat.length; i += 2) {
      // HSCAN may answer a field twice.
      if (seen.has(flat[i] as string)) continue
      seen.add(flat[i] as string)
      look(flat[i] as string, flat[i + 1] as string)
    }
    cursor = next
  } while (cursor !== '0')
}
