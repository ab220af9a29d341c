import { UnreachableError } from './errors.ts'

/** A longest page of jobs has some 4 MB. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly fetch: typeof fetch
}

/** One request and its whole answer. @throws UnreachableError, or the reason of `signal` */
export async function exchange({ url, timeoutMs, signal, fetch: send, ...init }: Sent): Promise<Answered> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await send(url, {
      method: init.method,
      headers: init.headers,
      ...(init.body !== undefined && { body: init.body }),
      // A redirect must not carry the token to another host.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    return { status: response.status, headers: response.headers, text: await readText(response) }
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason
    const isTimeout = timeout.aborted
    const reason = isTimeout ? `no answer within ${timeoutMs / 1000} seconds` : reasonOf(cause)
    throw new UnreachableError(reason, { isTimeout, cause })
  }
}

async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel()
      throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** fetch says "fetch failed" and has the reason in `cause`. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault)
  const { cause } = fault
  if (!(cause instanceof Error)) return fault.message
  if (cause.message === 'bad port') return 'fetch refuses this port (bad port)'
  return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'connection refused' : cause.message
}
