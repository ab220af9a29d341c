import { forwardedForHops, forwardedHops, type Hops } from './forwarded-hops.ts'
import { inAnyRange, type IpRange, isWithin, parseIpAddress, parseIpRange } from './ip-address.ts'

/** IPv4 addresses as sockets of both families show them. */
const MAPPED: IpRange = { family: 6, first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn }
/** A provider gives each customer at least such a block: whoever has one address of it has them all. */
const IPV6_BLOCK_BITS = 64n

/** How a request says where it came from. */
export interface Arrival {
  /** Address of the socket's peer; null = the socket is closed. */
  readonly peer: string | null
  /** The lines of a header joined by commas. */
  readonly xForwardedFor?: string | undefined
  readonly forwarded?: string | undefined
}

/**
 * The address that a request came from: the socket's, or the rightmost one in the headers that is not of a trusted proxy.
 * The headers of others are never read, since anybody can write one. What cannot be read stops the search: then it is the
 * last proxy that was found, whose word is the last that counts. null = unknown.
 */
export function clientAddress(
  { peer, xForwardedFor, forwarded }: Arrival,
  proxies: readonly IpRange[],
): string | null {
  if (peer === null) return null
  const own = plainAddress(peer)
  if (proxies.length === 0 || !isAmong(own, proxies)) return own
  if (xForwardedFor === undefined && forwarded === undefined) return own
  const found = [
    ...(xForwardedFor === undefined ? [] : [farthestTrusted(own, forwardedForHops(xForwardedFor), proxies)]),
    ...(forwarded === undefined ? [] : [farthestTrusted(own, forwardedHops(forwarded), proxies)]),
  ]
  const [first = own, second = first] = found
  // Proxies write one of them and pass on the other as the client sent it: only where both say the same is it known.
  return first === second ? first : own
}

/** The addresses that are bounded together: an IPv4 address alone, an IPv6 address with its /64. */
export function addressBlock(address: string | null): string {
  const plain = address === null ? '' : plainAddress(address)
  const read = parseIpAddress(plain)
  if (read === null || read.family === 4) return plain
  return `${(read.value >> IPV6_BLOCK_BITS).toString(16)}/${IPV6_BLOCK_BITS}`
}

/** Reads what the settings have checked. An IPv4-mapped block means the IPv4 block. */
export function proxyRanges(texts: readonly string[]): readonly IpRange[] {
  return texts.flatMap((text) => {
    const range = parseIpRange(text)
    if (range === null) return []
    if (!isWithin(range, MAPPED)) return [range]
    return [
      { family: 4, first: BigInt.asUintN(32, range.first), last: BigInt.asUintN(32, range.last) } as const,
    ]
  })
}

function farthestTrusted(peer: string, hops: Hops, proxies: readonly IpRange[]): string {
  let found = peer
  for (const hop of hops) {
    if (hop === null) return found
    found = plainAddress(hop)
    if (!isAmong(found, proxies)) return found
  }
  return found
}

function isAmong(address: string, ranges: readonly IpRange[]): boolean {
  const read = parseIpAddress(address)
  return read !== null && inAnyRange(read, ranges)
}

/** One spelling for each address: IPv4 without the prefix of IPv6, IPv6 in short form. */
function plainAddress(text: string): string {
  if (!text.includes(':')) return text
  const read = parseIpAddress(text)
  if (read === null) return text
  const { value } = read
  if (value >= MAPPED.first && value <= MAPPED.last) return ipv4Text(BigInt.asUintN(32, value))
  return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) ?? text
}

function ipv4Text(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((bits) => Number((value >> bits) & 255n)).join('.')
}
