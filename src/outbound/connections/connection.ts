import type { Socket } from 'node:net'
import { ConnectionFailedError } from '../call-failure.ts'
import { ResponseReader, type ResponseListener } from '../wire/response-reader.ts'
import type { Link } from '../../domain/linked-list.ts'

/** Who called over a connection. */
export interface ConnectionUser extends ResponseListener {
  onConnectionError(error: Error): void
}

/** The connections of one team under one policy version. */
export interface TeamPools {
  readonly team: string
  readonly version: number
  readonly origins: Map<string, OriginPool>
  retired: boolean
}

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string
  readonly pools: TeamPools
  /** Longest idle first. */
  readonly idle: Connection[]
  /** Sockets open or being opened. */
  sockets: number
}

/** An open socket to a target, with one call at a time. */
export class Connection {
  readonly pool: OriginPool
  readonly socket: Socket
  readonly openedAtMs: number
  /** By the monotonic clock, while it is idle. */
  idleUntilMs = 0
  /** Generation of the egress guard that has judged it for reuse; null = none yet. */
  judgedGeneration: number | null = null
  /** Its socket still counts. */
  holdsSocket = true
  /** Among all idle connections; null while in use. */
  idleLink: Link<Connection> | null = null
  readonly #reader = new ResponseReader()
  #user: ConnectionUser | null = null
  #ended = false

  constructor(pool: OriginPool, socket: Socket, openedAtMs: number) {
    this.pool = pool
    this.socket = socket
    this.openedAtMs = openedAtMs
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('end', () => this.#readEnd())
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(closedEarly()))
  }

  /** As far as this side knows. */
  get isOpen(): boolean {
    return !this.#ended && !this.socket.destroyed
  }

  /** Writes a request, as one piece. What becomes of it reaches the user, until it lets go. */
  send(request: string | Buffer, user: ConnectionUser): void {
    this.#user = user
    this.#reader.begin(user)
    if (typeof request === 'string') this.socket.write(request, 'latin1')
    else this.socket.write(request)
  }

  /** Of no use any more: nothing reaches its user from here on. */
  destroy(): void {
    this.#letGo()
    this.#ended = true
    this.socket.destroy()
  }

  #read(bytes: Buffer): void {
    // Nobody asked for these.
    if (!this.#reader.isBusy) return this.destroy()
    try {
      this.#reader.read(bytes)
    } catch (error) {
      this.#fail(error as Error)
    }
    if (!this.#reader.isBusy) this.#user = null
  }

  #readEnd(): void {
    this.#ended = true
    try {
      this.#reader.readEnd()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #fail(error: Error): void {
    this.#ended = true
    const user = this.#user
    this.#letGo()
    user?.onConnectionError(error)
  }

  #letGo(): void {
    this.#user = null
    this.#reader.stop()
  }
}

export function closedEarly(): ConnectionFailedError {
  return new ConnectionFailedError('The connection was closed before the response was complete.')
}
