import { randomBytes } from 'node:crypto'
import { BackupError } from '../../../domain/errors.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { namedPrimariesOf, type RedisConnection } from '../../base/client/connection.ts'
import { dataVersionProblem } from '../../base/installation/installation.ts'
import { fieldsOf } from '../../base/installation/server-look.ts'
import { META_KEY } from '../../base/layout/keys.ts'
import { ARCHIVE_FORMAT, PRIMARIES_MAX, type ArchiveHeader } from '../archive/archive-form.ts'
import { ArchiveWriter, type ByteSink } from '../archive/archive-writer.ts'
import { CheckedData } from '../archive/checked-data.ts'
import { copyOf } from './replica-stream.ts'

/** What a backup holds. */
export interface TakenBackup {
  readonly header: ArchiveHeader
  readonly keys: number
  /** Of the copies, without what the archive adds. */
  readonly bytes: number
}

interface TakeOptions {
  readonly connection: RedisConnection
  /** Number of the database that the connection uses. */
  readonly database: number
  readonly sink: ByteSink
  /** Version of the program. */
  readonly program: string
  readonly clock: Clock
}

/**
 * Writes a backup of the installation: all primaries are asked at once, so that their copies are of the same moment, and
 * each copy is read to the last key on its way. @throws BackupError
 */
export async function takeBackup({ sink, clock, ...options }: TakeOptions): Promise<TakenBackup> {
  const primaries = [...namedPrimariesOf(options.connection)]
  const header = await headerFor(primaries, options, clock)
  const writer = new ArchiveWriter(sink, primaries.length)
  const data = new CheckedData(header)
  await writer.begin(header)
  let bytes = 0
  let hasFailed = false
  const take = async (place: number): Promise<void> => {
    const [name, primary] = primaries[place]!
    for await (const chunk of copyOf(primary, { name, clock })) {
      bytes += chunk.length
      passOver(data.push(place, chunk))
      await writer.append(place, chunk)
      // A backup lacks nothing, or is none.
      if (hasFailed) return
    }
  }
  await all([...primaries.keys()].map(take), () => {
    hasFailed = true
  })
  passOver(data.end())
  const { keys } = data
  await writer.end({ endedAt: new Date(clock.wallMs()).toISOString(), keys })
  return { header, keys, bytes }
}

async function headerFor(
  primaries: ReadonlyArray<readonly [string, Pick<RedisConnection, 'info'>]>,
  { connection, database, program }: Pick<TakeOptions, 'connection' | 'database' | 'program'>,
  clock: Clock,
): Promise<ArchiveHeader> {
  if (primaries.length > PRIMARIES_MAX) {
    throw new BackupError(`The Cluster has more than ${PRIMARIES_MAX} primaries.`)
  }
  const { installation, shards, version = '' } = await connection.hgetall(META_KEY)
  if (installation === undefined || shards === undefined) {
    throw new BackupError('Redis holds no installation of Punctual: check PUNCTUAL_REDIS_URL.')
  }
  const problem = dataVersionProblem(version)
  if (problem !== null) throw new BackupError(problem)
  return {
    format: ARCHIVE_FORMAT,
    id: randomBytes(8).toString('hex'),
    program,
    installation,
    dataVersion: version,
    shards: Number(shards),
    database,
    beganAt: new Date(clock.wallMs()).toISOString(),
    primaries: await Promise.all(
      primaries.map(async ([name, node]) => ({ name, redisVersion: await versionOf(node) })),
    ),
  }
}

async function versionOf(node: Pick<RedisConnection, 'info'>): Promise<string> {
  const info = fieldsOf(await node.info('server'))
  const valkey = info.get('valkey_version')
  return valkey === undefined ? (info.get('redis_version') ?? 'unknown') : `Valkey ${valkey}`
}

function passOver(values: Iterable<unknown>): void {
  for (const _ of values);
}

/** Waits for all, also after one has failed: none may go on unseen. @throws the first failure */
async function all(tasks: ReadonlyArray<Promise<void>>, onFailure: () => void): Promise<void> {
  const failures: unknown[] = []
  const note = (error: unknown): void => {
    failures.push(error)
    onFailure()
  }
  await Promise.all(tasks.map((task) => task.catch(note)))
  if (failures.length > 0) throw failures[0]
}
