import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Link, LinkedList } from '../../domain/linked-list.ts'
import { addressBlock } from '../../domain/net/client-address.ts'

/** Checks, one a second, in which a request has to come by a new connection before that may have to make room. */
const FRESH_CHECKS = 1
/** Checks after which a request that is being answered may have to make room for one of its own address. */
const LONG_CHECKS = 10

/** Those of one address, or of the /64 of an IPv6 address. */
interface Holder {
  readonly block: string
  total: number
  /** On which no request is being answered: nothing, or half a request. From the one that is so for longest. */
  readonly idle: LinkedList<HeldConnection>
}

export interface HeldConnection {
  readonly socket: Socket
  readonly holder: Holder
  /** Its place among the idle ones of its holder. */
  idleLink: Link<HeldConnection> | null
  isHeld: boolean
  unanswered: number
  /** While the server is crowded, since a request came last or was answered. */
  checks: number
  lastRequest: IncomingMessage | null
  lastResponse: ServerResponse | null
}

/** Which connections there are, and who holds them. It knows which one has to go so that another finds room. */
export class HeldConnections {
  /** By the socket that requests come by, from the oldest. */
  readonly #connections = new Map<Socket, HeldConnection>()
  readonly #holders = new Map<string, Holder>()

  get size(): number {
    return this.#connections.size
  }

  /** From the oldest; the one at hand may be removed. */
  [Symbol.iterator](): Iterator<HeldConnection> {
    return this.#connections.values()
  }

  of(socket: Socket): HeldConnection | undefined {
    return this.#connections.get(socket)
  }

  add(socket: Socket): HeldConnection {
    const holder = this.#holderOf(addressBlock(socket.remoteAddress ?? null))
    const connection: HeldConnection = {
      socket,
      holder,
      idleLink: null,
      isHeld: true,
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

  /** May be called again. */
  remove(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    const { holder, idleLink } = connection
    this.#connections.delete(socket)
    connection.isHeld = false
    if (idleLink !== null) holder.idle.remove(idleLink)
    holder.total -= 1
    if (holder.total === 0) this.#holders.delete(holder.block)
  }

  /** A request came by it. */
  begin(connection: HeldConnection, request: IncomingMessage, response: ServerResponse): void {
    const { holder, idleLink } = connection
    if (idleLink !== null) holder.idle.remove(idleLink)
    connection.unanswered += 1
    connection.checks = 0
    connection.lastRequest = request
    connection.lastResponse = response
  }

  /** The answer has gone out, or will not. */
  end(connection: HeldConnection): void {
    const { holder, idleLink, isHeld } = connection
    connection.unanswered -= 1
    connection.checks = 0
    if (isHeld && connection.unanswered === 0 && idleLink !== null) holder.idle.putBack(idleLink)
  }

  /**
   * The one that was idle for longest, of the address with the most idle ones; null = there is none, or only fresh ones.
   * Idle ones are compared alone: who holds many with requests, as a proxy does, would lose each new one at once.
   * @param newcomer never that, though it is idle, too
   * @param mayBeFresh whether also one by which a request may still be on its way
   */
  idleToClose(
    newcomer: HeldConnection,
    { mayBeFresh }: { readonly mayBeFresh: boolean },
  ): HeldConnection | null {
    let most = 0
    let found: HeldConnection | null = null
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
   * Where none is idle: one of the address with the most, whose request is still arriving if there is such a one, or else
   * the oldest. For a newcomer of that very address only one that takes long has to go: otherwise a burst would end
   * requests that are being answered to begin others. null = the newcomer itself.
   */
  busyToClose(newcomer: HeldConnection): HeldConnection | null {
    const greediest = this.#greediest(newcomer.holder)
    let oldest: HeldConnection | null = null
    let longest: HeldConnection | null = null
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
    const holder = { block, total: 0, idle: new LinkedList<HeldConnection>() }
    this.#holders.set(block, holder)
    return holder
  }
}
