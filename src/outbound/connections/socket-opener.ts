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
import { ADDRESSES_TRIED_MAX, CONNECTION_ATTEMPT_DELAY_MS } from '../bounds.ts'
import { BlockedTargetError, ConnectDeadlineError } from '../call-failure.ts'
import { parseIpAddress } from '../../domain/net/ip-address.ts'

export interface SocketTarget {
  /** For TLS: a name without a trailing dot, or a literal address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** Checked addresses, at least one. */
  readonly addresses: readonly string[]
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

  return (target, events) => {
    let current: Socket = startTcp(target)
    let over = false
    const end = () => {
      over = true
      cancelTimer()
    }
    const fail = (error: Error) => {
      if (over) return
      end()
      current.destroy()
      events.onError(error)
    }
    const succeed = () => {
      if (over) return
      end()
      current.off('error', fail).off('close', failClosed)
      events.onOpen(current)
    }
    const failClosed = () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    const cancelTimer = clock.after(CONNECT_TIMEOUT_MS, () =>
      fail(new ConnectDeadlineError(CONNECT_TIMEOUT_MS)),
    )

    // Later errors do not matter, but without a listener they would end the process.
    current.on('error', ignore).on('error', fail).on('close', failClosed)
    current.once('connect', () => {
      if (over) return
      const wrong = wrongPeer(current, target.addresses)
      if (wrong !== null) return fail(wrong)
      if (!target.secure) return succeed()
      events.onTlsStart()
      current.off('error', fail).off('close', failClosed)
      current = startTls(current, target, secureContext)
      current.on('error', ignore).on('error', fail).on('close', failClosed).once('secureConnect', succeed)
    })
    return () => {
      if (over) return
      end()
      current.destroy()
    }
  }
}

function startTcp({ host, port, addresses }: SocketTarget): Socket {
  const [only, ...others] = addresses
  const shared = { port, noDelay: true, highWaterMark: 64 * 1024 }
  if (only !== undefined && others.length === 0) {
    return connectTcp({ ...shared, host: only, autoSelectFamily: false })
  }
  const tried = evenlyChosen(addresses).map((address) => ({ address, family: isIP(address) }))
  return connectTcp({
    ...shared,
    host,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECTION_ATTEMPT_DELAY_MS,
    // No lookup: the name is resolved and its addresses are checked.
    lookup: (_host, _options, callback) => callback(null, tried),
  })
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

/** At most `ADDRESSES_TRIED_MAX`, of both families if both have addresses. */
function evenlyChosen(addresses: readonly string[]): readonly string[] {
  if (addresses.length <= ADDRESSES_TRIED_MAX) return addresses
  const ipv4 = addresses.filter((address) => isIP(address) === 4)
  const ipv6 = addresses.filter((address) => isIP(address) === 6)
  const half = ADDRESSES_TRIED_MAX / 2
  const fromIpv6 = ipv6.slice(0, Math.max(half, ADDRESSES_TRIED_MAX - ipv4.length))
  return [...fromIpv6, ...ipv4.slice(0, ADDRESSES_TRIED_MAX - fromIpv6.length)]
}

function ignore(): void {}
