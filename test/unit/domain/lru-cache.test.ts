import { expect, test } from 'vitest'
import { LruCache } from '../../../src/domain/lru-cache.ts'

test('holds at most its entries, and evicts those used least recently', () => {
  const cache = new LruCache<number, string | null>(10)
  for (let key = 0; key < 100; key += 1) {
    cache.set(key, `${key}`)
    expect(cache.get(0), `after ${key}`).toBe('0')
  }
  for (let key = 1; key < 90; key += 1) expect(cache.get(key), `${key}`).toBeUndefined()
  expect([99, 98, 97].map((key) => cache.get(key))).toEqual(['99', '98', '97'])
})

test('keeps null as a value, replaces, deletes and clears', () => {
  const cache = new LruCache<string, string | null>(4)
  cache.set('a', null)
  expect(cache.get('a')).toBeNull()
  for (const key of ['b', 'c', 'd']) cache.set(key, key)
  cache.set('a', 'again')
  expect(cache.get('a')).toBe('again')
  cache.delete('a')
  expect(cache.get('a')).toBeUndefined()
  cache.clear()
  expect(cache.get('d')).toBeUndefined()
})
