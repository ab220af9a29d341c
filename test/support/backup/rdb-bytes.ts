/** Files of Redis, written by hand. */
import { Crc64 } from '../../../src/redis/backup/rdb/crc64.ts'
import type { ArchiveHeader } from '../../../src/redis/backup/archive/archive-form.ts'
import { ArchiveWriter } from '../../../src/redis/backup/archive/archive-writer.ts'
import { createShardKeys, META_KEY } from '../../../src/redis/base/layout/keys.ts'

export function byte(...values: readonly number[]): Buffer {
  return Buffer.from(values)
}

export function length(value: number): Buffer {
  if (value < 64) return byte(value)
  if (value < 16_384) return byte(0x40 | (value >> 8), value & 0xff)
  const bytes = Buffer.alloc(9)
  bytes.writeUInt8(0x81, 0)
  bytes.writeBigUInt64BE(BigInt(value), 1)
  return bytes
}

export function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([length(bytes.length), bytes])
}

export function value(type: number, key: string, ...body: readonly Buffer[]): Buffer {
  return Buffer.concat([byte(type), text(key), ...body])
}

/** A whole file, with its sum. */
export function rdbFile(parts: readonly Buffer[], { magic = 'REDIS0010', sum = true } = {}): Buffer {
  const bytes = Buffer.concat([Buffer.from(magic), ...parts, byte(255)])
  return Buffer.concat([bytes, sum ? new Crc64().update(bytes).digest() : Buffer.alloc(8)])
}

/** What an installation of one shard holds at least. */
export const INSTALLATION: readonly Buffer[] = [
  value(4, META_KEY, length(1), text('version'), text('3')),
  value(0, createShardKeys(0).created, text('1')),
]

/** When archives are from if nothing else is said. */
export const BEGAN_AT = '2026-11-29T00:00:00.000Z'

export function headerOf(change: Partial<ArchiveHeader> = {}): ArchiveHeader {
  return {
    format: 1,
    id: '0123456789abcdef',
    program: '0.0.0',
    installation: 'abcdefabcdef',
    dataVersion: '3',
    shards: 1,
    database: 0,
    beganAt: BEGAN_AT,
    primaries: [{ name: 'one', redisVersion: '7.0.15' }],
    ...change,
  }
}

/** An archive of what the primaries have sent. */
export async function archiveOf(
  files: readonly Buffer[],
  header = headerOf(),
  { keys = 2 } = {},
): Promise<Buffer> {
  const written: Buffer[] = []
  const writer = new ArchiveWriter({ write: async (bytes) => void written.push(bytes) }, files.length)
  await writer.begin(header)
  for (const [primary, file] of files.entries()) await writer.append(primary, file)
  await writer.end({ endedAt: header.beganAt, keys })
  return Buffer.concat(written)
}
