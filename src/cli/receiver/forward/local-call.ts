import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { CallCopy } from './call-copy.ts'

/** For the whole answer. */
const LOCAL_TIMEOUT_MS = 30_000

/** `failed`: there was no answer, or none that came to its end. */
export type LocalEnd =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly message: string; readonly durationMs: number }

/**
 * Where a copy goes: a path in the address takes the place of the target's, whose query stays; without one, the path
 * stays too.
 */
export function localUrlOf(forward: URL, target: string): URL {
  const { pathname, search } = new URL(target)
  const url = new URL(forward)
  url.pathname = forward.pathname === '/' ? pathname : forward.pathname
  url.search = search
  return url
}

/** Makes the call once, headers in their order and spelling. Never throws. */
export function callLocally(url: URL, copy: CallCopy, signal: AbortSignal): Promise<LocalEnd> {
  const startedAtMs = performance.now()
  const durationMs = (): number => Math.round(performance.now() - startedAtMs)
  const timeout = AbortSignal.timeout(LOCAL_TIMEOUT_MS)
  return new Promise((resolve) => {
    const fail = (fault: Error): void => {
      const message = timeout.aborted ? `no answer within ${LOCAL_TIMEOUT_MS / 1000} s` : reasonOf(fault)
      resolve({ kind: 'failed', message, durationMs: durationMs() })
    }
    const onAnswer = (answer: IncomingMessage): void => {
      answer.on('error', fail)
      answer.on('end', () => {
        resolve({ kind: 'answered', status: answer.statusCode ?? 0, durationMs: durationMs() })
      })
      answer.resume()
    }
    try {
      const sent = open(url, copy, AbortSignal.any([signal, timeout]))
      sent.on('error', fail)
      sent.on('response', onAnswer)
      sent.end(copy.body)
    } catch (fault) {
      fail(fault instanceof Error ? fault : new Error(String(fault)))
    }
  })
}

function open(url: URL, { method, headers, body }: CallCopy, signal: AbortSignal): ClientRequest {
  const lines = ['host', url.host, ...headers.flatMap(({ name, value }) => [name, value])]
  if (body.length > 0 || method !== 'GET') lines.push('content-length', String(body.length))
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  // An agent would keep a connection that the server closes just when the next copy comes.
  return request(url, { method, headers: [...lines, 'connection', 'close'], agent: false, signal })
}

/** Of a name with several addresses, Node says the reason in the faults within. */
function reasonOf(fault: Error): string {
  const [first] = fault instanceof AggregateError ? (fault.errors as Error[]) : []
  const { code } = fault as NodeJS.ErrnoException
  return code === 'ECONNREFUSED' ? 'connection refused' : (first?.message ?? fault.message)
}
