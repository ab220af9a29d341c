import { openDataFolder } from '../../../../src/standalone/data-folder.ts'
import { startRedisChild } from '../../../../src/standalone/redis-server/redis-child.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { realClock } from './real-clock.ts'

/** Holds the data folder it is given, with a Redis in it, says so, and stays until it is killed. */
const folder = openDataFolder({ path: process.argv[2] ?? '', token: null, secretsKey: null })
const redis = await startRedisChild({
  folder: folder.redisPath,
  durability: 'relaxed',
  maxmemoryBytes: 64 * 1024 ** 2,
  clock: realClock,
  logger: quietLogger,
})
folder.announce('http://127.0.0.1:8080')
process.stdout.write(`${JSON.stringify({ url: redis.url, pid: redis.pid(), token: folder.token })}\n`)
setInterval(() => undefined, 60_000)
