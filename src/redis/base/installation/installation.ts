import { randomBytes } from 'node:crypto'
import { StartupError, StorageFullError } from '../../../domain/errors.ts'
import { JobIds } from '../../../domain/jobs/job-ids.ts'
import type { StoreRisk } from '../../../ports/health.ts'
import type { Logger } from '../../../ports/runtime.ts'
import { primariesOf, type RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { META } from '../layout/fields.ts'
import { createShardKeys, META_KEY } from '../layout/keys.ts'
import { fieldsOf, risksIn, type ServerFields } from './server-look.ts'

/** Version of the data model. A program that does not know the stored version refuses to start. */
export const DATA_VERSION = '3'

/** Stands for the data version while a backup is put back, and after that was broken off. */
export const RESTORING = 'restoring'

/** Explains what to do with data of another version, in a sentence; null when the data is of ours. */
export function dataVersionProblem(found: string): string | null {
  if (found === DATA_VERSION) return null
  if (found === RESTORING) {
    return 'A restore into this Redis is under way, or was broken off: wait for it, or run punctual restore once more, with the same backup.'
  }
  return Number(found) < Number(DATA_VERSION)
    ? `Redis holds data of version ${found}, which no release has written and this program cannot read (it reads version ${DATA_VERSION}): let the program that wrote it work off its jobs, then start this one on an empty Redis.`
    : `Redis holds data of version ${found}, which is newer than what this program reads (version ${DATA_VERSION}): start the version of Punctual that wrote it, or use another Redis.`
}

/**
 * Reads the facts of this installation and writes the missing ones, at the first start all of them: shards, installation
 * id, data version and the mark of each shard. Existing ones are not written, because a full Redis refuses even a write
 * that changes nothing. Throws StartupError when the stored facts do not fit.
 * @param isForTests whether it goes by a test clock; fixed at the first start
 */
export async function openInstallation(
  connection: RedisConnection,
  shards: number,
  isForTests = false,
): Promise<JobIds> {
  if (isForTests) await beginForTests(connection)
  const meta = await readMeta(connection, {
    version: DATA_VERSION,
    shards: String(shards),
    installation: randomBytes(6).toString('hex'),
  })
  const problem = dataVersionProblem(meta['version'] ?? '')
  if (problem !== null) throw new StartupError(problem)
  refuseOtherTime(meta[META.testClockMs] !== undefined, isForTests)
  if (meta['shards'] !== String(shards)) {
    throw new StartupError(
      `Redis holds ${meta['shards']} shards and the number cannot change: set PUNCTUAL_SHARDS=${meta['shards']}, not ${shards}.`,
    )
  }
  for (let shard = 0; shard < shards; shard += 1) {
    const { created: mark } = createShardKeys(shard)
    if ((await connection.get(mark)) === null) await connection.setnx(mark, '1')
  }
  return new JobIds(shards, meta['installation'] ?? '')
}

/** Before all other facts: an installation that has begun without this one is refused. */
async function beginForTests(connection: RedisConnection): Promise<void> {
  const version = await connection.hget(META_KEY, 'version')
  if (version === null) await connection.hsetnx(META_KEY, META.testClockMs, '0')
}

/** An installation never changes the clock that it goes by: its jobs would be due at other times. */
function refuseOtherTime(goesByTestClock: boolean, isForTests: boolean): void {
  if (goesByTestClock === isForTests) return
  const other = 'use another PUNCTUAL_DATA_DIR, or another Redis'
  throw new StartupError(
    isForTests
      ? `Redis holds an installation that goes by the real time, and PUNCTUAL_TEST_CLOCK would move its jobs: ${other}.`
      : `Redis holds an installation for tests, which goes by a test clock: set PUNCTUAL_TEST_CLOCK=1, or ${other}.`,
  )
}

/** Writes the initial values of missing fields first. */
export async function readMeta(
  connection: Pick<RedisConnection, 'hgetall' | 'hsetnx'>,
  initial: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const known = await connection.hgetall(META_KEY)
  const missing = Object.entries(initial).filter(([field]) => known[field] === undefined)
  if (missing.length === 0) return known
  // When several roles start at once, the first write wins.
  for (const [field, value] of missing) await connection.hsetnx(META_KEY, field, value)
  return connection.hgetall(META_KEY)
}

/** Awaits a start-up task that writes. Throws StartupError when Redis is too full for it. */
export async function whenThereIsRoom<T>(begun: Promise<T>): Promise<T> {
  try {
    return await begun
  } catch (error) {
    if (!(asStoreFault(error) instanceof StorageFullError)) throw error
    throw new StartupError(
      'Redis is full, and it does not hold this installation yet: raise its maxmemory, or use another Redis.',
      { cause: error },
    )
  }
}

/**
 * Ties this Redis to the folder of resources it was filled from. Throws StartupError when it belongs to another:
 * taking that for an empty folder would delete every queue.
 */
export async function bindStoreId(
  connection: RedisConnection,
  storeId: string,
  folder: string,
): Promise<void> {
  const { store } = await readMeta(connection, { store: storeId })
  if (store !== storeId) {
    throw new StartupError(
      `The folder ${folder} (store ${storeId}) is not the one this Redis was filled from (store ${store}). ` +
        'Point PUNCTUAL_RESOURCES at that folder, or use another Redis or data folder.',
    )
  }
}

/** Settings that an installation may live with on purpose; what fails is refused by nobody's wish. */
export const ACCEPTABLE_RISKS: ReadonlySet<StoreRisk> = new Set(['eviction', 'append_only_off'])

function problemsIn(info: ServerFields): readonly string[] {
  const unsafe = risksIn(info).filter(({ risk }) => ACCEPTABLE_RISKS.has(risk))
  return [...versionProblems(info), ...unsafe.map(({ message }) => message)]
}

/** Refuses a Redis that could lose or evict jobs; with `override` it only warns. */
export async function checkRedisIsSafe(
  connection: RedisConnection,
  options: { override: boolean; logger: Logger },
): Promise<void> {
  const infos = await Promise.all(primariesOf(connection).map(async (node) => fieldsOf(await node.info())))
  if (infos.some((info) => !info.has('maxmemory_policy') || !info.has('aof_enabled')))
    options.logger.warn('Redis does not show its settings; its eviction policy and AOF are not checked')
  const problems = [...new Set(infos.flatMap(problemsIn))]
  if (problems.length === 0) return
  if (!options.override) {
    throw new StartupError(
      `${problems.join(' ')} Or set PUNCTUAL_ALLOW_UNSAFE_REDIS=true to accept the loss of jobs.`,
    )
  }
  for (const problem of problems) options.logger.warn('Redis is not safe for jobs', { problem })
}

export function versionProblems(info: ServerFields): string[] {
  const valkey = info.get('valkey_version')
  const redis = info.get('redis_version') ?? '0'
  const isOld = valkey === undefined ? Number.parseFloat(redis) < 7 : Number.parseFloat(valkey) < 7.2
  return isOld ? [`Redis ${valkey ?? redis} is too old: Punctual needs Redis 7.0, Valkey 7.2 or newer.`] : []
}
