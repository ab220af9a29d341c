import { ALL_ADDRESSES } from '../../domain/net/listen-address.ts'

/** The address of a port as a URL; an IPv6 address gets its brackets. */
export function baseUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The address at which this machine reaches a server on `host`: a wildcard cannot be called. */
export function localHost(host: string): string {
  if (host === '0.0.0.0' || host === ALL_ADDRESSES) return '127.0.0.1'
  return host === '::' ? '::1' : host
}
