/**
 * A Bloom filter as text: whether a set may hold a key. It never misses one; with 12 bits a key it takes about one of
 * 300 strangers for a member. A character holds six bits.
 */

const BITS_PER_KEY = 12
const PROBES = 8
const BITS_PER_CHARACTER = 6
/** Fewer bits would take too many strangers for members. */
const CHARACTERS_MIN = 8

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const VALUES = new Map([...ALPHABET].map((character, value) => [character.charCodeAt(0), value]))

export function makeKeyFilter(keys: ReadonlySet<string>): string {
  if (keys.size === 0) return ''
  const size = Math.max(CHARACTERS_MIN, Math.ceil((keys.size * BITS_PER_KEY) / BITS_PER_CHARACTER))
  const characters = new Uint8Array(size)
  for (const key of keys) {
    for (const bit of bitsOf(key, size * BITS_PER_CHARACTER)) {
      const at = Math.floor(bit / BITS_PER_CHARACTER)
      characters[at] = (characters[at] ?? 0) | (1 << (bit % BITS_PER_CHARACTER))
    }
  }
  return Array.from(characters, (value) => ALPHABET[value]).join('')
}

export function mayHold(filter: string, key: string): boolean {
  if (filter === '') return false
  return bitsOf(key, filter.length * BITS_PER_CHARACTER).every((bit) => {
    const value = VALUES.get(filter.charCodeAt(Math.floor(bit / BITS_PER_CHARACTER))) ?? 0
    return (value & (1 << (bit % BITS_PER_CHARACTER))) !== 0
  })
}

function bitsOf(key: string, count: number): number[] {
  const first = hashOf(key, 0x81_1c_9d_c5)
  // Odd, so that the probes do not fall on each other.
  const next = hashOf(key, 0x9e_37_79_b9) | 1
  return Array.from({ length: PROBES }, (_, i) => ((first + Math.imul(i, next)) >>> 0) % count)
}

/** FNV-1a with a last mixing, 32 bits. The blocks in Redis depend on it: it may never change. */
function hashOf(text: string, seed: number): number {
  let hash = seed | 0
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35)
  return (hash ^ (hash >>> 16)) >>> 0
}
