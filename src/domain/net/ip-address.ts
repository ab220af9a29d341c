/** IP addresses as numbers: a check sees the same value for every spelling. */
import { isIP } from 'node:net'

export interface IpAddress {
  readonly family: 4 | 6
  /** 32 or 128 bits, network order. */
  readonly value: bigint
}

/** A CIDR block: the addresses of one family from `first` to `last`. */
export interface IpRange {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
}

/**
 * Reads the canonical forms that resolvers, sockets and parsed URLs give, without brackets. null for anything else,
 * including zone ids (`fe80::1%eth0`): an address that is not understood is not called.
 */
export function parseIpAddress(text: string): IpAddress | null {
  if (text.includes('%')) return null
  switch (isIP(text)) {
    case 4:
      return { family: 4, value: BigInt(ipv4Bits(text)) }
    case 6:
      return { family: 6, value: ipv6Bits(text) }
    default:
      return null
  }
}

/** The address in a URL's host; null if the host is a name. WHATWG parsing has normalised the spelling. */
export function literalOf(hostname: string): IpAddress | null {
  if (hostname.startsWith('[')) return parseIpAddress(hostname.slice(1, -1))
  const last = hostname.charCodeAt(hostname.length - 1)
  // A WHATWG host that ends in a digit is an IPv4 address or has a label such as `a1`.
  return last >= 0x30 && last <= 0x39 ? parseIpAddress(hostname) : null
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. null for anything else, or if bits are set after the prefix. */
export function parseIpRange(text: string): IpRange | null {
  const [addressText = '', prefixText, ...rest] = text.split('/')
  const address = parseIpAddress(addressText)
  if (address === null || rest.length > 0) return null
  const width = address.family === 4 ? 32 : 128
  if (prefixText !== undefined && !/^(0|[1-9][0-9]{0,2})$/.test(prefixText)) return null
  const prefix = prefixText === undefined ? width : Number(prefixText)
  if (prefix > width) return null
  const hostBits = (1n << BigInt(width - prefix)) - 1n
  if ((address.value & hostBits) !== 0n) return null
  return { family: address.family, first: address.value, last: address.value | hostBits }
}

/** Reads one of our own tables. @throws if an entry is not a range */
export function ipRanges(texts: readonly string[]): readonly IpRange[] {
  return texts.map((text) => {
    const range = parseIpRange(text)
    if (range === null) throw new Error(`not an IP range: ${text}`)
    return range
  })
}

export function inRange(address: IpAddress, { family, first, last }: IpRange): boolean {
  return family === address.family && address.value >= first && address.value <= last
}

export function inAnyRange(address: IpAddress, ranges: readonly IpRange[]): boolean {
  for (const range of ranges) {
    if (inRange(address, range)) return true
  }
  return false
}

const LOOPBACK = ipRanges(['127.0.0.0/8', '::1'])

export function isLoopback(address: IpAddress): boolean {
  return inAnyRange(address, LOOPBACK)
}

export function meet(one: IpRange, other: IpRange): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last
}

export function isWithin(inner: IpRange, outer: IpRange): boolean {
  return inner.family === outer.family && inner.first >= outer.first && inner.last <= outer.last
}

function ipv4Bits(text: string): number {
  let bits = 0
  for (const octet of text.split('.')) bits = bits * 256 + Number(octet)
  return bits
}

function ipv6Bits(text: string): bigint {
  const [head = '', tail] = text.split('::')
  const left = groupsOf(head)
  const right = tail === undefined ? [] : groupsOf(tail)
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0)
  let bits = 0n
  for (const group of [...left, ...zeros, ...right]) bits = (bits << 16n) | BigInt(group)
  return bits
}

/** 16-bit groups; a dotted quad at the end makes two. */
function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const bits = ipv4Bits(group)
    return [Math.floor(bits / 65_536), bits % 65_536]
  })
}
