/** The API as a client sees it. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Job,
  JobList,
  JobPush,
  Queue,
  QueueEdit,
  QueueList,
  ScheduledJob,
} from '../../../clients/typescript/src/generated/wire.ts'
import { until } from '../until.ts'

export interface ApiAnswer<T = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
  readonly tookMs: number
}

export type Push = Partial<JobPush> & Readonly<Record<string, unknown>>

export interface ApiClient {
  /** Any request; a body that is a string is sent as it is. */
  send<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>
  /** Pushes and expects 201. */
  push(job: Push, headers?: Record<string, string>): Promise<ScheduledJob>
  /** Reads and expects 200. */
  job(id: number | string): Promise<Job>
  /** Waits until the job is as asked. */
  jobThat(id: number, what: string, holds: (job: Job) => boolean, timeoutMs?: number): Promise<Job>
  /** Waits until the chain of the original job `id` has ended. */
  ended(id: number, timeoutMs?: number): Promise<Job>
  jobs(query?: Readonly<Record<string, string>>): Promise<JobList>
  queues(query?: Readonly<Record<string, string>>): Promise<QueueList>
  /** null when there is none. */
  queueNamed(name: string): Promise<Queue | null>
  /** Makes a queue with these settings, by a job that is cancelled at once; answers its id. */
  makeQueue(name: string, settings: QueueEdit): Promise<number>
}

const CHAIN_ENDS: ReadonlySet<string | null> = new Set(['success', 'failed_no_retries', 'dead_lettered'])

/**
 * @param patienceMs how long a request that is refused with `Retry-After` is sent again, as a client does: on a machine
 * so busy that Redis answers late; 0 = it is not
 */
export function createApiClient(url: string, token: string, patienceMs = 0): ApiClient {
  async function send<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer<T>> {
    const deadline = performance.now() + patienceMs
    // Whoever repeats a push of which nobody knows what became does so under its key.
    const key =
      patienceMs > 0 && `${method} ${path}` === 'POST /api/jobs' ? { 'idempotency-key': randomUUID() } : {}
    for (;;) {
      const answer = await exchange<T>(method, path, body, { ...key, ...headers })
      const pauseMs = Number(answer.headers.get('retry-after')) * 1_000
      if (answer.status !== 503 || pauseMs === 0 || performance.now() + pauseMs > deadline) return answer
      await sleep(pauseMs)
    }
  }

  async function exchange<T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiAnswer<T>> {
    const startedAt = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? null : JSON.parse(text)) as T,
      tookMs: performance.now() - startedAt,
    }
  }

  async function expected<T>(status: number, ...request: Parameters<typeof send>): Promise<T> {
    const answer = await send<T>(...request)
    if (answer.status === status) return answer.body
    throw new Error(`${request[0]} ${request[1]} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }

  const job = (id: number | string) => expected<Job>(200, 'GET', `/api/jobs/${id}`)
  const jobThat: ApiClient['jobThat'] = async (id, what, holds, timeoutMs) => {
    let last: Job | null = null
    try {
      return await until(
        `job ${id} ${what}`,
        async () => {
          last = await job(id)
          return holds(last) ? last : null
        },
        timeoutMs,
      )
    } catch (error) {
      throw new Error(`${(error as Error).message}; it is ${JSON.stringify(last)}`, { cause: error })
    }
  }
  const listed = (path: string, query: Readonly<Record<string, string>> = {}) =>
    `${path}?${new URLSearchParams(query).toString()}`
  const push: ApiClient['push'] = (body, headers) => expected(201, 'POST', '/api/jobs', body, headers)

  return {
    send,
    push,
    job,
    jobThat,
    ended: (id, timeoutMs) =>
      jobThat(id, 'has ended', (seen) => CHAIN_ENDS.has(seen.final_status), timeoutMs),
    jobs: (query) => expected(200, 'GET', listed('/api/jobs', query)),
    queues: (query) => expected(200, 'GET', listed('/api/queues', query)),
    queueNamed: async (name) => {
      let cursor: string | null = null
      do {
        const page: QueueList = await expected(
          200,
          'GET',
          listed('/api/queues', { limit: '1000', ...(cursor === null ? {} : { cursor }) }),
        )
        const found = page.queues.find((queue) => queue.name === name)
        if (found !== undefined) return found
        cursor = page.next_cursor
      } while (cursor !== null)
      return null
    },
    makeQueue: async (name, settings) => {
      const seed = await push({ queue: name, url: 'http://127.0.0.1:9/', delay: 86_400 })
      await expected(204, 'DELETE', `/api/jobs/${seed.job_id}`)
      await expected(200, 'PATCH', `/api/queues/${seed.queue_id}`, settings)
      return seed.queue_id
    },
  }
}
