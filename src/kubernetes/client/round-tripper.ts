import type { ClusterMetrics } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSize, type ApiAnswer } from './api-errors.ts'
import { ANSWER_BYTES_MAX } from './bounds.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { createConnectionPools } from './connection-pools.ts'

/** What goes over the wire once. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the API server's root: `/apis/punctual.dev/v1alpha1/httpqueues`. */
  readonly path: string
  /** Absent values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Of the body; `application/json` when not given. A patch must say which kind it is. */
  readonly contentType?: string
  /** Goes at once whatever waits or hangs: a lease may not wait behind a thousand statuses. */
  readonly isUrgent?: boolean
  /** A longer answer is given up as `too_large`; ANSWER_BYTES_MAX when not given. */
  readonly answerBytesMax?: number
}

/** An answer that has begun. */
interface OpenAnswer extends Omit<ApiAnswer, 'text'> {
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends single requests under the credentials of the moment, without deadline or second try. */
export interface RoundTripper {
  exchange(request: WireRequest, signal: AbortSignal): Promise<ApiAnswer>
  /** A body to be read as it comes when the answer is 200, else the whole answer. */
  open(request: WireRequest, signal: AbortSignal): Promise<ApiAnswer | AsyncIterable<Uint8Array>>
  close(): Promise<void>
}

export interface WireOptions {
  readonly config: ClusterConfig
  readonly clock: Clock
  readonly metrics: ClusterMetrics
  /** Such as `punctual/0.1.0`. */
  readonly userAgent: string
}

export function createRoundTripper({ config, clock, metrics, userAgent }: WireOptions): RoundTripper {
  const { origin, pathname } = new URL(config.server)
  const root = pathname.replace(/\/$/, '')
  const pools = createConnectionPools(origin)

  async function send(
    kind: 'api' | 'urgent' | 'watch',
    request: WireRequest,
    signal: AbortSignal,
  ): Promise<OpenAnswer> {
    const startedMs = clock.monotonicMs()
    let code: number | null = null
    try {
      const { headers, tls } = await config.access()
      signal.throwIfAborted()
      const answer = await pools.under(tls)[kind].request({
        method: request.method,
        path: root + pathOf(request),
        headers: { ...headers, ...headersOf(request), 'user-agent': userAgent },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      })
      code = answer.statusCode
      const retryAfter = answer.headers['retry-after']
      return { code, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, body: answer.body }
    } finally {
      const seconds = (clock.monotonicMs() - startedMs) / 1000
      metrics.requestEnded(kind === 'watch' ? 'WATCH' : request.method, code, seconds)
    }
  }

  return {
    exchange: async (request, signal) =>
      readWhole(
        await send(request.isUrgent === true ? 'urgent' : 'api', request, signal),
        request.answerBytesMax,
      ),
    open: async (request, signal) => {
      const answer = await send('watch', request, signal)
      return answer.code === 200 ? answer.body : readWhole(answer)
    },
    close: () => pools.close(),
  }
}

function pathOf({ path, query = {} }: WireRequest): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

function headersOf({ body, contentType = 'application/json' }: WireRequest): Record<string, string> {
  return { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': contentType }) }
}

async function readWhole(
  { code, retryAfter, body }: OpenAnswer,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<ApiAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) throw errorOfSize(bytesMax)
    chunks.push(chunk)
  }
  return { code, retryAfter, text: Buffer.concat(chunks).toString('utf8') }
}
