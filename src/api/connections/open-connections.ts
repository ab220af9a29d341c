import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Link, LinkedList } from '../../domain/linked-list.ts'
import { addressBlock } from '../../domain/net/client-address.ts'

/** Checks, one a second, in which a request has to come by a new connection before that may have to make room. */
const FRESH_CHECKS = 1
/** Checks after which a request that is being answered may have to make room for one of its own address. */
const LONG_CHECKS = 10

/** An address, or the /64 of an IPv6 address, and its connections. */
interface Holder {
  readonly block: string
  total: number
  /** Connections on which no request is being answered, but nothing or half a request has come; longest idle first. */
  readonly idle: LinkedList<OpenConnection>
}

export interface OpenConnection {
  readonly socket: Socket
  readonly holder: Holder
  /** Link among its holder's idle connections; null = not idle. */
  idleLink: Link<OpenConnection> | null
  isOpen: boolean
  unanswered: number
  /** Checks made while the server was crowded, since a request last came or was answered. */
  checks: number
  lastRequest: IncomingMessage | null
  lastResponse: ServerResponse | null
}

/** Knows all connections and who holds them, and which one has to go so that another finds room. */
export class OpenConnections {
  /** Oldest first, by the socket that requests come by. */
  readonly #connections = new Map<Socket, OpenConnection>()
  readonly #holders = new Map<string, Holder>()

  get size(): number {
    return this.#connections.size
  }

  /** Iterates from the oldest; the one at hand may be removed. */
  [Symbol.iterator](): Iterator<OpenConnection> {
    return this.#connections.values()
  }

  of(socket: Socket): OpenConnection | undefined {
    return this.#connections.get(socket)
  }

  add(socket: Socket): OpenConnection {
    const holder = this.#holderOf(addressBlock(socket.remoteAddress ?? null))
    const connection: OpenConnection = {
      socket,
      holder,
      idleLink: null,
      isOpen: true,
      unanswered: 0,
      checks: 0,
      lastRequest: null,
      lastResponse: null,
    }
    holder.total += 1
    connection.idleLink = holder.idle.append(connection)
    this.#connections.set(socket, connection)
    return connection
  }

  /** Idempotent. */
  remove(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    const { holder, idleLink } = connection
    this.#connections.delete(socket)
    connection.isOpen = false
    if (idleLink !== null) holder.idle.remove(idleLink)
    holder.total -= 1
    if (holder.total === 0) this.#holders.delete(holder.block)
  }

  /** A request came by it. */
  begin(connection: OpenConnection, request: IncomingMessage, response: ServerResponse): void {
    const { holder, idleLink } = connection
    if (idleLink !== null) holder.idle.remove(idleLink)
    connection.unanswered += 1
    connection.checks = 0
    connection.lastRequest = request
    connection.lastResponse = response
  }

  /** The answer has gone out, or will not. */
  end(connection: OpenConnection): void {
    const { holder, idleLink, isOpen } = connection
    connection.unanswered -= 1
    connection.checks = 0
    if (isOpen && connection.unanswered === 0 && idleLink !== null) holder.idle.putBack(idleLink)
  }

  /**
   * The one that was idle for longest, of the address with the most idle ones; null = there is none, or only fresh
   * ones. Idle ones are compared alone: who holds many with requests, as a proxy does, would lose each new one at once.
   * @param newcomer never that, though it is idle, too
   * @param mayBeFresh whether also one by which a request may still be on its way
   */
  idleToClose(
    newcomer: OpenConnection,
    { mayBeFresh }: { readonly mayBeFresh: boolean },
  ): OpenConnection | null {
    let most = 0
    let found: OpenConnection | null = null
    for (const { idle } of this.#holders.values()) {
      const { first } = idle
      if (first === undefined || first === newcomer) continue
      if (idle.length <= most || !(mayBeFresh || first.checks > FRESH_CHECKS)) continue
      most = idle.length
      found = first
    }
    return found
  }

  /**
   * Chooses a connection to close when none is idle: one of the address with the most, preferably one whose request is
   * still arriving, or else the oldest. For a newcomer of that very address only a slow one has to go: otherwise a
   * burst would end requests that are being answered to begin others. null = the newcomer itself.
   */
  busyToClose(newcomer: OpenConnection): OpenConnection | null {
    const greediest = this.#greediest(newcomer.holder)
    let oldest: OpenConnection | null = null
    let longest: OpenConnection | null = null
    for (const connection of this.#connections.values()) {
      if (connection.holder !== greediest || connection === newcomer) continue
      if (connection.lastRequest?.complete === false) return connection
      oldest ??= connection
      if (connection.checks > LONG_CHECKS) longest ??= connection
    }
    return greediest === newcomer.holder ? longest : oldest
  }

  /** Another than `own`, unless that holds more. */
  #greediest(own: Holder): Holder {
    let found: Holder | null = null
    for (const holder of this.#holders.values()) {
      if (holder !== own && holder.total > (found?.total ?? 0)) found = holder
    }
    return found === null || own.total > found.total ? own : found
  }

  #holderOf(block: string): Holder {
    const known = this.#holders.get(block)
    if (known !== undefined) return known
    const holder = { block, total: 0, idle: new LinkedList<OpenConnection>() }
    this.#holders.set(block, holder)
    return holder
  }
}
