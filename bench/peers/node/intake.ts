/** The least API over a peer, the same for each in Node: `POST /api/jobs` without validation, and a batch of pushes. */
import { createServer, type ServerResponse } from 'node:http'
import type { Push } from './push.ts'

/** Puts pushes in and answers their ids, in order. */
export type AddMany = (pushes: readonly Push[]) => Promise<string[]>
export type AddOne = (push: Push) => Promise<string>

interface Waiting {
  readonly push: Push
  readonly resolve: (id: string) => void
  readonly reject: (error: unknown) => void
}

const BATCH_MAX = 128

/** Answers 201 to a push once it is stored, and 200 to `{"jobs": […]}`; 503 where it could not be. */
export function serveIntake(port: number, { add, addMany }: { add: AddOne; addMany: AddMany }): void {
  const take = (json: Push | { jobs: readonly Push[] }, response: ServerResponse): Promise<void> =>
    'jobs' in json
      ? addMany(json.jobs).then((ids) => {
          const results = ids.map((id) => `{"status":201,"success":true,"job_id":"${id}"}`)
          answer(response, 200, `{"results":[${results.join(',')}]}`)
        })
      : add(json).then((id) => answer(response, 201, `{"success":true,"job_id":"${id}"}`))
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const json = JSON.parse(Buffer.concat(chunks).toString()) as Push
      take(json, response).catch(() => response.writeHead(503).end())
    })
  })
  server.listen(port, '127.0.0.1', () => process.stdout.write('READY\n'))
  process.once('SIGTERM', () => process.exit())
}

/**
 * Adds the pushes of one turn of the event loop, and those that come while a batch is under way, together: what a
 * careful user of a batch insert would write.
 */
export function gathered(addMany: AddMany): AddOne {
  let waiting: Waiting[] = []
  let isFlushing = false

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      try {
        const ids = await addMany(batch.map(({ push }) => push))
        batch.forEach((one, index) => one.resolve(ids[index] ?? ''))
      } catch (error) {
        for (const one of batch) one.reject(error)
      }
    }
    isFlushing = false
  }

  return (push) =>
    new Promise((resolve, reject) => {
      waiting.push({ push, resolve, reject })
      if (isFlushing) return
      isFlushing = true
      setImmediate(() => void flush())
    })
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', String(body.length)])
  response.end(body)
}
