/** The least API over BullMQ: `POST /api/jobs` without validation, `queue.add`, 201; `/api/jobs/batch`, `queue.addBulk`, 200. */
import { createServer, type ServerResponse } from 'node:http'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { readOptions, redisOptions, type Job } from './bullmq-options.ts'

interface Push extends Job {
  readonly queue: string
  readonly delay?: number
  readonly run_at?: string
}
interface Waiting {
  readonly push: Push
  readonly resolve: (id: string) => void
  readonly reject: (error: unknown) => void
}

const BULK_MAX = 128

const options = readOptions() as { port: number; redisPort: number; isBulk: boolean }
const connection = new Redis(redisOptions(options.redisPort))
const queues = new Map<string, Queue>()
let waiting: Waiting[] = []
let isFlushing = false

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const json = JSON.parse(Buffer.concat(chunks).toString()) as Push | { jobs: readonly Push[] }
    if ('jobs' in json) {
      addBatch(json.jobs).then(
        (ids) => {
          const results = ids.map((id) => `{"status":201,"success":true,"job_id":"${id}"}`)
          answer(response, 200, `{"results":[${results.join(',')}]}`)
        },
        () => response.writeHead(503).end(),
      )
      return
    }
    const push = json
    const added = options.isBulk ? addWithOthers(push) : addAlone(push)
    added.then(
      (id) => {
        answer(response, 201, `{"success":true,"job_id":"${id}"}`)
      },
      () => response.writeHead(503).end(),
    )
  })
})
server.listen(options.port, '127.0.0.1', () => process.stdout.write('READY\n'))
process.once('SIGTERM', () => process.exit())

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', String(body.length)])
  response.end(body)
}

/** The pushes of one queue at once, in order. */
async function addBatch(pushes: readonly Push[]): Promise<string[]> {
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

function addWithOthers(push: Push): Promise<string> {
  return new Promise((resolve, reject) => {
    waiting.push({ push, resolve, reject })
    if (isFlushing) return
    isFlushing = true
    setImmediate(() => void flush())
  })
}

async function flush(): Promise<void> {
  while (waiting.length > 0) {
    const batch = waiting.slice(0, BULK_MAX)
    waiting = waiting.slice(BULK_MAX)
    for (const [name, pushes] of Map.groupBy(batch, (one) => one.push.queue)) {
      try {
        const jobs = await queueOf(name).addBulk(
          pushes.map(({ push }) => ({ name: 'call', data: push, opts: { delay: delayOf(push) } })),
        )
        pushes.forEach((one, index) => one.resolve(jobs[index]?.id ?? ''))
      } catch (error) {
        for (const one of pushes) one.reject(error)
      }
    }
  }
  isFlushing = false
}

function delayOf(push: Push): number {
  if (push.run_at !== undefined) return Math.max(0, Date.parse(push.run_at) - Date.now())
  return (push.delay ?? 0) * 1000
}

function queueOf(name: string): Queue {
  const known = queues.get(name) ?? new Queue(name, { connection })
  queues.set(name, known)
  return known
}
