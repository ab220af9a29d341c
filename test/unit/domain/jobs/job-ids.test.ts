import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ATTEMPTS_PER_CHAIN, JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import { SHARDS_MAX } from '../../../../src/domain/limits.ts'

const INSTALLATION = '0123456789ab'
const OTHER_INSTALLATION = '0123456789ac'

/** The last seq of which every id of the largest installation is below 2^53. */
const SEQ_MAX = Math.floor(Number.MAX_SAFE_INTEGER / (ATTEMPTS_PER_CHAIN * SHARDS_MAX)) - 1

const place = fc
  .record({
    shards: fc.integer({ min: 1, max: SHARDS_MAX }),
    shardDraw: fc.nat(),
    seq: fc.integer({ min: 0, max: SEQ_MAX }),
    attempt: fc.integer({ min: 1, max: ATTEMPTS_PER_CHAIN }),
  })
  .map(({ shardDraw, ...rest }) => ({ ...rest, shard: shardDraw % rest.shards }))

describe('an id', () => {
  test('tells its shard, seq and attempt', () => {
    fc.assert(
      fc.property(place, ({ shards, shard, seq, attempt }) => {
        const jobIds = new JobIds(shards, INSTALLATION)
        const jobId = jobIds.idOf(shard, seq, attempt)
        expect(jobIds.shardOf(jobId)).toBe(shard)
        expect(jobIds.seqOf(jobId)).toBe(seq)
        expect(jobIds.attemptOf(jobId)).toBe(attempt)
        expect(jobIds.rootOf(jobId)).toBe(jobIds.idOf(shard, seq, 1))
        expect(jobIds.rootOf(jobIds.rootOf(jobId))).toBe(jobIds.rootOf(jobId))
      }),
    )
  })

  test('is a safe integer up to the largest seq', () => {
    const jobIds = new JobIds(SHARDS_MAX, INSTALLATION)
    const largest = jobIds.idOf(SHARDS_MAX - 1, SEQ_MAX, ATTEMPTS_PER_CHAIN)
    expect(Number.isSafeInteger(largest)).toBe(true)
    expect(jobIds.attemptOf(largest)).toBe(ATTEMPTS_PER_CHAIN)
    // 10,000 jobs a second in every shard, for more than 25 years.
    expect(SEQ_MAX).toBeGreaterThan(10_000 * 86_400 * 365 * 25)
  })

  test('is another for every shard, seq and attempt', () => {
    const jobIds = new JobIds(3, INSTALLATION)
    const seen = new Set<number>()
    for (let shard = 0; shard < 3; shard += 1) {
      for (let seq = 0; seq < 5; seq += 1) {
        for (let attempt = 1; attempt <= ATTEMPTS_PER_CHAIN; attempt += 1) {
          seen.add(jobIds.idOf(shard, seq, attempt))
        }
      }
    }
    expect(seen.size).toBe(3 * 5 * ATTEMPTS_PER_CHAIN)
    expect(Math.max(...seen)).toBe(3 * 5 * ATTEMPTS_PER_CHAIN - 1)
  })
})

describe('the UUID form', () => {
  const jobIds = new JobIds(4, INSTALLATION)

  test('is a version 8 UUID that begins with the installation', () => {
    expect(jobIds.uuidOf(0)).toBe('01234567-89ab-8000-8000-000000000000')
    expect(jobIds.uuidOf(0xabc)).toBe('01234567-89ab-8000-8000-000000000abc')
    expect(jobIds.uuidOf(Number.MAX_SAFE_INTEGER)).toBe('01234567-89ab-8000-801f-ffffffffffff')
  })

  test('and the number both read back, in either case', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (jobId) => {
        const uuid = jobIds.uuidOf(jobId)
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(jobIds.parse(uuid)).toBe(jobId)
        expect(jobIds.parse(uuid.toUpperCase())).toBe(jobId)
        expect(jobIds.parse(String(jobId))).toBe(jobId)
      }),
    )
  })

  test('of another installation is refused', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (jobId) => {
        expect(jobIds.parse(new JobIds(4, OTHER_INSTALLATION).uuidOf(jobId))).toBeNull()
      }),
    )
  })
})

describe('parse refuses', () => {
  const jobIds = new JobIds(4, INSTALLATION)
  test.each([
    ['nothing', ''],
    ['a sign', '-1'],
    ['a leading zero', '042'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['hex', '0x10'],
    ['space around', ' 1'],
    ['a line break after', '1\n'],
    ['2^53', '9007199254740992'],
    ['17 digits', '12345678901234567'],
    ['a random UUID', '5f0c6e9a-1d8b-4c55-9a6e-7a4cfbb3c1de'],
    ['a UUID past 2^53', '01234567-89ab-8000-8020-000000000000'],
    ['another version', '01234567-89ab-4000-8000-000000000001'],
    ['a UUID without dashes', '0123456789ab80008000000000000001'],
  ])('%s', (_, text) => {
    expect(jobIds.parse(text)).toBeNull()
  })
})

test.each(['', '0123456789a', '0123456789abc', '0123456789AB', 'g123456789ab'])(
  '%o is not an installation id',
  (installation) => {
    expect(() => new JobIds(4, installation)).toThrow('not an installation id')
  },
)
