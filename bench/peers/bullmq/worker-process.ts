/** BullMQ's worker, tuned: one Worker a queue, finished jobs dropped unless they are to be kept. */
import { Worker, type Job as BullJob } from 'bullmq'
import { Redis } from 'ioredis'
import { call } from '../node/call.ts'
import { readOptions, type Push } from '../node/push.ts'
import { redisOptions } from './redis-options.ts'

const options = readOptions() as {
  redisPort: number
  concurrency: number
  queues: number | null
  keepsHistory: boolean
}
/** Failed jobs beyond these would only be a leak of the benchmark. */
const KEPT = { count: 10_000 }

const connection = new Redis(redisOptions(options.redisPort))
connection.setMaxListeners(0)
const names = options.queues === null ? ['bench'] : Array.from({ length: options.queues }, (_, i) => `q${i}`)

const workers = names.map(
  (name) =>
    new Worker(name, (job: BullJob<Push>) => call(job.data), {
      connection,
      concurrency: options.concurrency,
      ...(options.keepsHistory ? {} : { removeOnComplete: { count: 0 } }),
      removeOnFail: KEPT,
    }),
)
for (const worker of workers) worker.on('error', () => undefined)
await Promise.all(workers.map((worker) => worker.waitUntilReady()))
process.stdout.write('READY\n')
process.once('SIGTERM', () => process.exit())
