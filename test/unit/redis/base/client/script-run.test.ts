import * as fc from 'fast-check'
import { Command } from 'ioredis'
import { expect, test } from 'vitest'
import { bytesOf } from '../../../../../src/redis/base/client/script-run.ts'

const SHA = 'a'.repeat(40)

/** What the client itself writes. */
function asTheClient(keyCount: number, words: ReadonlyArray<string | number>): string {
  return Buffer.from(new Command('evalsha', [SHA, keyCount, ...words]).toWritable({}) as string).toString(
    'hex',
  )
}

test('is what the client would write, byte for byte', { timeout: 60_000 }, () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: 'binary-ascii', maxLength: 300 }),
    fc.maxSafeInteger(),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.constantFrom('', 'é'.repeat(40), 'é'.repeat(41), 'x'.repeat(9) + 'é', '\ud800'),
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 200 }), (words) => {
      expect(bytesOf(SHA, 1, words).toString('hex')).toBe(asTheClient(1, words))
    }),
    { numRuns: 200 },
  )
})

test('a run stays as it is while others are written, and may be larger than a piece of memory', () => {
  const runs = Array.from({ length: 50 }, (_, i) => [`key-${i}`, String(i).repeat(i * 800)])
  const written = runs.map((words) => bytesOf(SHA, 1, words))
  runs.forEach((words, i) => expect(written[i]?.toString('hex')).toBe(asTheClient(1, words)))
})
