import { describe, expect, test } from 'vitest'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'
import { createEgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'

const EVERYTHING = ['0.0.0.0/0', '::/0', 'internal', 'com', 'net', 'goog', 'instance-data']
const settings = { version: 1, egressAllow: EVERYTHING, signingSecrets: [], quotas: NO_QUOTAS }
const nothing = { ...settings, egressAllow: [] }
const guard = createEgressGuard({ allow: [], deny: [], allowable: null })

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
  ...[
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '168.63.129.15', '168.63.129.17', '172.15.255.255', '172.32.0.0'],
  ...['191.255.255.255', '192.0.1.0', '192.0.3.0', '192.31.195.255', '192.31.197.0', '192.52.192.255'],
  ...['192.52.194.0', '192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0', '192.175.47.255'],
  ...['192.175.49.0', '198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255'],
  ...['203.0.114.0', '223.255.255.255'],
  ...['[2000::]', '[2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff]', '[2001:200::]', '[2001:db7:ffff::]'],
  ...[
    '[2001:db9::]',
    '[2003::]',
    '[2620:4f:7fff:ffff::]',
    '[2620:4f:8001::]',
    '[3ffe:ffff::]',
    '[3fff:1000::]',
  ],
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
    const open = createEgressGuard({ allow: [name], deny: [], allowable: null })
    for (const host of [name, `a.${name}`]) {
      expect(isOpen(host), host).toBe(false)
      expect(open.refusalOf(new URL(`http://${host}/`), nothing), host).toBeNull()
    }
    expect(isOpen(`${name}x`)).toBe(true)
  })
})
