import { BlockList } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EgressGuard, type EgressSettings } from '../../../../src/outbound/egress/egress-guard.ts'
import type { TeamSettings } from '../../../../src/ports/settings.ts'
import { anyUrl } from '../../../support/any-text.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'

const CLOSED: EgressSettings = { allow: [], deny: [], allowable: null }

function team(...egressAllow: string[]): TeamSettings {
  return { version: 1, egressAllow, signingSecrets: [], quotas: NO_QUOTAS, channels: [], members: [] }
}

function refusal(
  url: string,
  installation: Partial<EgressSettings> = {},
  settings = team(),
): 'blocked' | null {
  return new EgressGuard({ ...CLOSED, ...installation }).refusalOf(new URL(url), settings)
}

describe('literal addresses', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://127。0。0。1/',
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://user:secret@127.0.0.1/',
    'http://example.com@127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http://127.0.0.1:8080/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://10.96.0.1/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b::8.8.8.8]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[2001:db8::1]/',
    'http://[2001:10::1]/',
    'http://[2001:20::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[5f00::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[4000::1]/',
  ])('%s is refused', (url) => {
    expect(refusal(url)).toBe('blocked')
  })

  test.each([
    'http://8.8.8.8/',
    'http://134744072/',
    'http://9.255.255.255/',
    'http://11.0.0.0/',
    'http://100.63.255.255/',
    'http://100.128.0.0/',
    'http://172.15.255.255/',
    'http://172.32.0.0/',
    'http://223.255.255.255/',
    'http://[2001:4860:4860::8888]/',
    'http://[2606:4700::1111]/',
    'http://[2a00:1450::1]/',
  ])('%s is allowed', (url) => {
    expect(refusal(url)).toBeNull()
  })
})

describe('names', () => {
  test.each([
    'http://localhost/',
    'http://LOCALHOST./',
    'http://api.localhost/',
    'http://metadata.google.internal/',
    'http://metadata.google.internal./',
    'http://metadata.goog/',
    'http://vault.internal/',
    'http://redis.punctual.svc.cluster.local/',
    'http://redis.punctual.svc/',
    'http://printer.local/',
    'http://../',
  ])('%s is refused', (url) => {
    expect(refusal(url)).toBe('blocked')
  })

  test.each([
    'http://example.com/',
    'http://orders/',
    'http://localhost.example.com/',
    'http://notlocalhost/',
  ])('%s is left to the addresses it resolves to', (url) => {
    expect(refusal(url)).toBeNull()
  })

  test('a denied suffix refuses the name and all below it', () => {
    const installation = { deny: ['.example.com'] }
    expect(refusal('http://example.com/', installation)).toBe('blocked')
    expect(refusal('http://a.b.EXAMPLE.com./', installation)).toBe('blocked')
    expect(refusal('http://anexample.com/', installation)).toBeNull()
  })
})

describe('what opens a target', () => {
  test('the installation opens an address to every team', () => {
    expect(refusal('http://127.0.0.1/', { allow: ['127.0.0.0/8'] })).toBeNull()
    expect(refusal('http://[::1]/', { allow: ['::1'] })).toBeNull()
    expect(refusal('http://[::1]/', { allow: ['127.0.0.0/8'] })).toBe('blocked')
  })

  test('a team opens an address for itself alone', () => {
    expect(refusal('http://10.1.2.3/', {}, team('10.1.0.0/16'))).toBeNull()
    expect(refusal('http://10.1.2.3/', {}, team())).toBe('blocked')
  })

  test('a team opens no more than the installation lets it', () => {
    const installation = { allowable: ['10.1.0.0/16', 'shop.internal'] }
    expect(refusal('http://10.1.2.3/', installation, team('10.0.0.0/8'))).toBeNull()
    expect(refusal('http://10.2.2.3/', installation, team('10.0.0.0/8'))).toBe('blocked')
    expect(refusal('http://a.shop.internal/', installation, team('internal'))).toBeNull()
    expect(refusal('http://10.1.2.3/', { allowable: [] }, team('10.0.0.0/8'))).toBe('blocked')
    expect(refusal('http://a.shop.internal/', { allowable: [] }, team('internal'))).toBe('blocked')
  })

  test('a team opens a local name that the installation lets it, or may let it by its address', () => {
    const local = 'http://a.shop.internal/'
    expect(refusal(local, { allowable: null }, team('internal'))).toBeNull()
    expect(refusal(local, { allowable: null }, team('other.internal'))).toBe('blocked')
    expect(refusal(local, { allowable: ['shop.internal'] }, team('internal'))).toBeNull()
    expect(refusal(local, { allowable: ['other.internal'] }, team('internal'))).toBe('blocked')
    // What it resolves to decides at the call.
    expect(refusal(local, { allowable: ['10.1.0.0/16'] }, team('internal'))).toBeNull()
  })

  test('an entry of a team that cannot be read opens nothing', () => {
    expect(refusal('http://10.1.2.3/', {}, team('10.1.2.3/8', 'not a host'))).toBe('blocked')
  })

  test.each([
    'http://169.254.169.254/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[fe80::a9fe:a9fe]/',
    'http://0.0.0.0/',
    'http://metadata.google.internal/',
  ])('nothing opens %s', (url) => {
    const everything = ['0.0.0.0/0', '::/0', 'internal', 'google.internal', 'metadata.google.internal']
    expect(refusal(url, { allow: everything, allowable: null }, team(...everything))).toBe('blocked')
  })

  test('a denied address stays closed in every form', () => {
    const installation = { allow: ['0.0.0.0/0', '::/0'], deny: ['10.96.0.1/32', '8.8.8.8'] }
    expect(refusal('http://10.96.0.2/', installation)).toBeNull()
    expect(refusal('http://10.96.0.1/', installation)).toBe('blocked')
    expect(refusal('http://8.8.8.8/', installation)).toBe('blocked')
    expect(refusal('http://[::ffff:10.96.0.1]/', installation)).toBe('blocked')
    expect(refusal('http://[2002:a60:1::]/', installation)).toBe('blocked')
  })

  test('an IPv6 spelling of an IPv4 address opens what that address does', () => {
    expect(refusal('http://[::ffff:10.0.0.1]/', { allow: ['10.0.0.0/8'] })).toBeNull()
    expect(refusal('http://[64:ff9b::8.8.8.8]/', { allow: ['64:ff9b::/96'] })).toBeNull()
    expect(refusal('http://[64:ff9b::10.0.0.1]/', { allow: ['64:ff9b::/96'] })).toBe('blocked')
  })

  test('a bad entry of the installation is named', () => {
    expect(() => new EgressGuard({ ...CLOSED, deny: ['10.0.0.0/8', '10.0.0.1/8'] })).toThrow(
      'The egress entry "10.0.0.1/8" is not a CIDR block',
    )
  })
})

describe('resolved addresses', () => {
  const guard = new EgressGuard({ ...CLOSED, allowable: ['10.0.0.0/8'] })

  test('one bad answer refuses all', () => {
    expect(guard.allowsAddresses('example.com', ['8.8.8.8', '2001:4860::1'], team())).toBe(true)
    expect(guard.allowsAddresses('example.com', ['8.8.8.8', '10.0.0.1'], team())).toBe(false)
    expect(guard.allowsAddresses('example.com', ['8.8.8.8', '::1'], team())).toBe(false)
    expect(guard.allowsAddresses('example.com', ['8.8.8.8', 'fe80::1%eth0'], team())).toBe(false)
    expect(guard.allowsAddresses('example.com', [], team())).toBe(false)
  })

  test('an allowed suffix opens the addresses of its names, never the never-list', () => {
    const settings = team('example.com')
    expect(guard.allowsAddresses('api.example.com.', ['10.0.0.1'], settings)).toBe(true)
    expect(guard.allowsAddresses('api.example.com', ['192.168.0.1'], settings)).toBe(false)
    expect(guard.allowsAddresses('api.example.org', ['10.0.0.1'], settings)).toBe(false)
    expect(guard.allowsAddresses('api.example.com', ['169.254.169.254'], settings)).toBe(false)
  })
})

describe('properties', () => {
  const special = new BlockList()
  for (const [address, prefix] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const) {
    special.addSubnet(address, prefix, 'ipv4')
  }
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
  const specialOctets = octets.filter((parts) => special.check(parts.join('.'), 'ipv4'))

  const spellings: ReadonlyArray<(parts: readonly number[]) => string> = [
    ([a = 0, b = 0, c = 0, d = 0]) => String(((a * 256 + b) * 256 + c) * 256 + d),
    ([a = 0, b = 0, c = 0, d = 0]) => `0x${(((a * 256 + b) * 256 + c) * 256 + d).toString(16)}`,
    (parts) => parts.map((part) => `0${part.toString(8)}`).join('.'),
    (parts) => parts.map((part) => `0X${part.toString(16)}`).join('.'),
    ([a = 0, b = 0, c = 0, d = 0]) => `${a}.${b}.${c * 256 + d}`,
    (parts) => `${parts.join('.')}.`,
    (parts) => `[::ffff:${parts.join('.')}]`,
    (parts) => `[::${parts.join('.')}]`,
    (parts) => `[64:ff9b::${parts.join('.')}]`,
    (parts) => `[0:0:0:0:0:FFFF:${parts.join('.')}]`,
  ]

  test('no spelling of a special address passes', () => {
    const guard = new EgressGuard(CLOSED)
    fc.assert(
      fc.property(specialOctets, fc.constantFrom(...spellings), (parts, spell) => {
        expect(guard.refusalOf(new URL(`http://${spell(parts)}/`), team())).toBe('blocked')
      }),
      { numRuns: 3000 },
    )
  })

  test('only global unicast passes of IPv6', () => {
    const guard = new EgressGuard(CLOSED)
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const url = URL.parse(`http://[${text}]/`)
        if (url === null || guard.refusalOf(url, team()) !== null) return
        expect(url.hostname).toMatch(/^\[[23][0-9a-f]{3}:/)
      }),
      { numRuns: 3000 },
    )
  })

  test('no URL makes the guard throw', () => {
    const guard = new EgressGuard({ allow: ['10.0.0.0/8', 'a.b'], deny: ['c'], allowable: ['::/0'] })
    fc.assert(
      fc.property(anyUrl(), fc.domain(), (text, host) => {
        expect(() => guard.refusalOf(new URL(text), team(host))).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })
})
