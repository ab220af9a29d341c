import {
  createServer,
  type IncomingMessage,
  type Server,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { CONNECTIONS_DEFAULT } from '../domain/limits.ts'
import { listenOptions } from '../domain/net/listen-address.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { Certificate } from './certificate-files.ts'
import { clientErrorHandler, rejectConnect } from './connections/client-errors.ts'
import { ConnectionLimiter } from './connections/connection-limiter.ts'
import { TURNS_TO_READ } from './connections/late-requests.ts'
import { type Rejection, RequestRejector } from './request-rejector.ts'
import { isLoopback } from './sessions/session-cookie.ts'
import { StallDetector } from './stall-detector.ts'

const KEEP_ALIVE_TOLD_MS = 4_000
const KEEP_ALIVE_MS = 65_000
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often node:http checks these timeouts; its default is 30 s. */
  connectionsCheckingInterval: 2_000,
  /**
   * Told to clients by `Keep-Alive` in place of how long we wait. It is shorter than the chart's shutdown delay, so
   * that nobody who heeds it sends a request on an idle connection at the moment we close it.
   */
  keepAliveTimeout: KEEP_ALIVE_TOLD_MS,
  /** Load balancers do not read it and often keep a connection for 60 s: they should be the ones to close. */
  keepAliveTimeoutBuffer: KEEP_ALIVE_MS - KEEP_ALIVE_TOLD_MS,
  maxHeaderSize: 16 * 1024,
  /** Checked here: Node's own 400 has no body, and it accepts several Host headers. */
  requireHostHeader: false,
  noDelay: true,
}
/**
 * Connections that the kernel has opened and we have not yet taken: beyond, clients are reset or try again after a second.
 * Node asks for 511, which a busy turn of the event loop fills. The kernel cuts it to `net.core.somaxconn`.
 */
const BACKLOG = 4_096
/** A connection that does not come to a handshake holds one of those that are allowed. */
const HANDSHAKE_TIMEOUT_MS = 10_000
/** A year, in which a browser that has been here comes by HTTPS alone. Other names of the domain are not ours to bind. */
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'] as const

export interface ApiServerParts {
  readonly listener: RequestListener
  readonly clock: Clock
  readonly logger: Logger
  readonly connectionsMax?: number
  /** With it the server speaks only HTTPS; absent = HTTP. */
  readonly certificate?: Certificate | null
}

/**
 * A hardened node:http server around a listener. Owns its sockets.
 *
 *     listening → shutdown delay (still accepts, every answer closes its connection) → closing → closed
 */
export class ApiServer {
  readonly #clock: Clock
  readonly #listener: RequestListener
  readonly #server: Server | TlsServer
  readonly #isTls: boolean
  readonly #connections: ConnectionLimiter
  readonly #rejector: RequestRejector
  #closing: Promise<void> | null = null

  constructor({
    listener,
    clock,
    logger,
    connectionsMax = CONNECTIONS_DEFAULT,
    certificate,
  }: ApiServerParts) {
    const server = createServerWith(certificate ?? null)
    this.#server = server
    this.#isTls = 'setSecureContext' in server
    this.#clock = clock
    this.#listener = listener
    this.#connections = new ConnectionLimiter(server, { max: connectionsMax, clock, logger })
    this.#rejector = new RequestRejector(new StallDetector(clock))
    const onRequest: RequestListener = (request, response) => this.#onRequest(request, response)
    server.on('request', onRequest)
    // Whoever reads the body sends `100 Continue`, so a rejected client does not send its body at all.
    server.on('checkContinue', onRequest)
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      this.#add(request, response)
      this.#rejector.rejectAndClose({ request, response }, UNKNOWN_EXPECTATION)
    })
    server.on('connect', (_request, socket: Socket) => rejectConnect(socket, clock))
    server.on('clientError', clientErrorHandler(this.#connections, clock))
  }

  /** Resolves once connections are accepted. Port 0 takes any free one, host `*` all addresses. */
  listen(port: number, host: string): Promise<AddressInfo> {
    const server = this.#server
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...listenOptions(port, host), backlog: BACKLOG }, () => {
        server.off('error', reject)
        resolve(server.address() as AddressInfo)
      })
    })
  }

  /** New connections get it; those that are there keep the one of before. Only where there was one at the start. */
  useCertificate(certificate: Certificate): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(certificate)
  }

  /**
   * Serves on for `shutdownDelayMs` with `Connection: close` on every answer, so that clients go elsewhere without losing a
   * request. Then stops accepting and resolves when all connections have ended; those left after another `graceMs` are
   * destroyed. A request that has arrived by then is answered. Idempotent.
   */
  close(graceMs: number, shutdownDelayMs = 0): Promise<void> {
    return (this.#closing ??= this.#delayAndClose(graceMs, shutdownDelayMs))
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#add(request, response)
    const rejection = headerProblem(request)
    if (rejection === null) this.#listener(request, response)
    else this.#rejector.rejectAndClose({ request, response }, rejection)
  }

  #add(request: IncomingMessage, response: ServerResponse): void {
    if (this.#closing !== null) response.setHeader('Connection', 'close')
    // A browser takes it for all ports of a name, and at its own machine others speak plain HTTP at theirs.
    if (this.#isTls && !isLoopback(request)) response.setHeader(...STRICT_TRANSPORT)
    this.#connections.add(request, response)
  }

  async #delayAndClose(graceMs: number, shutdownDelayMs: number): Promise<void> {
    for (const response of this.#connections.unanswered) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    if (shutdownDelayMs > 0) await new Promise<void>((resolve) => this.#clock.after(shutdownDelayMs, resolve))
    // node:http takes a connection for idle as long as its request has arrived and was not read.
    for (let turn = 0; turn < TURNS_TO_READ; turn += 1) {
      await new Promise<void>((resolve) => this.#clock.nextTurn(resolve))
    }
    await this.#closeNow(graceMs)
  }

  #closeNow(graceMs: number): Promise<void> {
    const server = this.#server
    return new Promise((resolve) => {
      const cancel = this.#clock.after(graceMs, () => this.#connections.closeAll())
      server.close(() => {
        cancel()
        resolve()
      })
      // Answers that started before the end was known keep their connections open.
      for (const response of this.#connections.unanswered) {
        response.once('close', () => server.closeIdleConnections())
      }
    })
  }
}

function createServerWith(certificate: Certificate | null): Server | TlsServer {
  if (certificate === null) return createServer(SERVER_OPTIONS)
  return createTlsServer({ ...SERVER_OPTIONS, ...certificate, handshakeTimeout: HANDSHAKE_TIMEOUT_MS })
}

const NO_HOST: Rejection = { status: 400, error: 'The Host header is missing' }
const SEVERAL_HOSTS: Rejection = { status: 400, error: 'The Host header is given more than once' }
const SEVERAL_AUTHORIZATIONS: Rejection = {
  status: 400,
  error: 'The Authorization header is given more than once',
}
const UNKNOWN_EXPECTATION: Rejection = { status: 417, error: 'The Expect header must be 100-continue' }

/**
 * RFC 9112 §3.2: HTTP/1.1 needs exactly one Host, and two are a 400. Of two Authorization lines a proxy may have judged the
 * one and we would take the other. `headers` shows the first of each alone.
 */
function headerProblem({ rawHeaders, httpVersion }: IncomingMessage): Rejection | null {
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) hosts += 1
    else if (name?.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1
  }
  if (hosts > 1) return SEVERAL_HOSTS
  if (hosts === 0 && httpVersion === '1.1') return NO_HOST
  return authorizations > 1 ? SEVERAL_AUTHORIZATIONS : null
}
