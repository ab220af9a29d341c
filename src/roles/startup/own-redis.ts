import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/**
 * Egress entries that keep jobs away from the Redis that holds them, whatever a team may allow: its name, and its
 * addresses at the start. Loopback needs no entry: it is denied unless the installation allows it for its own targets.
 */
export async function denyOwnRedis(redisUrl: string): Promise<string[]> {
  if (redisUrl.startsWith('/')) return []
  const host = new URL(redisUrl).hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(host)) return []
  if (isIP(host) !== 0) return [oneAddress(host)]
  const found = await lookup(host, { all: true }).catch(() => [])
  const addresses = found.map(({ address }) => address).filter((address) => !isLoopback(address))
  return found.length > 0 && addresses.length === 0 ? [] : [host, ...addresses.map(oneAddress)]
}

function oneAddress(address: string): string {
  return `${address}/${isIP(address) === 4 ? 32 : 128}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
