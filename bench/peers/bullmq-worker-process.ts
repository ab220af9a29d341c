/** BullMQ's worker, tuned: one shared undici Agent, `request`, the body dumped; one Worker a queue. */
import { Worker, type Job as BullJob } from 'bullmq'
import { Redis } from 'ioredis'
import { Agent, request } from 'undici'
import { readOptions, redisOptions, type Job } from './bullmq-options.ts'

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
// One origin a time limit is not needed for: the pool grows to what the workers use.
const agent = new Agent({ pipelining: 1, headersTimeout: 300_000, bodyTimeout: 300_000 })
const names = options.queues === null ? ['bench'] : Array.from({ length: options.queues }, (_, i) => `q${i}`)

const workers = names.map(
  (name) =>
    new Worker(name, call, {
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

async function call(job: BullJob<Job>): Promise<number> {
  const { statusCode, body } = await request(job.data.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(job.data.payload),
    dispatcher: agent,
  })
  await body.dump()
  if (statusCode >= 300) throw new Error(`The target answered ${statusCode}`)
  return statusCode
}
