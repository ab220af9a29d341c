import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerError, beginError, type FlatHeaders } from './answers.ts'
import type { BodyWatch } from './body-watch.ts'

/** A refused body is read off up to this size, so that the client gets to see the answer; then we hang up. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024
export const HANG_UP: FlatHeaders = ['Connection', 'close']

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export interface Refusal {
  readonly status: number
  readonly error: string
  readonly headers?: FlatHeaders
}

/** Answers requests whose body is not wanted. None of it is kept, and none that stalls is waited for. */
export interface Refuser {
  /** The connection can be used again once the body has been read off. */
  refuse(exchange: Exchange, refusal: Refusal): void
  /** The connection ends. */
  hangUp(exchange: Exchange, refusal: Refusal): void
}

export function createRefuser(watch: BodyWatch): Refuser {
  const refuse = ({ request, response }: Exchange, { status, error, headers = [] }: Refusal): void => {
    answerError(response, status, error, headers)
    if (hasBody(request)) discardBody(request, watch)
  }
  const hangUp = ({ request, response }: Exchange, { status, error, headers = [] }: Refusal): void => {
    const closing = [...headers, ...HANG_UP]
    if (!hasBody(request) || awaitsContinue(request)) {
      answerError(response, status, error, closing)
      return
    }
    // To hang up while bytes arrive would reset the answer away: it ends when they have.
    beginError(response, status, error, closing)
    request.once('end', () => response.end())
    discardBody(request, watch)
  }
  return {
    // A client that waits for `100 Continue` may never send its body: the connection cannot be used again.
    refuse: (exchange, refusal) =>
      awaitsContinue(exchange.request) ? hangUp(exchange, refusal) : refuse(exchange, refusal),
    hangUp,
  }
}

/** Whether the client sends its body only when it is told to. HTTP/1.0 knows nothing of it. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && request.httpVersion !== '1.0'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function discardBody(request: IncomingMessage, watch: BodyWatch): void {
  const body = { receivedBytes: 0, onStalled: () => request.destroy() }
  watch.add(body)
  request.once('close', () => watch.remove(body))
  request.on('data', (chunk: Buffer) => {
    body.receivedBytes += chunk.length
    if (body.receivedBytes > DISCARDED_BYTES_MAX) request.destroy()
  })
}
