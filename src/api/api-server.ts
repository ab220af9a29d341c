import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { listenPlace } from '../domain/listen-place.ts'
import type { Clock } from '../ports/clock.ts'
import { answerError } from './answers.ts'
import { discardBody } from './request-body.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** How often node:http looks for connections over these timeouts (its default is 30 s). */
const TIMEOUT_CHECK_MS = 2_000
/** Longer than the 60 s of common load balancers, which must be the ones to hang up. */
const KEEP_ALIVE_MS = 65_000
const HEADER_BYTES_MAX = 16 * 1024
/** One to end the present turn, one to accept a connection that waits, one to read its request. */
const TURNS_TO_READ = 3

export interface ApiServer {
  /** Resolves once connections are accepted. Port 0 = any free one, host `*` = all addresses. */
  listen(port: number, host: string): Promise<AddressInfo>
  /**
   * Says `Connection: close` on every answer from now on and goes on serving for `drainMs`, so that clients turn
   * elsewhere without losing a request. Then stops accepting and resolves when all connections have ended; those left
   * after `graceMs` more are cut. A request that was here before that is answered. Idempotent.
   */
  close(graceMs: number, drainMs?: number): Promise<void>
}

/** A hardened node:http server around a listener. Owns its sockets. */
export function createApiServer(listener: RequestListener, clock: Clock): ApiServer {
  const open = new Set<ServerResponse>()
  let closing: Promise<void> | null = null

  const onRequest: RequestListener = (request, response) => {
    if (closing !== null) response.setHeader('Connection', 'close')
    open.add(response)
    response.once('close', () => open.delete(response))
    if (lacksHost(request)) answerNoHost(request, response)
    else listener(request, response)
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node's own refusal has no body.
      requireHostHeader: false,
      noDelay: true,
    },
    onRequest,
  )
  // Whoever reads the body says `100 Continue`: a refused client does not send its body at all.
  server.on('checkContinue', onRequest)
  server.on('clientError', answerClientError)

  const closeNow = (graceMs: number): Promise<void> =>
    new Promise((resolve) => {
      const cancelCut = clock.after(graceMs, () => server.closeAllConnections())
      server.close(() => {
        cancelCut()
        resolve()
      })
      // Their heads went out before the end was known, so their connections are kept.
      for (const response of open) response.once('close', () => server.closeIdleConnections())
    })

  const drain = async (graceMs: number, drainMs: number): Promise<void> => {
    for (const response of open) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    if (drainMs > 0) await new Promise<void>((resolve) => clock.after(drainMs, resolve))
    // A connection counts as idle while its request has arrived and was not read.
    for (let turn = 0; turn < TURNS_TO_READ; turn += 1) {
      await new Promise<void>((resolve) => clock.nextTurn(resolve))
    }
    await closeNow(graceMs)
  }

  return {
    listen: (port, host) => listen(server, port, host),
    close: (graceMs, drainMs = 0) => (closing ??= drain(graceMs, drainMs)),
  }
}

/** RFC 9112 §3.2: HTTP/1.1 needs exactly one. */
function lacksHost(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersionMajor === 1 && request.httpVersionMinor > 0
}

function answerNoHost(request: IncomingMessage, response: ServerResponse): void {
  answerError(response, 400, 'The Host header is missing', ['Connection', 'close'])
  discardBody(request)
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(listenPlace(port, host), () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [line: string, error: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long'],
}
const BAD_REQUEST = ['400 Bad Request', 'The request is not valid HTTP'] as const

/** Bytes that are no HTTP request, or came too slowly: one answer, then hang up. */
function answerClientError(fault: NodeJS.ErrnoException, socket: Socket): void {
  if (fault.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [line, error] = CLIENT_ERRORS[fault.code ?? ''] ?? BAD_REQUEST
  const body = JSON.stringify({ error })
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}
