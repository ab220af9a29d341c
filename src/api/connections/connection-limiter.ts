import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createCountedLog } from '../../domain/counted-log.ts'
import { LinkedList } from '../../domain/linked-list.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { type OpenConnection, OpenConnections } from './open-connections.ts'

/** Above this share of the maximum, idle connections are closed to make room. */
const CROWDED_SHARE = 0.8
const CHECK_MS = 1_000
/** Checks without a request before a connection is closed, while the server is crowded. */
const IDLE_CHECKS_MAX = 5

export interface ConnectionLimits {
  readonly max: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Bounds the connections of a server, so that whoever holds many does not keep the others out. Owns what is known of each
 * connection, from before its TLS handshake, and one timer while the server is crowded. Then every answer closes its
 * connection, idle ones are closed after some seconds, and each new one closes the idlest of the address that has most of
 * these. At the maximum it closes any other of the address that holds most; only one of that very address may find none,
 * and is refused. Addresses are those of sockets: headers come too late.
 */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #open = new OpenConnections()
  /** Sockets before their handshake, by address: Node does not link a TLS socket to its raw one. */
  readonly #encrypted = new Map<string, Socket>()
  readonly #unanswered = new LinkedList<ServerResponse>()
  readonly #sayClosed: (connection: OpenConnection) => void
  readonly #sayRefused: () => void
  #isChecking = false

  constructor(server: Server, limits: ConnectionLimits) {
    const { max, clock, logger } = limits
    this.#limits = limits
    const nowMs = (): number => clock.monotonicMs()
    this.#sayClosed = createCountedLog(nowMs, (closed, { holder: { block: address } }) =>
      logger.warn('Connections are closed to make room', { closed, max, address }),
    )
    this.#sayRefused = createCountedLog(nowMs, (refused) =>
      logger.warn('Connections are refused: the connection limit is reached', { refused, max }),
    )
    const isTls = 'setSecureContext' in server
    server.on('connection', (socket: Socket) => {
      this.#onConnection(socket)
      if (isTls) this.#awaitHandshake(socket)
    })
    server.on('secureConnection', (socket: Socket) => this.#onHandshake(socket))
  }

  get unanswered(): Iterable<ServerResponse> {
    return this.#unanswered
  }

  /** Registers a request before it is answered. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const link = this.#unanswered.append(response)
    const connection = this.#open.of(request.socket)
    if (connection !== undefined) this.#open.begin(connection, request, response)
    response.once('close', () => {
      this.#unanswered.remove(link)
      if (connection !== undefined) this.#open.end(connection)
    })
    if (this.#isCrowded()) response.setHeader('Connection', 'close')
  }

  /** Closes all connections, those before their TLS handshake as well, which the server itself does not know. */
  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy()
  }

  /**
   * Whether raw bytes may be written to the socket: no answer has started, or it went out whole. Not if its handshake
   * failed: nobody could read them.
   */
  isBetweenAnswers(socket: Socket): boolean {
    const connection = this.#open.of(socket)
    if (connection === undefined) return false
    const { lastRequest, lastResponse } = connection
    if (lastRequest === null || lastResponse === null || !lastResponse.headersSent) return true
    return lastResponse.writableFinished && lastRequest.complete
  }

  /** Answers a question: whether the request that is on its way now, or will be the next, has come whole since. */
  comingBy(socket: Socket): () => boolean {
    const request = this.#open.of(socket)?.lastRequest ?? null
    const isBodyDue = request?.complete === false
    return () => {
      const last = this.#open.of(socket)?.lastRequest ?? null
      return last !== request || (isBodyDue && request.complete)
    }
  }

  #isCrowded(): boolean {
    return this.#open.size > this.#limits.max * CROWDED_SHARE
  }

  #add(socket: Socket): OpenConnection {
    socket.once('close', () => this.#open.remove(socket))
    return this.#open.add(socket)
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
    if (encrypted !== undefined) this.#open.remove(encrypted)
    this.#add(socket)
  }

  #onConnection(socket: Socket): void {
    const wasCrowded = this.#isCrowded()
    const newcomer = this.#add(socket)
    if (wasCrowded) this.#makeRoomFor(newcomer)
    if (this.#isChecking || !this.#isCrowded()) return
    for (const connection of this.#open) connection.checks = 0
    this.#scheduleCheck()
  }

  #makeRoomFor(newcomer: OpenConnection): void {
    const isFull = this.#open.size > this.#limits.max
    const idle = this.#open.idleToClose(newcomer, { mayBeFresh: isFull })
    const closed = idle ?? (isFull ? (this.#open.busyToClose(newcomer) ?? newcomer) : null)
    if (closed === null) return
    if (closed === newcomer) this.#sayRefused()
    else this.#sayClosed(closed)
    // It counts no more from here on, however late its `close` comes.
    this.#open.remove(closed.socket)
    closed.socket.destroy()
  }

  #scheduleCheck(): void {
    this.#isChecking = true
    this.#limits.clock.after(CHECK_MS, () => this.#closeIdle())
  }

  #closeIdle(): void {
    for (const connection of this.#open) {
      connection.checks += 1
      if (connection.unanswered === 0 && connection.checks > IDLE_CHECKS_MAX) connection.socket.destroy()
    }
    this.#isChecking = false
    if (this.#isCrowded()) this.#scheduleCheck()
  }
}

/** Unique among open connections. */
function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
