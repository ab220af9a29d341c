import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createCountedLog } from '../domain/counted-log.ts'
import { LinkedList } from '../domain/linked-list.ts'
import type { Clock, Logger } from '../ports/runtime.ts'

/** Above this share of the maximum, idle connections are closed to make room. */
const CROWDED_SHARE = 0.8
const CHECK_MS = 1_000
/** Checks without a request before a connection is closed, while the server is crowded. */
const IDLE_CHECKS_MAX = 5

interface Connection {
  unanswered: number
  idleChecks: number
  lastRequest: IncomingMessage | null
  lastResponse: ServerResponse | null
}

export interface ConnectionLimits {
  readonly max: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Bounds the connections of a server, so that one client that holds many does not keep the others out. Owns what is known
 * of each connection, from before its TLS handshake, and one timer while the server is crowded. Then every answer closes
 * its connection and idle ones are closed; above the maximum a new one is refused.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  /** By the socket that requests come by: with TLS, the encrypted one until the handshake is done. */
  readonly #connections = new Map<Socket, Connection>()
  /** Those before their TLS handshake, by their addresses: Node does not say which socket a decrypting one stands on. */
  readonly #encrypted = new Map<string, Socket>()
  readonly #unanswered = new LinkedList<ServerResponse>()
  #isChecking = false

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits
    server.maxConnections = limits.max
    const isTls = 'setSecureContext' in server
    server.on('connection', (socket: Socket) => {
      this.#onConnection(socket)
      if (isTls) this.#awaitHandshake(socket)
    })
    server.on('secureConnection', (socket: Socket) => this.#onHandshake(socket))
    server.on('drop', refusalLogger(limits))
  }

  get unanswered(): Iterable<ServerResponse> {
    return this.#unanswered
  }

  /** Registers a request before it is answered. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const link = this.#unanswered.append(response)
    const connection = this.#connections.get(request.socket)
    if (connection !== undefined) {
      connection.unanswered += 1
      connection.lastRequest = request
      connection.lastResponse = response
    }
    response.once('close', () => {
      this.#unanswered.remove(link)
      if (connection !== undefined) connection.unanswered -= 1
    })
    if (this.#isCrowded()) response.setHeader('Connection', 'close')
  }

  /** Closes all connections, those before their TLS handshake as well, which the server itself does not know. */
  closeAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy()
  }

  /**
   * Whether raw bytes may be written to the socket: no answer has started, or it went out whole. Not if its handshake
   * failed: nobody could read them.
   */
  isBetweenAnswers(socket: Socket): boolean {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return false
    const { lastRequest, lastResponse } = connection
    if (lastRequest === null || lastResponse === null || !lastResponse.headersSent) return true
    return lastResponse.writableFinished && lastRequest.complete
  }

  #isCrowded(): boolean {
    return this.#connections.size > this.#limits.max * CROWDED_SHARE
  }

  #add(socket: Socket): void {
    this.#connections.set(socket, { unanswered: 0, idleChecks: 0, lastRequest: null, lastResponse: null })
    socket.once('close', () => this.#connections.delete(socket))
  }

  #awaitHandshake(socket: Socket): void {
    const addresses = addressesOf(socket)
    this.#encrypted.set(addresses, socket)
    socket.once('close', () => {
      if (this.#encrypted.get(addresses) === socket) this.#encrypted.delete(addresses)
    })
  }

  #onHandshake(socket: Socket): void {
    const addresses = addressesOf(socket)
    const encrypted = this.#encrypted.get(addresses)
    this.#encrypted.delete(addresses)
    if (encrypted !== undefined) this.#connections.delete(encrypted)
    this.#add(socket)
  }

  #onConnection(socket: Socket): void {
    this.#add(socket)
    if (this.#isChecking || !this.#isCrowded()) return
    for (const connection of this.#connections.values()) connection.idleChecks = 0
    this.#scheduleCheck()
  }

  #scheduleCheck(): void {
    this.#isChecking = true
    this.#limits.clock.after(CHECK_MS, () => this.#closeIdle())
  }

  #closeIdle(): void {
    for (const [socket, connection] of this.#connections) {
      connection.idleChecks = connection.unanswered === 0 ? connection.idleChecks + 1 : 0
      if (connection.idleChecks > IDLE_CHECKS_MAX) socket.destroy()
    }
    this.#isChecking = false
    if (this.#isCrowded()) this.#scheduleCheck()
  }
}

/** Unique among open connections. */
function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}

function refusalLogger({ max, clock, logger }: ConnectionLimits): () => void {
  return createCountedLog(
    () => clock.monotonicMs(),
    (refused) => logger.warn('Connections are refused: the connection limit is reached', { refused, max }),
  )
}
