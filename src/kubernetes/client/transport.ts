/**
 * Requests to the Kubernetes API as plain JSON. A request goes through the rate limiter and the round tripper, under one
 * deadline for all its tries. The generated classes of client-node are not used: they open a TLS connection for each
 * request, and their serializers drop fields they do not know.
 */
import { ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import { errorOfAnswer, errorOfSilence, type ApiAnswer } from './api-errors.ts'
import { Deadline } from './deadline.ts'
import { RateLimiter } from './rate-limiter.ts'
import { RoundTripper, type RoundTripperOptions, type WireRequest } from './round-tripper.ts'

/** Counts from the call to the last byte of the answer, rate limit and retries included. */
export const REQUEST_TIMEOUT_MS = 30_000
/** A request is sent at most this many times when the server asks to try again later. */
export const TRIES_MAX = 5
/**
 * Guards the API server against a bug of ours. Sharing the server among its clients is its own job (API Priority and
 * Fairness), and few requests of ours are in flight at a time: a slower server gets fewer.
 */
export const RATE_LIMIT = { perSecond: 500, burst: 500, waitMsMax: REQUEST_TIMEOUT_MS }

export interface ApiRequest extends WireRequest {
  /** Cancels the request; a write may have happened all the same. */
  readonly signal?: AbortSignal
}

export interface Transport {
  /**
   * The answer's JSON, unknown fields included. Waits and retries when the server asks for that, within the deadline; a
   * read whose connection breaks is sent once more, a write never. Throws ResourceApiError.
   */
  request<T>(request: ApiRequest): Promise<T>
  /**
   * Answers an endless body as soon as its answer has begun; reading it throws when the connection breaks or the signal
   * aborts. Throws ResourceApiError, without a retry.
   */
  watch(request: Pick<WireRequest, 'path' | 'query'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Cancels all requests and watches. */
  close(): Promise<void>
}

interface Parts extends RoundTripperOptions {
  readonly roundTripper: RoundTripper
  /** Each purpose has its own, so that someone who edits much keeps nobody's token from being reviewed. */
  readonly rateLimiters: Readonly<Record<'api' | 'review' | 'doubt', RateLimiter>>
}

export function createTransport(options: RoundTripperOptions): Transport {
  const { clock } = options
  const roundTripper = new RoundTripper(options)
  const rateLimiters = {
    api: new RateLimiter(clock, RATE_LIMIT),
    review: new RateLimiter(clock, RATE_LIMIT),
    doubt: new RateLimiter(clock, RATE_LIMIT),
  }
  const parts = { ...options, roundTripper, rateLimiters }
  const closing = new AbortController()

  async function withDeadline<T>(
    { what, signal }: { readonly what: string; readonly signal: AbortSignal | undefined },
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const signals = signal === undefined ? [closing.signal] : [closing.signal, signal]
    const deadline = new Deadline(clock, { timeoutMs: REQUEST_TIMEOUT_MS, signals })
    try {
      return await send(deadline)
    } catch (error) {
      throw deadline.explain(what, error)
    } finally {
      deadline.end()
    }
  }

  return {
    request: <T>(request: ApiRequest): Promise<T> =>
      withDeadline(
        { what: `${request.method} ${request.path}`, signal: request.signal },
        async (deadline) => parsed(await sendUntilAnswered(parts, request, deadline)) as T,
      ),
    watch: (request, signal) =>
      withDeadline({ what: `WATCH ${request.path}`, signal }, (deadline) =>
        openWatch(parts, { ...request, method: 'GET' }, deadline.signal),
      ),
    close: async () => {
      closing.abort()
      await roundTripper.close()
    },
  }
}

/** @returns the text of the first successful answer */
async function sendUntilAnswered(
  { clock, config, roundTripper, rateLimiters }: Parts,
  request: ApiRequest,
  deadline: Deadline,
): Promise<string> {
  let isRenewed = false
  let mayResend = request.method === 'GET'
  const { pool = 'api' } = request
  for (let tries = 1; ; tries += 1) {
    if (pool !== 'urgent') await rateLimiters[pool].wait(deadline.signal)
    const answer = await roundTripper.roundTrip(request, deadline.signal).catch((error: unknown) => {
      // Most often the server has closed an idle connection just as we wrote to it.
      if (mayResend && !deadline.signal.aborted && !(error instanceof ResourceApiError))
        return 'broken' as const
      throw error
    })
    if (answer === 'broken') {
      mayResend = false
      continue
    }
    if (answer.code >= 200 && answer.code < 300) return answer.text
    const error = errorOfAnswer(answer)
    if (tries >= TRIES_MAX) throw error
    if (error.fault === 'unauthorized' && !isRenewed) {
      isRenewed = true
      config.renew()
      continue
    }
    const pauseMs = retryPauseMs(answer, error)
    if (pauseMs === null || pauseMs >= deadline.leftMs()) throw error
    await pause(clock, pauseMs, deadline.signal)
  }
}

/**
 * Answers how long to wait after an answer that turned the request away before anything was done, so that even a write
 * may be sent again. null = it must not be sent again.
 */
function retryPauseMs({ code }: ApiAnswer, { retryAfterMs }: ResourceApiError): number | null {
  return code === 429 || code === 503 ? retryAfterMs : null
}

async function openWatch(
  { config, roundTripper, rateLimiters }: Parts,
  request: WireRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  await rateLimiters.api.wait(signal)
  const answer = await roundTripper.watch(request, signal)
  if (!('code' in answer)) return answer
  // The caller's next watch sends a fresh token.
  if (answer.code === 401) config.renew()
  throw errorOfAnswer(answer)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Node's message would quote the text, which may be that of a Secret.
    throw errorOfSilence('the answer is not JSON')
  }
}
