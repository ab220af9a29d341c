import { describe, expect, test } from 'vitest'
import { BackupError } from '../../../../src/domain/errors.ts'
import { ByteCursor } from '../../../../src/redis/backup/rdb/byte-cursor.ts'
import { type RdbValue, RdbReader } from '../../../../src/redis/backup/rdb/rdb-reader.ts'
import { byte, length, rdbFile, text, value } from '../../../support/backup/rdb-bytes.ts'

function read(bytes: Buffer, chunk = bytes.length): RdbValue[] {
  const reader = new RdbReader()
  const values: RdbValue[] = []
  for (let at = 0; at < bytes.length; at += chunk) values.push(...reader.push(bytes.subarray(at, at + chunk)))
  return [...values, ...reader.end()]
}

const double = (number: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(number)
  return bytes
}
const time = Buffer.alloc(8, 1)
const id = Buffer.alloc(16, 2)
const HUGE_ID = Buffer.from('81ffffffffffffffff', 'hex')
const PACKED = Buffer.concat([byte(0xc3), length(5), length(12), byte(0x00, 0x61, 0xe0, 0x02), byte(0x00)])

const stream = (...activeTime: readonly Buffer[]): Buffer[] => [
  Buffer.concat([length(1), text(id), text('a listpack')]),
  ...[1, 7, 0, 7, 0, 0, 0].map(length),
  length(1),
  length(1),
  text('group'),
  Buffer.concat([length(7), length(0), HUGE_ID]),
  Buffer.concat([length(1), id, time, length(3)]),
  Buffer.concat([length(1), text('consumer'), time, ...activeTime, length(1), id]),
]

/** One value of each form, with what may stand before it. */
const VALUES: Readonly<Record<string, Buffer>> = {
  text: value(0, 'text', text('v')),
  'long text': value(0, 'long text', text('v'.repeat(70))),
  'longer text': value(0, 'longer text', text('v'.repeat(20_000))),
  'number of 8 bits': value(0, 'number of 8 bits', byte(0xc0, 0xff)),
  'number of 16 bits': value(0, 'number of 16 bits', byte(0xc1, 1, 2)),
  'number of 32 bits': value(0, 'number of 32 bits', byte(0xc2, 1, 2, 3, 4)),
  'packed text': value(0, 'packed text', PACKED),
  set: value(2, 'set', length(2), text('a'), text('b')),
  hash: value(4, 'hash', length(1), text('field'), text('v')),
  'sorted set': value(5, 'sorted set', length(2), text('a'), double(1.5), text('b'), double(-Infinity)),
  intset: value(11, 'intset', text('packed')),
  'hash listpack': value(16, 'hash listpack', text('packed')),
  'sorted set listpack': value(17, 'sorted set listpack', text('packed')),
  'set listpack': value(20, 'set listpack', text('packed')),
  list: value(18, 'list', length(2), length(2), text('packed'), length(1), text('plain')),
  'stream 2': value(19, 'stream 2', ...stream()),
  'stream 3': value(21, 'stream 3', ...stream(time)),
  module: value(
    7,
    'module',
    HUGE_ID,
    Buffer.concat([length(1), HUGE_ID, length(2), length(5), length(3), Buffer.alloc(4), length(4), time]),
    Buffer.concat([length(5), text('said'), length(0)]),
  ),
}
const BEFORE = [
  Buffer.concat([byte(250), text('redis-ver'), text('7.0.15')]),
  Buffer.concat([byte(245), text('#!lua name=x')]),
  Buffer.concat([byte(247), HUGE_ID, length(2), length(1), length(5), text('said'), length(0)]),
  Buffer.concat([byte(254), length(0), byte(251), length(18), length(0)]),
  Buffer.concat([byte(244), length(1), length(18), length(0)]),
]
const WHOLE = rdbFile([...BEFORE, ...Object.values(VALUES)])

describe('a file', () => {
  test('is read to its last key, wherever it is cut', () => {
    const values = read(WHOLE)
    expect(values.map(({ key }) => key.toString())).toEqual(Object.keys(VALUES))
    for (const chunk of [1, 2, 3, 7, 64, 1000]) expect(read(WHOLE, chunk)).toEqual(values)
  })

  test.each(Object.entries(VALUES))('a %s is answered as it lies there', (name, bytes) => {
    const [value] = read(rdbFile([bytes]))
    expect(value?.bytes).toEqual(bytes.subarray(1 + text(name).length))
    expect(value).toMatchObject({ isFirst: true, isLast: true, expiresMs: null, database: 0, type: bytes[0] })
  })

  test('a key has the expiry and the database that stand before it, and the next has its own', () => {
    const atMs = Buffer.alloc(8)
    atMs.writeBigInt64LE(1_800_000_000_123n)
    const atSeconds = Buffer.alloc(4)
    atSeconds.writeInt32LE(1_800_000_000)
    const values = read(
      rdbFile([
        Buffer.concat([byte(252), atMs, byte(248), length(300), byte(249, 7), value(0, 'a', text('v'))]),
        Buffer.concat([value(2, 'b', length(1), text('v'))]),
        Buffer.concat([byte(254), length(5), byte(253), atSeconds, value(2, 'c', length(1), text('v'))]),
        value(0, 'd', text('v')),
      ]),
    )
    expect(values.map(({ key, expiresMs, database }) => [key.toString(), expiresMs, database])).toEqual([
      ['a', 1_800_000_000_123, 0],
      ['b', null, 0],
      ['c', 1_800_000_000_000, 5],
      ['d', null, 5],
    ])
  })

  test('of Valkey, and one without a sum, are read as well', () => {
    const [one = expect.fail()] = Object.values(VALUES)
    expect(read(rdbFile([one], { magic: 'VALKEY080' }))).toHaveLength(1)
    expect(read(rdbFile([one], { sum: false }))).toHaveLength(1)
  })
})

describe('a value of 9 MB', () => {
  const member = (i: number): Buffer => text(`${i}`.padStart(9, '0').repeat(100))
  const members = Array.from({ length: 10_000 }, (_, i) => member(i))
  const expiry = Buffer.concat([byte(252), Buffer.alloc(8, 1)])

  test('comes in pieces that are whole elements, and the next value as it is', () => {
    const file = rdbFile([
      expiry,
      value(2, 'large', length(members.length), ...members),
      value(0, 'small', text('v')),
    ])
    for (const chunk of [file.length, 65_536]) {
      const values = read(file, chunk)
      const large = values.filter(({ key }) => key.toString() === 'large')
      expect(large.map(({ isFirst, isLast }) => [isFirst, isLast])).toEqual([
        [true, false],
        [false, false],
        [false, true],
      ])
      expect(Buffer.concat(large.map(({ bytes }) => bytes)).equals(Buffer.concat(members))).toBe(true)
      expect(new Set(large.map(({ expiresMs }) => expiresMs)).size).toBe(1)
      expect(values.at(-1)).toMatchObject({ isFirst: true, isLast: true, expiresMs: null })
    }
  })
})

describe('what is damaged', () => {
  const fault = (bytes: Buffer): string => {
    try {
      read(bytes)
    } catch (error) {
      return error instanceof BackupError ? error.message : `a defect: ${String(error)}`
    }
    return 'nothing was noticed'
  }
  const short = rdbFile([...BEFORE, ...Object.values(VALUES).filter(({ length: size }) => size < 1000)])

  test('is noticed wherever the file ends', () => {
    for (let end = 0; end < short.length; end += 1) {
      expect(`${end}: ${fault(short.subarray(0, end))}`).toMatch(/^\d+: It ends too early\.$/)
    }
  })

  test('is noticed whichever byte is another', () => {
    for (let at = 0; at < short.length; at += 1) {
      for (const change of [0x01, 0x40, 0x80, 0xff]) {
        const bytes = Buffer.from(short)
        bytes[at]! ^= change
        expect(`${at}: ${fault(bytes)}`).toMatch(/^\d+: (?!a defect|nothing).+\.$/)
      }
    }
  })

  test('is said in words', () => {
    const [one = expect.fail()] = Object.values(VALUES)
    expect(fault(Buffer.concat([rdbFile([one]), byte(0)]))).toBe('Something follows its end.')
    expect(fault(Buffer.from('DISCO0010'))).toBe('It does not begin like data of Redis.')
    expect(fault(rdbFile([value(14, 'old', text('x'))]))).toContain('a value of type 14')
    expect(fault(rdbFile([value(14, 'old', text('x'))]))).toMatch(/^Key "old": /)
    expect(fault(rdbFile([byte(246)]))).toContain('a mark of type 246')
  })

  test('allocates nothing for absurd lengths', () => {
    const TERABYTE = 2 ** 40
    const before = process.memoryUsage().arrayBuffers
    expect(fault(rdbFile([value(0, 'a', length(TERABYTE))]))).toContain(`claims to have ${TERABYTE} bytes`)
    expect(fault(rdbFile([value(0, 'a', HUGE_ID)]))).toContain('claims to have')
    expect(fault(rdbFile([value(2, 'a', HUGE_ID)]))).toContain('absurd')
    for (const type of [2, 4, 5, 18, 21]) {
      expect(fault(rdbFile([value(type, 'a', length(TERABYTE))]))).toMatch(
        /ends too early|unknown form|not valid/,
      )
    }
    const bomb = Buffer.concat([byte(0xc3), length(5), length(400_000_000), Buffer.alloc(5)])
    expect(() => new ByteCursor(bomb).string()).toThrow('packed text is damaged')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  })

  test('a packed text is unpacked, or is damaged, but never more', () => {
    const unpack = (bytes: Buffer): string => new ByteCursor(bytes).string().toString()
    expect(unpack(PACKED)).toBe('a'.repeat(12))
    for (let at = 2; at < PACKED.length; at += 1) {
      for (let change = 1; change < 256; change += 1) {
        const bytes = Buffer.from(PACKED)
        bytes[at]! ^= change
        try {
          expect(unpack(bytes).length).toBeLessThanOrEqual(300)
        } catch (error) {
          expect(String(error)).toMatch(/BackupError|more bytes are needed/)
        }
      }
    }
  })
})
