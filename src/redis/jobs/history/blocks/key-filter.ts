/**
 * A Bloom filter as text: whether a set may hold a key. It never misses one; with 16 bits a key it takes about one of
 * 2,000 strangers for a member. A character holds six bits. match_blocks.lua tests the same bits.
 */

const BITS_PER_KEY = 16
const PROBES = 11
const BITS_PER_CHARACTER = 6
/** Fewer bits would take too many strangers for members. */
const CHARACTERS_MIN = 8

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const VALUES = new Map([...ALPHABET].map((character, value) => [character.charCodeAt(0), value]))

/**
 * Where the bits of a key are in a filter of n bits: the first at `first` modulo n, the second `next` after it, and
 * each further one after a step that is longer by one. Steps of one length would meet other keys' bits again and again.
 */
export interface KeyProbes {
  readonly first: number
  readonly next: number
}

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

/** Only the inspection tests a filter here, as searches ask Redis. */
export function mayHold(filter: string, key: string): boolean {
  if (filter === '') return false
  return bitsOf(key, filter.length * BITS_PER_CHARACTER).every((bit) => {
    const value = VALUES.get(filter.charCodeAt(Math.floor(bit / BITS_PER_CHARACTER))) ?? 0
    return (value & (1 << (bit % BITS_PER_CHARACTER))) !== 0
  })
}

export function probesOf(key: string): KeyProbes {
  // The step is odd, so that the probes do not fall on each other.
  return { first: hashOf(key, 0x81_1c_9d_c5), next: (hashOf(key, 0x9e_37_79_b9) | 1) >>> 0 }
}

function bitsOf(key: string, count: number): number[] {
  const { first, next } = probesOf(key)
  return Array.from({ length: PROBES }, (_, i) => (first + i * next + (i * (i - 1)) / 2) % count)
}

/** FNV-1a with a last mixing, 32 bits. It may never change, because the blocks in Redis depend on it. */
function hashOf(text: string, seed: number): number {
  let hash = seed | 0
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35)
  return (hash ^ (hash >>> 16)) >>> 0
}
