/** An HTTP target that remembers every request and answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../until.ts'

export interface Arrival {
  readonly path: string
  readonly method: string
  /** X-Punctual-Job-Id; null on a callback. */
  readonly jobId: number | null
  readonly attempt: number | null
  readonly token: string | null
  readonly webhookId: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body byte for byte. */
  readonly bytes: Buffer
  /** Unix ms when the request had been read. */
  readonly arrivedAtMs: number
  /** Unix ms when the exchange was over, answered or cut; null while it is open. */
  closedAtMs: number | null
  /** Whether the whole answer was handed to the system. */
  wasAnswered: boolean
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** @param nth 1 for the first request with this webhook-id */
export type Answering = (arrival: Arrival, nth: number) => Answer | Promise<Answer>

export interface Target {
  /** Without a slash at the end. */
  readonly url: string
  /** Everything below this path is answered so; else 200. */
  route(path: string, answering: Answering): void
  /** In order of arrival. @param path only requests of this path */
  arrivals(path?: string): Arrival[]
  /** Resolves when so many requests of this path have arrived. */
  arrived(path: string, count?: number, timeoutMs?: number): Promise<Arrival[]>
  /** The most requests of a path that were open at once. */
  mostOpen(path: string): number
  openNow(): number
  /** Forgets all that has arrived. */
  forget(): void
  close(): Promise<void>
}

/** Nth request of a webhook-id → nth status; the last one for all that follow. */
export function statuses(...codes: readonly number[]): Answering {
  return (_arrival, nth) => ({ status: codes[Math.min(nth, codes.length) - 1] ?? 200 })
}

/** Requests wait until `open` is called. */
export function latch(answer: Answer = {}): { readonly answering: Answering; open(): void } {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  return { answering: () => promise, open: () => resolve(answer) }
}

export const hang = () => new Promise<Answer>(() => undefined)

export async function startTarget(): Promise<Target> {
  const arrivals: Arrival[] = []
  const routes = new Map<string, Answering>()
  const seen = new Map<string, number>()
  const open = new Map<string, { now: number; most: number }>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const arrival = describe(request, Buffer.concat(chunks))
    const nth = (seen.get(arrival.webhookId) ?? 0) + 1
    seen.set(arrival.webhookId, nth)
    const counter = open.get(arrival.path) ?? { now: 0, most: 0 }
    open.set(arrival.path, counter)
    counter.now += 1
    counter.most = Math.max(counter.most, counter.now)
    response.once('close', () => {
      counter.now -= 1
      arrival.closedAtMs = Date.now()
    })
    response.once('finish', () => {
      arrival.wasAnswered = true
    })
    arrivals.push(arrival)
    const answer = await answeringOf(arrival.path)(arrival, nth)
    if (response.destroyed) return
    response.writeHead(answer.status ?? 200, answer.headers ?? {})
    response.end(answer.body ?? '')
  }

  function answeringOf(path: string): Answering {
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const found = routes.get(at)
      if (found !== undefined) return found
    }
    return () => ({})
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  // Longer than any test: hanging up is the executor's part.
  server.keepAliveTimeout = 600_000
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const of = (path?: string) => arrivals.filter((arrival) => path === undefined || arrival.path === path)
  return {
    url: `http://127.0.0.1:${port}`,
    route: (path, answering) => {
      routes.set(path, answering)
    },
    arrivals: of,
    arrived: async (path, count = 1, timeoutMs) => {
      await until(`${count} requests at ${path}`, () => of(path).length >= count, timeoutMs)
      return of(path)
    },
    mostOpen: (path) => open.get(path)?.most ?? 0,
    openNow: () => open.values().reduce((sum, { now }) => sum + now, 0),
    forget: () => {
      arrivals.length = 0
      seen.clear()
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function describe(request: IncomingMessage, bytes: Buffer): Arrival {
  const headers = request.headers as Record<string, string>
  const number = (name: string) => (headers[name] === undefined ? null : Number(headers[name]))
  return {
    path: new URL(request.url ?? '/', 'http://target').pathname,
    method: request.method ?? '',
    jobId: number('x-punctual-job-id'),
    attempt: number('x-punctual-attempt'),
    token: headers['x-punctual-fencing-token'] ?? null,
    webhookId: headers['webhook-id'] ?? '',
    headers,
    body: bytes.toString('utf8'),
    bytes,
    arrivedAtMs: Date.now(),
    closedAtMs: null,
    wasAnswered: false,
  }
}
