/** BullMQ behind the least API: `queue.add` for a push, or `addBulk` for the pushes of one turn; `addBulk` for a batch. */
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { gathered, serveIntake, type AddMany } from '../node/intake.ts'
import { dueAt, readOptions, type Push } from '../node/push.ts'
import { redisOptions } from './redis-options.ts'

const options = readOptions() as { port: number; redisPort: number; isBulk: boolean }
const connection = new Redis(redisOptions(options.redisPort))
const queues = new Map<string, Queue>()

/** The pushes of one queue at once, in order. */
const addMany: AddMany = async (pushes) => {
  const ids = new Map<Push, string>()
  for (const [name, ofQueue] of Map.groupBy(pushes, (push) => push.queue)) {
    const added = await queueOf(name).addBulk(
      ofQueue.map((push) => ({ name: 'call', data: push, opts: { delay: delayOf(push) } })),
    )
    ofQueue.forEach((push, index) => ids.set(push, added[index]?.id ?? ''))
  }
  return pushes.map((push) => ids.get(push) ?? '')
}

async function addAlone(push: Push): Promise<string> {
  const job = await queueOf(push.queue).add('call', push, { delay: delayOf(push) })
  return job.id ?? ''
}

serveIntake(options.port, { add: options.isBulk ? gathered(addMany) : addAlone, addMany })

function delayOf(push: Push): number {
  const due = dueAt(push)
  return due === null ? 0 : Math.max(0, due.getTime() - Date.now())
}

function queueOf(name: string): Queue {
  const known = queues.get(name) ?? new Queue(name, { connection })
  queues.set(name, known)
  return known
}
