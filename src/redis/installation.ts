import { randomBytes } from 'node:crypto'
import { reasonOf, StartupError } from '../domain/errors.ts'
import { createJobIds, type JobIds } from '../domain/job-ids.ts'
import type { Logger } from '../ports/logger.ts'
import type { RedisConnection } from './connection.ts'
import { createShardKeys, META_KEY, SYSTEM_QUEUE } from './keys.ts'

/** Version of the data model; a program that does not know the stored one refuses to start. */
const DATA_VERSION = '1'

/**
 * Reads what this installation is, and writes it at the very first start: shards, installation id, data version,
 * each shard's system queue. Throws StartupError when the stored facts do not fit.
 */
export async function openInstallation(connection: RedisConnection, shards: number): Promise<JobIds> {
  await connection.hsetnx(META_KEY, 'version', DATA_VERSION)
  await connection.hsetnx(META_KEY, 'shards', String(shards))
  await connection.hsetnx(META_KEY, 'installation', randomBytes(6).toString('hex'))
  const meta = await connection.hgetall(META_KEY)
  if (meta['version'] !== DATA_VERSION) {
    throw new StartupError(
      `Redis holds data of version ${meta['version']}; this program knows version ${DATA_VERSION}.`,
    )
  }
  if (meta['shards'] !== String(shards)) {
    throw new StartupError(
      `Redis holds ${meta['shards']} shards and the number cannot change: set PUNCTUAL_SHARDS=${meta['shards']}, not ${shards}.`,
    )
  }
  for (let shard = 0; shard < shards; shard += 1) {
    await connection.hset(createShardKeys(shard).queue(SYSTEM_QUEUE).q, 'n', '', 'a', '1')
  }
  return createJobIds(shards, meta['installation'] ?? '')
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
  await connection.hsetnx(META_KEY, 'store', storeId)
  const known = await connection.hget(META_KEY, 'store')
  if (known !== storeId) {
    throw new StartupError(
      `The folder ${folder} (store ${storeId}) is not the one this Redis was filled from (store ${known}). ` +
        'Point PUNCTUAL_MANIFESTS at that folder, or use another Redis or data folder.',
    )
  }
}

/** Refuses a Redis that could lose or evict jobs; with `override` it only warns. */
export async function checkRedisIsSafe(
  connection: RedisConnection,
  options: { override: boolean; logger: Logger },
): Promise<void> {
  const problems = [
    ...versionProblems(await connection.info('server')),
    ...(await settingProblems(connection, options.logger)),
  ]
  if (problems.length === 0) return
  if (!options.override) {
    throw new StartupError(
      `${problems.join(' ')} Or set PUNCTUAL_ALLOW_UNSAFE_REDIS=true to accept the loss of jobs.`,
    )
  }
  for (const problem of problems) options.logger.warn('Redis is not safe for jobs', { problem })
}

function versionProblems(info: string): string[] {
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1]
  const redis = /^redis_version:(\S+)/m.exec(info)?.[1] ?? '0'
  const isOld = valkey === undefined ? Number.parseFloat(redis) < 7 : Number.parseFloat(valkey) < 7.2
  return isOld ? [`Redis ${valkey ?? redis} is too old: Redis 7.0 or Valkey 7.2 is the least.`] : []
}

async function settingProblems(connection: RedisConnection, logger: Logger): Promise<string[]> {
  const problems: string[] = []
  try {
    const [, policy] = await connection.config('GET', 'maxmemory-policy')
    if (policy !== 'noeviction') {
      problems.push(
        `Redis may evict jobs (maxmemory-policy is ${policy}): run "redis-cli CONFIG SET maxmemory-policy noeviction".`,
      )
    }
    const [, appendOnly] = await connection.config('GET', 'appendonly')
    if (appendOnly !== 'yes') {
      problems.push(
        'Redis would lose jobs at a restart (appendonly is no): run "redis-cli CONFIG SET appendonly yes".',
      )
    }
  } catch (error) {
    logger.warn('Redis does not show its settings; its eviction policy and AOF are not checked', {
      reason: reasonOf(error),
    })
  }
  return problems
}
