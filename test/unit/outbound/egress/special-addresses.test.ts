import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import type { IpAddress } from '../../../../src/domain/net/ip-address.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'
import { EgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'
import { embeddedIpv4, isGlobal } from '../../../../src/outbound/egress/special-addresses.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'

const EVERYTHING = ['0.0.0.0/0', '::/0', 'internal', 'com', 'net', 'goog', 'instance-data']
const settings = {
  version: 1,
  egressAllow: EVERYTHING,
  signingSecrets: [],
  signingSecretIds: [],
  headerSecrets: [],
  quotas: NO_QUOTAS,
  channels: [],
  members: [],
}
const nothing = { ...settings, egressAllow: [] }
const guard = new EgressGuard({ allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] })

const isOpen = (host: string) => guard.refusalOf(new URL(`http://${host}/`), nothing) === null
/** Whether a team that opens all that it can reaches it. */
const canBeOpened = (host: string) => guard.refusalOf(new URL(`http://${host}/`), settings) === null

/** First and last address of a block. */
const NEVER: ReadonlyArray<readonly [string, string]> = [
  ['0.0.0.0', '0.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['100.100.100.200', '100.100.100.200'],
  ['100.96.0.96', '100.96.0.96'],
  ['192.0.0.192', '192.0.0.192'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['[::]', '[::]'],
  ['[2001::]', '[2001:0:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[fd00:ec2::]', '[fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[fd20:ce::254]', '[fd20:ce::254]'],
  ['[fd00:42::42]', '[fd00:42::42]'],
  ['[fe80::]', '[febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[ff00::]', '[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
]

/** Closed until someone opens them: the IANA registries without what is above. */
const CLOSED: ReadonlyArray<readonly [string, string]> = [
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['[::1]', '[::1]'],
  ['[100::]', '[1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[2001:1::]', '[2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[2001:db8::]', '[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[2620:4f:8000::]', '[2620:4f:8000:ffff:ffff:ffff:ffff:ffff]'],
  ['[3fff::]', '[3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[4000::]', '[fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ['[fd00:ec3::]', '[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
]

/** Open, each beside the end of a closed block. */
const OPEN = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.31.195.255',
  '192.31.197.0',
  '192.52.192.255',
  '192.52.194.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '192.175.47.255',
  '192.175.49.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '[2000::]',
  '[2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff]',
  '[2001:200::]',
  '[2001:db7:ffff::]',
  '[2001:db9::]',
  '[2003::]',
  '[2620:4f:7fff:ffff::]',
  '[2620:4f:8001::]',
  '[3ffe:ffff::]',
  '[3fff:1000::]',
]

describe('addresses', () => {
  test.each(NEVER)('nothing opens %s to %s', (first, last) => {
    for (const host of [first, last]) expect(canBeOpened(host), host).toBe(false)
  })

  test.each(CLOSED)('%s to %s are closed until they are opened', (first, last) => {
    for (const host of [first, last]) {
      expect(isOpen(host), host).toBe(false)
      expect(canBeOpened(host), host).toBe(true)
    }
  })

  test.each(OPEN)('%s is open', (host) => {
    expect(isOpen(host)).toBe(true)
  })

  test('nothing opens a spelling of them within an IPv6 address', () => {
    for (const inner of NEVER.flat().filter((host) => !host.startsWith('['))) {
      const [a = 0, b = 0, c = 0, d = 0] = inner.split('.').map(Number)
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
      const spellings = [
        `[::${inner}]`,
        `[::ffff:${inner}]`,
        `[::ffff:0:${inner}]`,
        `[64:ff9b::${inner}]`,
        `[64:ff9b:1::${inner}]`,
        `[2002:${hex}::]`,
      ]
      for (const host of spellings) expect(canBeOpened(host), host).toBe(false)
    }
  })
})

/** The same address here and in ipaddr.js. */
function bothOf(family: 4 | 6, value: bigint) {
  const width = family === 4 ? 4 : 16
  const bytes = Array.from({ length: width }, (_, at) =>
    Number((value >> BigInt(8 * (width - 1 - at))) & 0xffn),
  )
  const ours: IpAddress = { family, value }
  return { ours, theirs: ipaddr.fromByteArray(bytes) }
}

/** The ends of every block that ipaddr.js has a name for, and their neighbours outside. */
function borders(kind: typeof ipaddr.IPv4 | typeof ipaddr.IPv6): bigint[] {
  // Its types leave the tables out.
  const tables = (kind.prototype as unknown as { SpecialRanges: Record<string, unknown> }).SpecialRanges
  const bitsMax = kind === ipaddr.IPv4 ? 32n : 128n
  return Object.values(tables)
    .flatMap((table) => blocksOf(table))
    .flatMap(([address, prefix]) => {
      const first = address.toByteArray().reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n)
      const last = first | ((1n << (bitsMax - BigInt(prefix))) - 1n)
      return [first - 1n, first, last, last + 1n].filter((value) => value >= 0n && value < 1n << bitsMax)
    })
}

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number]

function blocksOf(table: unknown): Block[] {
  const blocks = table as Block | Block[]
  return Array.isArray(blocks[0]) ? (blocks as Block[]) : [blocks as Block]
}

describe('against ipaddr.js', () => {
  const random = new SeededRandom(6)
  const anyBits = (bits: number) => {
    let value = 0n
    for (let left = bits; left > 0; left -= 16) value = (value << 16n) | BigInt(random.integer(0, 0xffff))
    return value
  }

  test('IPv4: what it calls unicast is global, and nothing else', () => {
    const values = [...borders(ipaddr.IPv4), ...Array.from({ length: 5_000 }, () => anyBits(32))]
    const mismatches = values
      .map((value) => bothOf(4, value))
      .filter(({ ours, theirs }) => isGlobal(ours) !== (theirs.range() === 'unicast'))
    expect(mismatches.map(({ theirs }) => theirs.toString())).toEqual([])
  })

  test('IPv6: what it calls unicast is global inside 2000::/3; it also says so of blocks not assigned', () => {
    const randomOnes = Array.from({ length: 5_000 }, () => {
      const value = anyBits(128)
      const isGlobalUnicast = random.chance(0.7)
      return isGlobalUnicast ? (value & ((1n << 125n) - 1n)) | (1n << 125n) : value
    })
    const near2001 = Array.from(
      { length: 5_000 },
      () => (0x2001n << 112n) | (anyBits(112) & ((1n << 106n) - 1n)),
    )
    const isAssigned = (value: bigint) => value >> 125n === 1n
    const mismatches = [...borders(ipaddr.IPv6), ...randomOnes, ...near2001]
      .map((value) => bothOf(6, value))
      .filter(({ ours, theirs }) => {
        return isGlobal(ours) !== (isAssigned(ours.value) && theirs.range() === 'unicast')
      })
    expect(mismatches.map(({ theirs }) => theirs.toString())).toEqual([])
  })

  test('an IPv4 address is found in each form that it knows to carry one, and in the deprecated ::/96', () => {
    const prefixes: ReadonlyArray<readonly [string, bigint, bigint]> = [
      ['ipv4Mapped', 0xffffn << 32n, 0n],
      ['rfc6145', 0xffffn << 48n, 0n],
      ['rfc6052', 0x64_ff9bn << 96n, 0n],
      ['rfc6052', 0x64_ff9b_0001n << 80n, 0n],
      ['6to4', 0x2002n << 112n, 80n],
      ['unicast', 0n, 0n],
    ]
    for (const [range, prefix, shift] of prefixes) {
      for (let i = 0; i < 200; i += 1) {
        const value = anyBits(32) | 0x0100_0000n
        const { ours, theirs } = bothOf(6, prefix | (value << shift))
        expect(theirs.range(), theirs.toString()).toBe(range)
        expect(embeddedIpv4(ours), theirs.toString()).toEqual({ family: 4, value })
      }
    }
    for (let i = 0; i < 2_000; i += 1) {
      const { ours, theirs } = bothOf(6, anyBits(128))
      const carries = ['ipv4Mapped', 'rfc6145', 'rfc6052', '6to4'].includes(theirs.range())
      expect(embeddedIpv4(ours) !== null, theirs.toString()).toBe(carries)
    }
  })
})

describe('names', () => {
  test.each([
    'instance-data',
    'instance-data.ec2.internal',
    'metadata.azure.internal',
    'metadata.goog',
    'metadata.google.internal',
    'metadata.packet.net',
    'metadata.platformequinix.com',
    'metadata.tencentyun.com',
  ])('nothing opens %s and what lies below it', (name) => {
    for (const host of [name, `a.${name}`, `${name}.`, name.toUpperCase()]) {
      expect(canBeOpened(host), host).toBe(false)
    }
  })

  test.each([
    'cluster.local',
    'home.arpa',
    'internal',
    'ip6-localhost',
    'ip6-loopback',
    'local',
    'localdomain',
    'localhost',
    'svc',
  ])('%s and what lies below it is closed until it is opened', (name) => {
    const open = new EgressGuard({ allow: [name], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] })
    for (const host of [name, `a.${name}`]) {
      expect(isOpen(host), host).toBe(false)
      expect(open.refusalOf(new URL(`http://${host}/`), nothing), host).toBeNull()
    }
    expect(isOpen(`${name}x`)).toBe(true)
  })
})
