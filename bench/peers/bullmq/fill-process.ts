/** Puts a number of jobs into BullMQ the fastest way: `addBulk` by 200. Ends by itself. */
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { readOptions, type Push } from '../node/push.ts'
import { redisOptions } from './redis-options.ts'

const PAGE = 200
const options = readOptions() as {
  redisPort: number
  count: number
  queues: number | null
  delaySeconds: number
  body: string
}
const connection = new Redis(redisOptions(options.redisPort))
connection.setMaxListeners(0)
const queues = Array.from(
  { length: options.queues ?? 1 },
  (_, index) => new Queue(options.queues === null ? 'bench' : `q${index}`, { connection }),
)

// Queue by queue, so that a page is one queue's.
let index = 0
for (let at = 0; at < queues.length; at += 1) {
  const share = Math.floor((options.count * (at + 1)) / queues.length)
  while (index < share) {
    const size = Math.min(PAGE, share - index)
    const page = Array.from({ length: size }, (_, offset) => jobOf(index + offset))
    await queues[at]?.addBulk(page)
    index += size
  }
}
connection.disconnect()
process.exit()

function jobOf(number: number) {
  const data = JSON.parse(options.body.replaceAll('{index}', String(number))) as Push
  return { name: 'call', data, opts: options.delaySeconds > 0 ? { delay: options.delaySeconds * 1000 } : {} }
}
