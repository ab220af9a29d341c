import { expect, test } from 'vitest'
import { Crc64 } from '../../../../src/redis/backup/rdb/crc64.ts'

const sumOf = (...pieces: ReadonlyArray<string | Buffer>): string => {
  const crc = new Crc64()
  for (const piece of pieces) crc.update(Buffer.from(piece))
  return crc.digest().reverse().toString('hex')
}

test('the sum is the one that the source of Redis gives', () => {
  expect(sumOf('123456789')).toBe('e9c6d914c4b8d9ca')
  expect(sumOf('')).toBe('0000000000000000')
  const prose =
    'This is a test of the emergency broadcast system. This is a test of the emergency broadcast system.'
  expect(sumOf(prose)).toBe(sumOf(...prose))
})

test('it does not matter where the bytes are cut', () => {
  const bytes = Buffer.from(Array.from({ length: 41 }, (_, i) => (i * 167 + 13) & 0xff))
  const whole = sumOf(bytes)
  for (let at = 0; at <= bytes.length; at += 1) {
    expect(sumOf(bytes.subarray(0, at), bytes.subarray(at))).toBe(whole)
  }
})
