import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerError, type FlatHeaders, startError } from './answers.ts'
import type { StallDetector } from './stall-detector.ts'

/** How much of a rejected body is read, so that the client can finish sending and read the answer. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024
export const CLOSE_CONNECTION: FlatHeaders = ['Connection', 'close']

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export interface Rejection {
  readonly status: number
  readonly error: string
  readonly headers?: FlatHeaders
}

/** Answers requests whose body is not read. The body is discarded as it arrives; one that stalls is cut off. */
export class RequestRejector {
  readonly #stalls: StallDetector

  constructor(stalls: StallDetector) {
    this.#stalls = stalls
  }

  /** Answers and keeps the connection: it is usable again once the body has been discarded. */
  reject(exchange: Exchange, rejection: Rejection): void {
    const { request, response } = exchange
    // A client that waits for `100 Continue` may never send its body, so its connection cannot be reused.
    if (awaitsContinue(request)) return this.rejectAndClose(exchange, rejection)
    answerError(response, rejection.status, rejection.error, rejection.headers)
    if (hasBody(request)) this.#discardBody(request)
  }

  /** Answers and closes the connection. */
  rejectAndClose({ request, response }: Exchange, { status, error, headers = [] }: Rejection): void {
    const closing = [...headers, ...CLOSE_CONNECTION]
    if (!hasBody(request) || awaitsContinue(request)) return answerError(response, status, error, closing)
    // Closing while bytes still arrive resets the connection, and the client may lose the answer.
    startError(response, status, error, closing)
    request.once('end', () => response.end())
    this.#discardBody(request)
  }

  #discardBody(request: IncomingMessage): void {
    const body = { receivedBytes: 0, onStalled: () => request.destroy() }
    const watched = this.#stalls.add(body)
    request.once('close', () => this.#stalls.remove(watched))
    request.on('data', (chunk: Buffer) => {
      body.receivedBytes += chunk.length
      if (body.receivedBytes > DISCARDED_BYTES_MAX) request.destroy()
    })
  }
}

/** Whether the client sends its body only after `100 Continue`. HTTP/1.0 does not know it. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && request.httpVersion !== '1.0'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
