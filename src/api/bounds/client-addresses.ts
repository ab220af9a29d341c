import type { IncomingMessage } from 'node:http'
import { clientAddress, proxyRanges } from '../../domain/net/client-address.ts'
import { headerText } from '../body-reader.ts'

/** Address a request came from; null = unknown. Bounds, the audit log and the log all ask here, so that they agree. */
export type AddressOf = (request: IncomingMessage) => string | null

/** @param trustedProxies CIDR blocks of the proxies whose headers are read; with none, no header is */
export function createAddressOf(trustedProxies: readonly string[]): AddressOf {
  const proxies = proxyRanges(trustedProxies)
  return ({ socket, headers }) =>
    clientAddress(
      {
        peer: socket.remoteAddress ?? null,
        xForwardedFor: headerText(headers['x-forwarded-for']),
        forwarded: headerText(headers.forwarded),
      },
      proxies,
    )
}
