import { expect, test } from 'vitest'
import { CompiledHash, type Reads } from '../../../../../src/redis/control/compiled/compiled-hash.ts'

/** Hashes that lie in no Redis; a key without one cannot be read. */
const stored = new Map<string, Record<string, string>>()
const hashOf = (key: string): Record<string, string> => {
  const hash = stored.get(key)
  if (hash === undefined) throw new Error('away')
  return hash
}
const reads: Reads = (read) =>
  read({
    hget: async (key: string, field: string) => (stored.get(key) ?? {})[field] ?? null,
    hgetall: async (key: string) => hashOf(key),
    hscan: async (key: string, cursor: string, _token: string, count: number) => {
      const rest = Object.entries(hashOf(key)).slice(Number(cursor))
      const next = rest.length <= count ? '0' : String(Number(cursor) + count)
      return [next, rest.slice(0, count).flat()]
    },
  } as never)

function numbersAt(key: string, { told = [] as string[], readAtOnce = 0 } = {}): CompiledHash<number> {
  return new CompiledHash<number>({
    key,
    ...(readAtOnce > 0 && { readAtOnce }),
    isEntry: (field) => !field.startsWith('#'),
    decode: (_field, value) => {
      if (value === 'bad') throw new Error('bad')
      return Number(value)
    },
    instead: ({ field, last, isNew }) => {
      if (isNew) told.push(field)
      return last
    },
    onRead: (entries) => {
      if (entries.get('defect') === 1) throw new Error('a defect')
    },
  })
}

test.each([0, 1, 2])(
  'an entry that cannot be read keeps its last value, and stops no other (%s read at once)',
  async (readAtOnce) => {
    const told: string[] = []
    const hash = numbersAt('a', { told, readAtOnce })
    stored.set('a', { '#v': '1', one: '1', two: 'bad' })
    expect(await CompiledHash.refresh(reads, [hash])).toBe('read')
    expect(Object.fromEntries(hash.entries)).toEqual({ one: 1 })
    stored.set('a', { '#v': '2', one: 'bad', two: 'bad', three: '3' })
    await CompiledHash.refresh(reads, [hash])
    expect(Object.fromEntries(hash.entries)).toEqual({ one: 1, three: 3 })
    expect(told).toEqual(['two', 'one'])
  },
)

test('hashes are read by their versions, and are lost together', async () => {
  const [one, two] = [numbersAt('a'), numbersAt('b')]
  stored.set('a', { '#v': '1', x: '1' })
  stored.set('b', {})
  await CompiledHash.refresh(reads, [one, two])
  const before = one.entries
  await CompiledHash.refresh(reads, [one, two])
  expect(one.entries).toBe(before)
  stored.set('a', {})
  expect(await CompiledHash.refresh(reads, [one, two])).toBe('lost')
  expect(await CompiledHash.refresh(reads, [one, two])).toBe('read')
  expect(one.entries).toBe(before)
  stored.set('a', { '#v': '1' })
  await CompiledHash.refresh(reads, [one, two])
  expect(one.entries.size).toBe(0)
})

test('what was read counts whatever becomes of another hash, and a read that throws is done again', async () => {
  const [one, two] = [numbersAt('a'), numbersAt('b')]
  stored.set('a', { '#v': '1', x: '1' })
  stored.set('b', { '#v': '1', defect: '1' })
  await expect(CompiledHash.refresh(reads, [one, two])).rejects.toThrow('a defect')
  expect(one.entries.get('x')).toBe(1)
  await expect(CompiledHash.refresh(reads, [one, two])).rejects.toThrow('a defect')
  stored.set('b', { '#v': '2', defect: '0' })
  expect(await CompiledHash.refresh(reads, [one, two])).toBe('read')
})
