import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { CONNECT_TIMEOUT_MS } from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'
import { EXTRA_ATTEMPTS_MAX } from '../bounds.ts'
import { BlockedTargetError, ConnectDeadlineError } from '../call-failure.ts'
import { parseIpAddress } from '../../domain/net/ip-address.ts'
import { AddressOrder } from './address-order.ts'
import { ExtraAttempts, raceAddresses } from './address-race.ts'

export interface SocketTarget {
  /** Name for TLS, without a trailing dot, or a literal address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** Checked addresses, at least one. */
  readonly addresses: readonly string[]
  /** Why one of them may not be reached any more; null = it may. Asked right before it is tried. */
  refusalOf(address: string): Error | null
}

export interface SocketEvents {
  /** TCP is connected, TLS begins. */
  onTlsStart(): void
  onOpen(socket: Socket): void
  onError(error: Error): void
}

/** Starts to open a socket. Later either `onOpen` or `onError` is called, once, unless the returned cancel is called. */
export type OpenSocket = (target: SocketTarget, events: SocketEvents) => () => void

/**
 * Opens TCP and TLS connections, to checked addresses and no others.
 * @param authorities PEM certificates to trust in addition to those of Node and NODE_EXTRA_CA_CERTS
 */
export function createSocketOpener(clock: Clock, authorities: readonly string[]): OpenSocket {
  // One context for all connections, because creating one parses every trusted certificate.
  const ca = [...getCACertificates('default'), ...authorities]
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(authorities.length > 0 && { ca }) })

  const parts = {
    clock,
    secureContext,
    order: new AddressOrder(clock),
    extraAttempts: new ExtraAttempts(EXTRA_ATTEMPTS_MAX),
  }
  return (target, events) => {
    const opening = new Opening(parts, target, events)
    opening.start()
    return () => opening.cancel()
  }
}

/** Shared by all openings of an opener. */
interface OpeningParts {
  readonly clock: Clock
  readonly secureContext: SecureContext
  readonly order: AddressOrder
  readonly extraAttempts: ExtraAttempts
}

/**
 * One socket that is being opened. Owns the race of its addresses, then the socket that has won, and the deadline of all:
 *
 *     racing → (TLS) → over (open, failed or cancelled)
 */
class Opening {
  readonly #parts: OpeningParts
  readonly #target: SocketTarget
  readonly #events: SocketEvents
  #socket: Socket | null = null
  #isOver = false
  #cancelTimer = ignore
  #cancelRace = ignore

  constructor(parts: OpeningParts, target: SocketTarget, events: SocketEvents) {
    this.#parts = parts
    this.#target = target
    this.#events = events
  }

  start(): void {
    const { clock, order, extraAttempts } = this.#parts
    const { addresses, port } = this.#target
    this.#cancelTimer = clock.after(CONNECT_TIMEOUT_MS, () =>
      this.#fail(new ConnectDeadlineError(CONNECT_TIMEOUT_MS)),
    )
    this.#cancelRace = raceAddresses({
      clock,
      addresses: order.of(addresses),
      extraAttempts,
      refusalOf: (address) => this.#target.refusalOf(address),
      connect: (address) => startTcp(address, port),
      onFailure: (address, error) => order.note(address, error),
      onConnect: (socket) => this.#onConnect(socket),
      onError: (error) => this.#fail(error),
    })
  }

  cancel(): void {
    if (this.#isOver) return
    this.#end()
    this.#socket?.destroy()
  }

  #onConnect(socket: Socket): void {
    this.#watch(socket)
    const wrong = wrongPeer(socket, this.#target.addresses)
    if (wrong !== null) return this.#fail(wrong)
    if (!this.#target.secure) return this.#succeed(socket)
    this.#events.onTlsStart()
    this.#leave(socket)
    const wrapped = startTls(socket, this.#target, this.#parts.secureContext)
    this.#watch(wrapped)
    wrapped.once('secureConnect', () => this.#succeed(wrapped))
  }

  #succeed(socket: Socket): void {
    if (this.#isOver) return
    this.#end()
    this.#leave(socket)
    this.#events.onOpen(socket)
  }

  readonly #fail = (error: Error): void => {
    if (this.#isOver) return
    this.#end()
    this.#socket?.destroy()
    this.#events.onError(error)
  }

  readonly #failClosed = (): void => this.#fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))

  #end(): void {
    this.#isOver = true
    this.#cancelTimer()
    this.#cancelRace()
  }

  #watch(socket: Socket): void {
    this.#socket = socket
    // Later errors do not matter, but without a listener they would end the process.
    socket.on('error', ignore).on('error', this.#fail).on('close', this.#failClosed)
  }

  #leave(socket: Socket): void {
    socket.off('error', this.#fail).off('close', this.#failClosed)
  }
}

function startTcp(host: string, port: number): Socket {
  const options = { host, port, noDelay: true, highWaterMark: 64 * 1024, autoSelectFamily: false }
  return connectTcp(options)
}

function startTls(socket: Socket, { host }: SocketTarget, secureContext: SecureContext): TLSSocket {
  return connectTls({
    socket,
    host,
    // RFC 6066 §3: no literal addresses in SNI; the certificate is then checked against `host`.
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
}

/** The last line of defence: the peer must be a checked address, however it was chosen. */
function wrongPeer(socket: Socket, addresses: readonly string[]): Error | null {
  const peer = socket.remoteAddress
  // Without a peer, the connection was already reset.
  if (peer === undefined) return Object.assign(new Error('no peer'), { code: 'ECONNRESET' })
  if (addresses.includes(peer)) return null
  const value = parseIpAddress(peer)?.value
  const checked = addresses.some((address) => parseIpAddress(address)?.value === value)
  return value !== undefined && checked ? null : new BlockedTargetError()
}

function ignore(): void {}
