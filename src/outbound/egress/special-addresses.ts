/**
 * Tables of addresses and names outside the public Internet. Sources, read 2026-11:
 * - IANA IPv4 Special-Purpose Address Registry (https://www.iana.org/assignments/iana-ipv4-special-registry)
 * - IANA IPv6 Special-Purpose Address Registry (https://www.iana.org/assignments/iana-ipv6-special-registry)
 * - IANA multicast registries; RFC 6761, RFC 6762 and RFC 9476 for names; the clouds' manuals for metadata.
 */
import { inAnyRange, ipRanges, type IpAddress } from '../../domain/net/ip-address.ts'

/** The whole IPv4 registry, including globally reachable entries (AS112, AMT): none of them serves web targets. */
const IPV4_SPECIAL = ipRanges([
  '0.0.0.0/8', // "this network", RFC 791; Linux connects 0.0.0.0 to loopback
  '10.0.0.0/8', // private use, RFC 1918
  '100.64.0.0/10', // shared address space, RFC 6598
  '127.0.0.0/8', // loopback, RFC 1122
  '169.254.0.0/16', // link local, RFC 3927
  '172.16.0.0/12', // private use, RFC 1918
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890
  '192.0.2.0/24', // documentation TEST-NET-1, RFC 5737
  '192.31.196.0/24', // AS112-v4, RFC 7535
  '192.52.193.0/24', // AMT, RFC 7450
  '192.88.99.0/24', // 6to4 relay anycast (deprecated), RFC 7526
  '192.168.0.0/16', // private use, RFC 1918
  '192.175.48.0/24', // direct delegation AS112, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation TEST-NET-2, RFC 5737
  '203.0.113.0/24', // documentation TEST-NET-3, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112; limited broadcast 255.255.255.255, RFC 8190
])

/** Global unicast, RFC 4291: everything else in IPv6 is special or unassigned. */
const IPV6_GLOBAL = ipRanges(['2000::/3'])

/** The special blocks inside 2000::/3. */
const IPV6_SPECIAL = ipRanges([
  '2001::/23', // IETF protocol assignments: Teredo, benchmarking, AMT, ORCHID v1 and v2, drone ids; RFC 2928
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4, RFC 3056
  '2620:4f:8000::/48', // direct delegation AS112, RFC 7534
  '3fff::/20', // documentation, RFC 9637
])

/** No setting opens these: metadata services hand out credentials, and the rest are never single web targets. */
const NEVER = ipRanges([
  '0.0.0.0/8',
  '169.254.0.0/16', // metadata of most clouds (169.254.169.254), ECS (169.254.170.2), EKS (169.254.170.23)
  '168.63.129.16/32', // Azure wire server; a public address by the registries
  '100.100.100.200/32', // Alibaba Cloud metadata
  '100.96.0.96/32', // Volcano Engine metadata
  '192.0.0.192/32', // Oracle Cloud (classic) metadata
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128', // unspecified; Linux connects it to loopback
  '2001::/32', // Teredo, RFC 4380: hides an IPv4 address behind a relay
  'fd00:ec2::/32', // AWS: metadata fd00:ec2::254, EKS pod identity fd00:ec2::23
  'fd20:ce::254/128', // Google Cloud metadata
  'fd00:42::42/128', // Scaleway metadata
  'fe80::/10', // link local, RFC 4291
  'ff00::/8', // multicast, RFC 4291
])

/** Names of metadata services; the addresses they should resolve to are in the list above. */
export const NEVER_NAMES: readonly string[] = [
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
]

/** Names that mean this machine or this cluster; an allow entry for the name opens them. */
export const LOCAL_NAMES: readonly string[] = [
  'cluster.local', // Kubernetes' default domain
  'home.arpa', // RFC 8375
  'internal', // reserved by ICANN for private use
  'ip6-localhost', // Debian's /etc/hosts
  'ip6-loopback',
  'local', // mDNS, RFC 6762
  'localdomain',
  'localhost', // RFC 6761
  'svc', // Kubernetes: `name.namespace.svc` through the search list
]

/** IPv6 blocks whose addresses contain an IPv4 address, and how many bits it is shifted to the left. */
const EMBEDDINGS = [
  { ranges: ipRanges(['::/96']), shift: 0n }, // IPv4-compatible (deprecated), RFC 4291
  { ranges: ipRanges(['::ffff:0:0/96']), shift: 0n }, // IPv4-mapped, RFC 4291
  { ranges: ipRanges(['::ffff:0:0:0/96']), shift: 0n }, // IPv4-translated, RFC 2765
  { ranges: ipRanges(['64:ff9b::/96']), shift: 0n }, // NAT64, RFC 6052
  { ranges: ipRanges(['64:ff9b:1::/48']), shift: 0n }, // local-use NAT64, RFC 8215, with a /96 prefix
  { ranges: ipRanges(['2002::/16']), shift: 80n }, // 6to4, RFC 3056
] as const

/** `::1`, which is not the IPv4-compatible form of 0.0.0.1. */
const LOOPBACK = 1n

export function isNeverReachable(address: IpAddress): boolean {
  return inAnyRange(address, NEVER)
}

/** Whether an address belongs to the public Internet; the never-list is not considered. */
export function isGlobal(address: IpAddress): boolean {
  if (address.family === 4) return !inAnyRange(address, IPV4_SPECIAL)
  return inAnyRange(address, IPV6_GLOBAL) && !inAnyRange(address, IPV6_SPECIAL)
}

/** The IPv4 address inside an IPv6 one, or null. */
export function embeddedIpv4(address: IpAddress): IpAddress | null {
  if (address.family === 4 || address.value === LOOPBACK) return null
  for (const { ranges, shift } of EMBEDDINGS) {
    if (inAnyRange(address, ranges)) return { family: 4, value: (address.value >> shift) & 0xffff_ffffn }
  }
  return null
}
