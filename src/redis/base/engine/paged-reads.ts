import { primariesOf } from '../client/connection.ts'
import type { Engine } from './engine.ts'

/** Elements in a reply, whatever a key holds: short ones such as ids, job records of up to 4 KiB, requests of up to 1 MiB. */
const PAGE = 500
const RECORDS_PAGE = 100
const LARGE_VALUES_PAGE = 10
/** Names of fields that one HKEYS may answer: Redis takes about a millisecond for them. */
const FIELDS_AT_ONCE_MAX = 10_000

export async function scanKeys(engine: Engine, pattern: string): Promise<string[]> {
  const keys = new Set<string>()
  await engine.runner.read(async (connection) => {
    // SCAN sees one node only.
    for (const node of primariesOf(connection)) {
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

export async function readHash(engine: Engine, key: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  await scanHash(engine, key, PAGE, (field, value) => fields.set(field, value))
  return fields
}

export async function readSortedSet(engine: Engine, key: string): Promise<Map<string, number>> {
  const members = new Map<string, number>()
  let cursor = '0'
  do {
    const [next, flat] = await engine.runner.read((redis) => redis.zscan(key, cursor, 'COUNT', PAGE))
    for (let i = 0; i < flat.length; i += 2) members.set(flat[i] as string, Number(flat[i + 1]))
    cursor = next
  } while (cursor !== '0')
  return members
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

export async function readList(engine: Engine, key: string): Promise<string[]> {
  const items: string[] = []
  for (;;) {
    const page = await engine.runner.read((redis) => redis.lrange(key, items.length, items.length + PAGE - 1))
    for (const item of page) items.push(item)
    if (page.length < PAGE) return items
  }
}

/** Fields only: a value may be as large as a request. */
export async function readFieldNames(engine: Engine, key: string): Promise<string[]> {
  const count = await engine.runner.read((redis) => redis.hlen(key))
  if (count <= FIELDS_AT_ONCE_MAX) return engine.runner.read((redis) => redis.hkeys(key))
  const fields = new Set<string>()
  await scanHash(engine, key, LARGE_VALUES_PAGE, (field) => fields.add(field))
  return [...fields]
}

/** Bytes of each field's value. */
export async function readLengths(engine: Engine, key: string): Promise<Map<string, number>> {
  const fields = await readFieldNames(engine, key)
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

/** Holds a page of a hash at a time, for values that should not all be in memory. */
export async function forEachField(
  engine: Engine,
  key: string,
  look: (field: string, value: string) => void,
): Promise<void> {
  const seen = new Set<string>()
  await scanHash(engine, key, RECORDS_PAGE, (field, value) => {
    // HSCAN may answer a field twice.
    if (seen.has(field)) return
    seen.add(field)
    look(field, value)
  })
}

async function scanHash(
  engine: Engine,
  key: string,
  count: number,
  look: (field: string, value: string) => void,
): Promise<void> {
  let cursor = '0'
  do {
    const [next, flat] = await engine.runner.read((redis) => redis.hscan(key, cursor, 'COUNT', count))
    for (let i = 0; i < flat.length; i += 2) look(flat[i] as string, flat[i + 1] as string)
    cursor = next
  } while (cursor !== '0')
}
