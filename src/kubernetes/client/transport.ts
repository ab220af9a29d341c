/**
 * Requests to the Kubernetes API as plain JSON. Not the generated classes of client-node: they open a TLS connection
 * for each request, and their serializers drop the fields they do not know.
 */
import { ResourceApiError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfAnswer, errorOfSilence, type ApiAnswer } from './api-errors.ts'
import { REQUEST_TIMEOUT_MS, TRIES_MAX } from './bounds.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { pause } from '../../domain/pause.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import { createRoundTripper, type RoundTripper, type WireOptions, type WireRequest } from './round-tripper.ts'

export interface ApiRequest extends WireRequest {
  /** Gives the request up; whether a write was done is then unknown. */
  readonly signal?: AbortSignal
}

export interface Transport {
  /**
   * The answer's JSON, unknown fields included. Waits and tries again when the server asks for that, within the
   * deadline; a read whose connection breaks is sent once more, a write is not. Throws ResourceApiError.
   */
  request<T>(request: ApiRequest): Promise<T>
  /**
   * A body without an end, once its answer has begun; reading it throws when the connection breaks or the signal
   * aborts. Throws ResourceApiError, without a second try.
   */
  watch(request: Pick<WireRequest, 'path' | 'query'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Gives up all requests and watches. */
  close(): Promise<void>
}

interface Parts {
  readonly clock: Clock
  readonly config: ClusterConfig
  readonly wire: RoundTripper
  readonly bucket: RateLimiter
}

export function createTransport(options: WireOptions): Transport {
  const { clock, config } = options
  const parts: Parts = {
    clock,
    config,
    wire: createRoundTripper(options),
    bucket: createRateLimiter(clock),
  }
  const closing = new AbortController()

  return {
    request: async <T>(request: ApiRequest): Promise<T> => {
      const given = request.signal === undefined ? [] : [request.signal]
      const deadline = createDeadline(clock, REQUEST_TIMEOUT_MS, [closing.signal, ...given])
      try {
        return parsed(await answerTo(parts, request, deadline)) as T
      } catch (error) {
        throw deadline.explain(`${request.method} ${request.path}`, error)
      } finally {
        deadline.end()
      }
    },
    watch: async (request, signal) => {
      const deadline = createDeadline(clock, REQUEST_TIMEOUT_MS, [closing.signal, signal])
      try {
        return await openWatch(parts, { ...request, method: 'GET' }, deadline.signal)
      } catch (error) {
        throw deadline.explain(`WATCH ${request.path}`, error)
      } finally {
        deadline.end()
      }
    },
    close: async () => {
      closing.abort()
      await parts.wire.close()
    },
  }
}

/** Sends until there is an answer to give to the caller. */
async function answerTo(
  { clock, config, wire, bucket }: Parts,
  request: ApiRequest,
  deadline: Deadline,
): Promise<string> {
  let isRenewed = false
  let mayBreak = request.method === 'GET'
  for (let tries = 1; ; tries += 1) {
    if (request.isUrgent !== true) await bucket.take(deadline.signal)
    const answer = await exchange(wire, request, deadline.signal, mayBreak)
    if (answer === 'broken') {
      mayBreak = false
      continue
    }
    if (isSuccess(answer)) return answer.text
    const error = errorOfAnswer(answer)
    if (tries >= TRIES_MAX) throw error
    if (error.fault === 'unauthorized') {
      if (isRenewed) throw error
      isRenewed = true
      config.renew()
      continue
    }
    // Turned away before anything was done, so a write may be sent again.
    const pauseMs = answer.code === 429 || answer.code === 503 ? error.retryAfterMs : null
    if (pauseMs === null || pauseMs >= deadline.leftMs()) throw error
    await pause(clock, pauseMs, deadline.signal)
  }
}

async function exchange(
  wire: RoundTripper,
  request: ApiRequest,
  signal: AbortSignal,
  mayBreak: boolean,
): Promise<ApiAnswer | 'broken'> {
  try {
    return await wire.exchange(request, signal)
  } catch (error) {
    // An idle connection that the server closes as we write to it is the usual cause.
    if (mayBreak && !signal.aborted && !(error instanceof ResourceApiError)) return 'broken'
    throw error
  }
}

async function openWatch(
  { config, wire, bucket }: Parts,
  request: WireRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  await bucket.take(signal)
  const answer = await wire.open(request, signal)
  if (!('code' in answer)) return answer
  // The next watch, which the caller opens after a pause, shows a fresh token.
  if (answer.code === 401) config.renew()
  throw errorOfAnswer(answer)
}

function isSuccess({ code }: ApiAnswer): boolean {
  return code >= 200 && code < 300
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Node's message would quote the text, which may be a secret's.
    throw errorOfSilence('an answer that is not JSON')
  }
}
