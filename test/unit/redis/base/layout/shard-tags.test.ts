import { describe, expect, test } from 'vitest'
import { SHARDS_MAX } from '../../../../../src/domain/limits.ts'
import {
  absentKeyBeside,
  createShardKeys,
  TEAMS_KEY,
  TOKENS_KEY,
} from '../../../../../src/redis/base/layout/keys.ts'
import { SHARD_TAGS } from '../../../../../src/redis/base/layout/shard-tags.ts'

const SLOTS = 16_384

/** CRC16/XMODEM, as Redis Cluster computes a key's slot. */
function crc16(text: string): number {
  let crc = 0
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    }
    crc &= 0xffff
  }
  return crc
}

function slotOf(key: string): number {
  const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key
  return crc16(tag) % SLOTS
}

function reversedBits(value: number, width: number): number {
  return Number.parseInt(value.toString(2).padStart(width, '0').split('').reverse().join(''), 2)
}

test('the CRC is the one of the Cluster specification', () => {
  expect(crc16('123456789')).toBe(0x31c3)
})

test('there is a tag for every shard, each another', () => {
  expect(SHARD_TAGS).toHaveLength(SHARDS_MAX)
  expect(new Set(SHARD_TAGS).size).toBe(SHARDS_MAX)
})

test('each lies within 16 slots of the middle of its 64th, in bit-reversed order', () => {
  const width = SLOTS / SHARDS_MAX
  SHARD_TAGS.forEach((tag, shard) => {
    const middle = reversedBits(shard, 6) * width + width / 2
    expect(Math.abs((crc16(tag) % SLOTS) - middle), tag).toBeLessThanOrEqual(16)
  })
})

describe('slots are spread evenly', () => {
  test.each([2, 4, 8, 16, 32, 64])('among the first %i shards', (shards) => {
    const slots = SHARD_TAGS.slice(0, shards)
      .map((tag) => crc16(tag) % SLOTS)
      .sort((a, b) => a - b)
    const gaps = slots.map(
      (slot, i) => (slots[(i + 1) % shards] ?? 0) - slot + (i + 1 === shards ? SLOTS : 0),
    )
    const even = SLOTS / shards
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(even - 32)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(even + 32)
  })

  test.each([1, 2, 3, 4, 5, 6, 8, 12, 16])('64 shards over %i nodes of equal ranges', (nodes) => {
    const perNode = Array.from({ length: nodes }, () => 0)
    for (const tag of SHARD_TAGS) {
      const node = Math.floor(((crc16(tag) % SLOTS) * nodes) / SLOTS)
      perNode[node] = (perNode[node] ?? 0) + 1
    }
    expect(Math.max(...perNode) - Math.min(...perNode)).toBeLessThanOrEqual(2)
  })
})

test('every key of a shard is in its one slot', () => {
  for (let shard = 0; shard < SHARDS_MAX; shard += 1) {
    const keys = createShardKeys(shard)
    const {
      heldJobs: held,
      minuteBucket: minute,
      jobIndex: index,
      idempotencyKeys: idempotency,
      pushedBucket,
      queue,
      queueKey: _queueKey,
      cronRecords: kr,
      teamQueues: qnOf,
      teamCrons: knOf,
      alertRecords: adOf,
      alertOrder: aoOf,
      alertTotals: afOf,
      alertCounts: anOf,
      auditLog: auOf,
      auditCounts: aucOf,
      auditAsked: aqOf,
      deedLog: dauOf,
      deedCounts: daucOf,
      deedAsked: daqOf,
      sessionLog: sauOf,
      sessionCounts: saucOf,
      sessionAsked: saqOf,
      tokenRate: rlOf,
      channelStates: ncOf,
      deliveryLog: nlOf,
      settledTallies: tallies,
      intakeMark: imOf,
      bulks: bkOf,
      issues: isOf,
      bulkPart: bpOf,
      bulkFailures: bfOf,
      bulkJobs: bjOf,
      bulkWaiting: buOf,
      shard: _number,
      ...plain
    } = keys
    const all = [
      ...Object.values(plain),
      ...Object.values(queue('12')),
      held('ex'),
      minute(5),
      index(6),
      idempotency(7),
      tallies('q8'),
      pushedBucket('1200'),
      kr('48'),
      qnOf('a'),
      knOf('a'),
      ...[adOf, aoOf, afOf, anOf, auOf, aqOf, sauOf, saqOf].map((keyOf) => keyOf('a')),
      ...[aucOf, dauOf, daucOf, daqOf, saucOf].map((keyOf) => keyOf('a')),
      ...[isOf, rlOf, ncOf, nlOf, bkOf, bpOf, bfOf, bjOf, buOf, imOf].map((keyOf) => keyOf('a')),
    ]
    expect(new Set(all.map(slotOf)).size).toBe(1)
    expect(new Set(all).size).toBe(all.length)
  }
})

test('a key that never exists lies beside those of a step, in and out of a shard', () => {
  for (const key of [createShardKeys(3).ring, TEAMS_KEY, TOKENS_KEY]) {
    const absent = absentKeyBeside([key])
    expect(absent).toMatch(/^punctual:/)
    expect(slotOf(absent)).toBe(slotOf(key))
  }
})

test('there is no shard beyond the last', () => {
  expect(() => createShardKeys(SHARDS_MAX)).toThrow('no such shard: 64')
})
