import { randomBytes } from 'node:crypto'
import { BackupError } from '../../../domain/errors.ts'
import { primariesOf, type RedisConnection } from '../../base/client/connection.ts'
import { RESTORING } from '../../base/installation/installation.ts'
import { fieldsOf } from '../../base/installation/server-look.ts'
import { KEY_PREFIX, META_KEY } from '../../base/layout/keys.ts'
import type { ArchiveHeader } from '../archive/archive-form.ts'
import type { RestoreClient } from './value-sender.ts'

/** Keys that are counted where there should be none. */
const COUNTED_MAX = 1_000
const SCAN_COUNT = 1_000

/** A Redis that one restore may write into: the last one that has taken it. */
export interface TakenTarget {
  /** Whether an earlier restore was broken off. */
  readonly isContinued: boolean
  /** Rejects when another restore has taken it meanwhile, or when writes may be lost. */
  check(): Promise<void>
  /** Calls `write`, which replaces the mark; brings the mark back and rejects when writes may be lost. */
  finish(write: () => Promise<unknown>): Promise<void>
}

/**
 * Marks a Redis without an installation as one that is being restored, which every role refuses; or takes over what a
 * restore of the same archive has left. @throws BackupError when the Redis holds anything else
 */
export async function takeTarget(
  client: RestoreClient & RedisConnection,
  header: ArchiveHeader,
  howToEmpty: string,
): Promise<TakenTarget> {
  const lives = await livesOf(client)
  refuseMeta(await client.hgetall(META_KEY), header, howToEmpty)
  // Of several restores each of which has seen nothing, one is the first to name its backup.
  await client.hsetnx(META_KEY, 'version', RESTORING)
  const isFirst = (await client.hsetnx(META_KEY, 'backup', header.id)) === 1
  const meta = await client.hgetall(META_KEY)
  refuseMeta(meta, header, howToEmpty)
  const writer = randomBytes(8).toString('hex')
  // All that a program of any version would add by itself, so that none adds anything.
  const mark = {
    version: RESTORING,
    installation: RESTORING,
    shards: String(header.shards),
    backup: header.id,
    writer,
  }
  await client.hset(META_KEY, mark)
  const isContinued = meta['wasEmpty'] === 'yes'
  if (!isContinued) {
    try {
      await refuseKeys(client, howToEmpty)
    } catch (error) {
      if (isFirst && (await writerIn(client)) === writer) await client.unlink(META_KEY)
      throw error
    }
  }
  const checkLives = async (): Promise<void> => {
    if ((await livesOf(client)) === lives) return
    throw new BackupError(
      'Redis failed over meanwhile (or was restarted), and may have lost what was written: run the restore once more.',
    )
  }
  const check = async (): Promise<void> => {
    if ((await writerIn(client)) !== writer) {
      throw new BackupError('Another restore has begun in this Redis, or it was emptied: this one ends.')
    }
    await checkLives()
  }
  await check()
  if (isContinued) await clearKeys(client)
  await client.hset(META_KEY, { wasEmpty: 'yes' })
  return {
    isContinued,
    check,
    finish: async (write) => {
      await check()
      await write()
      try {
        await checkLives()
      } catch (error) {
        await client.hset(META_KEY, { ...mark, wasEmpty: 'yes' })
        throw error
      }
    },
  }
}

/** Which restore has taken it last. */
function writerIn(client: RestoreClient): Promise<string | null> {
  return client.hget(META_KEY, 'writer')
}

function refuseMeta(
  { version, installation, shards, backup }: Readonly<Record<string, string>>,
  header: ArchiveHeader,
  howToEmpty: string,
): void {
  if (version === RESTORING) {
    if (backup === undefined || backup === header.id) return
    throw new BackupError(
      `A restore of another backup is under way here, or was broken off: run it once more with that one (id ${backup}), or ${howToEmpty}.`,
    )
  }
  if (installation !== undefined) {
    throw new BackupError(
      `Redis holds the installation ${installation} with ${shards} shards: ${howToEmpty}.`,
    )
  }
  if (version !== undefined) throw new BackupError(`Redis holds data of version ${version}: ${howToEmpty}.`)
}

/**
 * Changes whenever another server becomes a primary, or one of them starts anew. Writes that such a server has acknowledged
 * may be gone, and the client connects again without a word.
 */
async function livesOf(connection: RedisConnection): Promise<string> {
  const ids = primariesOf(connection).map(async (node) => {
    const info = fieldsOf(await node.info('replication'))
    return info.get('master_replid') ?? ''
  })
  return (await Promise.all(ids)).sort().join(' ')
}

async function refuseKeys(connection: RedisConnection, howToEmpty: string): Promise<void> {
  let count = 0
  let example = ''
  for await (const keys of ownKeys(connection)) {
    count += keys.length
    example ||= keys[0] ?? ''
    if (count >= COUNTED_MAX) break
  }
  if (count === 0) return
  const counted = count < COUNTED_MAX ? String(count) : `${COUNTED_MAX} or more`
  throw new BackupError(`Redis holds keys of Punctual (${counted}), such as ${example}: ${howToEmpty}.`)
}

/**
 * Removes what a restore that was broken off has written. It all came from the same archive, which may have been damaged on
 * its way, so that a key has a name that no other restore would write over.
 */
async function clearKeys(client: RestoreClient & RedisConnection): Promise<void> {
  for await (const keys of ownKeys(client)) {
    // One by one, as they are in several slots of a Cluster.
    await Promise.all(keys.map((key) => client.unlink(key)))
  }
}

/** Finds the keys of Punctual but for the mark, some at a time. */
async function* ownKeys(connection: RedisConnection): AsyncGenerator<readonly string[]> {
  for (const node of primariesOf(connection)) {
    let cursor = '0'
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', `${KEY_PREFIX}*`, 'COUNT', SCAN_COUNT)
      yield found.filter((key) => key !== META_KEY)
      cursor = next
    } while (cursor !== '0')
  }
}
