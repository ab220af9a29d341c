import type { Socket } from 'node:net'
import { closedEarly } from '../call-failure.ts'
import { ResponseReader, type ResponseListener } from '../wire/response-reader.ts'
import type { Link } from '../../domain/linked-list.ts'

/** The caller over a connection. */
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
  /** Monotonic time until which it may be reused, while it is idle. */
  idleUntilMs = 0
  /** Generation of the egress guard that has judged it for reuse; null = none yet. */
  judgedGeneration: number | null = null
  /** true while its socket counts against the bounds. */
  holdsSocket = true
  /** Link among all idle connections; null while in use. */
  idleLink: Link<Connection> | null = null
  readonly #reader = new ResponseReader()
  #user: ConnectionUser | null = null
  #ended = false

  constructor(pool: OriginPool, socket: Socket, openedAtMs: number) {
    this.pool = pool
    this.socket = socket
    this.openedAtMs = openedAtMs
    readBeforeWriteErrors(socket)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('end', () => this.#readEnd())
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(closedEarly()))
  }

  /** true as far as this side knows. */
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

  /** Closes the connection; nothing reaches its user from here on. */
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
    this.#user = null
    // A response whose head is read has its status, whatever becomes of the connection.
    if (this.#reader.isWithinBody) this.#reader.cut('The connection broke off before the end of the body.')
    else {
      this.#reader.stop()
      user?.onConnectionError(error)
    }
  }

  #letGo(): void {
    this.#user = null
    this.#reader.stop()
  }
}

/**
 * Tells a socket of an error of a write only once what has arrived is read. A target may answer from the head of a request
 * and reset the connection while the body is still on its way: the kernel keeps the answer, but a socket that hears of the
 * error at once is destroyed with the answer unread.
 */
function readBeforeWriteErrors(socket: Socket): void {
  // Streams name what is theirs to implement so.
  // oxlint-disable no-underscore-dangle
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => {
    write(chunk, encoding, (error) => {
      if (error === undefined || error === null) return done()
      // The event loop may be past its poll of this turn, so the one of the next turn is waited for.
      setImmediate(() => setImmediate(done, error))
    })
  }
  // oxlint-enable no-underscore-dangle
}
