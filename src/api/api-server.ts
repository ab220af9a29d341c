import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CONNECTIONS_DEFAULT } from '../domain/limits.ts'
import { listenPlace } from '../domain/net/listen-address.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { createBodyWatch } from './body-watch.ts'
import { createConnections, type Connections } from './connections.ts'
import { createRefuser, type Refusal } from './refuser.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** How often node:http looks for connections over these timeouts (its default is 30 s). */
const TIMEOUT_CHECK_MS = 2_000
/** Longer than the 60 s of common load balancers, which must be the ones to hang up. */
const KEEP_ALIVE_MS = 65_000
const HEADER_BYTES_MAX = 16 * 1024
/** How long a client that sent no HTTP may take to read why, and hang up. */
const LINGER_MS = 2_000
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

export interface ApiServerParts {
  readonly listener: RequestListener
  readonly clock: Clock
  readonly logger: Logger
  readonly connectionsMax?: number
}

/** A hardened node:http server around a listener. Owns its sockets. */
export function createApiServer(parts: ApiServerParts): ApiServer {
  const { listener, clock, logger, connectionsMax = CONNECTIONS_DEFAULT } = parts
  const refuser = createRefuser(createBodyWatch(clock))
  let closing: Promise<void> | null = null

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    if (closing !== null) response.setHeader('Connection', 'close')
    connections.begin(request, response)
  }
  const onRequest: RequestListener = (request, response) => {
    begin(request, response)
    const hosts = countHosts(request)
    if (hosts > 1) refuser.hangUp({ request, response }, SEVERAL_HOSTS)
    else if (hosts === 0 && request.httpVersion === '1.1') refuser.hangUp({ request, response }, NO_HOST)
    else listener(request, response)
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node's own refusal has no body, and it accepts several Host headers.
      requireHostHeader: false,
      noDelay: true,
    },
    onRequest,
  )
  // Whoever reads the body says `100 Continue`: a refused client does not send its body at all.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    begin(request, response)
    refuser.hangUp({ request, response }, UNKNOWN_EXPECTATION)
  })
  // From here on node:http knows nothing of the socket.
  server.on('connect', (_request, socket: Socket) => answerPastHttp(socket, NO_TUNNEL, clock))
  const connections = createConnections(server, { max: connectionsMax, clock, logger })
  server.on('clientError', clientErrorHandler(connections, clock))

  const ending = { server, open: connections.open, clock }
  return {
    listen: (port, host) => listen(server, port, host),
    close: (graceMs, drainMs = 0) => (closing ??= drain(ending, graceMs, drainMs)),
  }
}

/** RFC 9112 §3.2: HTTP/1.1 needs exactly one, and two are a 400. `headers` keeps the first alone. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count += 1
  }
  return count
}

interface Ending {
  readonly server: Server
  /** Answers that are owed. */
  readonly open: ReadonlySet<ServerResponse>
  readonly clock: Clock
}

async function drain(ending: Ending, graceMs: number, drainMs: number): Promise<void> {
  const { open, clock } = ending
  for (const response of open) {
    if (!response.headersSent) response.setHeader('Connection', 'close')
  }
  if (drainMs > 0) await new Promise<void>((resolve) => clock.after(drainMs, resolve))
  // A connection counts as idle while its request has arrived and was not read.
  for (let turn = 0; turn < TURNS_TO_READ; turn += 1) {
    await new Promise<void>((resolve) => clock.nextTurn(resolve))
  }
  await closeNow(ending, graceMs)
}

function closeNow({ server, open, clock }: Ending, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancelCut = clock.after(graceMs, () => server.closeAllConnections())
    server.close(() => {
      cancelCut()
      resolve()
    })
    // Their heads went out before the end was known, so their connections are kept.
    for (const response of open) response.once('close', () => server.closeIdleConnections())
  })
}

const NO_HOST: Refusal = { status: 400, error: 'The Host header is missing' }
const SEVERAL_HOSTS: Refusal = { status: 400, error: 'The Host header is given more than once' }
const UNKNOWN_EXPECTATION: Refusal = {
  status: 417,
  error: 'The Expect header must be 100-continue, or be left out',
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

/** A status line, what is wrong, and further header lines. */
type PastHttp = readonly [line: string, error: string, headers?: string]

const CLIENT_ERRORS: Readonly<Record<string, PastHttp>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long'],
}
const BAD_REQUEST: PastHttp = ['400 Bad Request', 'The request is not valid HTTP']
const NO_TUNNEL: PastHttp = [
  '405 Method Not Allowed',
  'Method not allowed',
  'Allow: GET, HEAD, POST, PATCH, DELETE\r\n',
]

/** Bytes that are no HTTP request, or came too slowly: one answer, then hang up. */
function clientErrorHandler(
  connections: Connections,
  clock: Clock,
): (fault: NodeJS.ErrnoException, socket: Socket) => void {
  return (fault, socket) => {
    const isAnswerable = fault.code !== 'ECONNRESET' && socket.writable && connections.isQuiet(socket)
    if (isAnswerable) answerPastHttp(socket, CLIENT_ERRORS[fault.code ?? ''] ?? BAD_REQUEST, clock)
    else socket.destroy()
  }
}

/** What the client still sends is read off for a moment, as it would reset the answer away. */
function answerPastHttp(socket: Socket, [line, error, headers = '']: PastHttp, clock: Clock): void {
  const body = JSON.stringify({ error })
  socket.on('error', () => undefined)
  socket.once(
    'close',
    clock.after(LINGER_MS, () => socket.destroy()),
  )
  socket.resume()
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
}
