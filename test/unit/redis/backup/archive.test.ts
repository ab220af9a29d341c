import { describe, expect, test } from 'vitest'
import { readBackup } from '../../../../src/redis/backup/restore/restore-backup.ts'
import { createShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import {
  archiveOf,
  BEGAN_AT,
  headerOf,
  INSTALLATION,
  rdbFile,
  text,
  value,
} from '../../../support/backup/rdb-bytes.ts'

const NOW_MS = Date.parse(BEGAN_AT) + 3_600_000

async function* cut(bytes: Buffer, chunk: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
}
const readWhole = (bytes: Buffer, chunk = bytes.length) => readBackup(cut(bytes, Math.max(1, chunk)), NOW_MS)
const fault = (bytes: Buffer): Promise<string> =>
  readWhole(bytes).then(
    () => 'nothing was noticed',
    (error: unknown) => String(error),
  )

const FILE = rdbFile(INSTALLATION)

describe('an archive', () => {
  test('is read, wherever it is cut', async () => {
    const bytes = await archiveOf([FILE])
    for (const chunk of [1, 5, 100, bytes.length]) {
      expect(await readWhole(bytes, chunk)).toMatchObject({ keys: 2, bytes: FILE.length, header: headerOf() })
    }
  })

  test('has the primaries beside each other, and what is larger than a frame', async () => {
    const primaries = ['one', 'two'].map((name) => ({ name, redisVersion: '7.0.15' }))
    const other = rdbFile([value(0, 'not ours', text('x'.repeat(3_000_000)))])
    const bytes = await archiveOf([FILE, other], headerOf({ primaries }))
    expect(await readWhole(bytes, 65_536)).toMatchObject({ keys: 2, bytes: FILE.length + other.length })
  })

  test('is refused wherever it ends', async () => {
    const bytes = await archiveOf([FILE])
    for (let end = 0; end < bytes.length; end += 1) {
      expect(await fault(bytes.subarray(0, end))).toMatch(/not complete|is not a backup/)
    }
  })

  test('is refused whichever byte is another', async () => {
    const bytes = await archiveOf([FILE])
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 0x10
      expect(`${at}: ${await fault(changed)}`).toMatch(/^\d+: BackupError: /)
    }
    expect(await fault(Buffer.concat([bytes, Buffer.from('x')]))).toContain('follows its end')
  })

  test.each([
    ['of another format', headerOf({ format: 2 as 1 }), 'has format 2, and this version of Punctual reads'],
    ['of other data', headerOf({ dataVersion: '4' }), 'The backup holds data of version 4, which is newer'],
    ['with a shard that was emptied', headerOf({ shards: 2 }), 'Of shard 1 it has no data'],
    ['without shards', headerOf({ shards: 0 }), 'its first line is not complete'],
    ['of more shards than there are', headerOf({ shards: 65 }), 'its first line is not complete'],
    ['of half a shard', headerOf({ shards: 1.5 }), 'its first line is not complete'],
    ['of a primary without a name', headerOf({ primaries: [{} as never] }), 'its first line is not complete'],
    ['of no primary', headerOf({ primaries: [null as never] }), 'its first line is not complete'],
    ['of the day after tomorrow', headerOf({ beganAt: '2026-12-01T00:00:00Z' }), 'which cannot be'],
    ['of another age', headerOf({ beganAt: '2006-01-01T00:00:00Z' }), 'which cannot be'],
    ['of another database', headerOf({ database: 1 }), 'it holds no installation'],
  ])('%s is refused', async (_what, header, message) => {
    expect(await fault(await archiveOf([FILE], header))).toContain(message)
  })

  test('of a clock that is a little ahead is read', async () => {
    const header = headerOf({ beganAt: '2026-11-29T20:00:00Z' })
    expect(await readWhole(await archiveOf([FILE], header))).toMatchObject({ keys: 2 })
  })

  test('with fewer keys than it says is refused', async () => {
    expect(await fault(await archiveOf([FILE], headerOf(), { keys: 3 }))).toContain(
      'it says that it has 3 keys, and has 2',
    )
  })

  test('of a Cluster that moved a shard meanwhile is refused', async () => {
    const primaries = ['one', 'two'].map((name) => ({ name, redisVersion: '7.0.15' }))
    const other = rdbFile([value(0, createShardKeys(0).clock, text('1'))])
    expect(await fault(await archiveOf([FILE, other], headerOf({ primaries })))).toContain(
      'Shard 0 was being moved to another node',
    )
  })

  test('what is none at all is called so', async () => {
    expect(await fault(Buffer.alloc(0))).toContain('This is not a backup of Punctual.')
    expect(await fault(Buffer.from('{"punctual":"other"}\n'))).toContain('This is not a backup of Punctual.')
    expect(await fault(FILE)).toContain('This is not a backup of Punctual.')
    expect(await fault(Buffer.alloc(200_000, 'x'))).toContain('This is not a backup of Punctual.')
  })
})
