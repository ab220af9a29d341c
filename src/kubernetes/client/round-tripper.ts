import type { ClusterMetrics } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSize, type ApiAnswer } from './api-errors.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { ConnectionPools, type PoolName } from './connection-pools.ts'

/** The largest answer is an unpaged list of all objects, which follows a list whose pages have expired. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

const PATCH_TYPES = { merge: 'application/merge-patch+json', apply: 'application/apply-patch+yaml' } as const

/** One HTTP request to the API server. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path from the API server's root: `/apis/punctual.dev/v1alpha1/httpqueues`. */
  readonly path: string
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Says what a PATCH is: a JSON merge patch or a server-side apply. */
  readonly patchType?: keyof typeof PATCH_TYPES
  /**
   * Names the connections and the rate limit to use; `api` by default. `urgent` has no limit, as a Lease waits for
   * nothing.
   */
  readonly pool?: Exclude<PoolName, 'watch'>
  /** `application/json` by default. */
  readonly accept?: string
  /** A larger answer is abandoned as `too_large`; ANSWER_BYTES_MAX by default. */
  readonly answerBytesMax?: number
}

/** The head of an answer whose body is still to be read. */
interface OpenAnswer extends Omit<ApiAnswer, 'text'> {
  readonly body: AsyncIterable<Uint8Array>
}

export interface RoundTripperOptions {
  readonly config: ClusterConfig
  readonly clock: Clock
  readonly metrics: ClusterMetrics
  /** The User-Agent, such as `punctual/0.1.0`. */
  readonly userAgent: string
}

/** Sends one request with the current credentials: no deadline, no retry. Owns the connections. */
export class RoundTripper {
  readonly #options: RoundTripperOptions
  readonly #pools: ConnectionPools
  /** The path in the server's URL, which precedes that of each request. */
  readonly #root: string

  constructor(options: RoundTripperOptions) {
    const { origin, pathname } = new URL(options.config.server)
    this.#options = options
    this.#pools = new ConnectionPools(origin)
    this.#root = pathname.replace(/\/$/, '')
  }

  /** Reads the answer to its end, whatever its status. */
  async roundTrip(request: WireRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const answer = await this.#send(request.pool ?? 'api', request, signal)
    return readWhole(answer, request.answerBytesMax)
  }

  /** Returns the body unread if the status is 200, the whole answer otherwise. */
  async watch(request: WireRequest, signal: AbortSignal): Promise<ApiAnswer | AsyncIterable<Uint8Array>> {
    const answer = await this.#send('watch', request, signal)
    return answer.code === 200 ? answer.body : readWhole(answer)
  }

  close(): Promise<void> {
    return this.#pools.close()
  }

  async #send(pool: PoolName, request: WireRequest, signal: AbortSignal): Promise<OpenAnswer> {
    const { config, clock, metrics, userAgent } = this.#options
    const startedMs = clock.monotonicMs()
    let code: number | null = null
    try {
      const { headers, tls } = await config.access()
      signal.throwIfAborted()
      const answer = await this.#pools.pool(pool, tls).request({
        method: request.method,
        path: this.#root + pathOf(request),
        headers: { ...headers, ...headersOf(request), 'user-agent': userAgent },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      })
      code = answer.statusCode
      const retryAfter = answer.headers['retry-after']
      return { code, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, body: answer.body }
    } finally {
      const seconds = (clock.monotonicMs() - startedMs) / 1000
      metrics.requestEnded(pool === 'watch' ? 'WATCH' : request.method, code, seconds)
    }
  }
}

function pathOf({ path, query = {} }: WireRequest): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

function headersOf({ accept = 'application/json', body, patchType }: WireRequest): Record<string, string> {
  if (body === undefined) return { accept }
  const contentType = patchType === undefined ? 'application/json' : PATCH_TYPES[patchType]
  return { accept, 'content-type': contentType }
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
