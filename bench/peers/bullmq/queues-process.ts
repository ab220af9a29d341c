/** Makes queues `q0` …, with a limit of jobs at once each when one is given. Ends by itself. */
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { readOptions } from '../node/push.ts'
import { redisOptions } from './redis-options.ts'

const options = readOptions() as { redisPort: number; count: number; limit: number | null }
const connection = new Redis(redisOptions(options.redisPort))
connection.setMaxListeners(0)
for (let index = 0; index < options.count; index += 1) {
  const queue = new Queue(`q${index}`, { connection })
  await queue.waitUntilReady()
  if (options.limit !== null) await queue.setGlobalConcurrency(options.limit)
}
process.exit()
