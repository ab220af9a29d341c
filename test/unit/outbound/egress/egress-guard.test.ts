import { readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EgressGuard, type EgressSettings } from '../../../../src/outbound/egress/egress-guard.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../../src/ports/settings.ts'
import { anyUrl } from '../../../support/any-text.ts'
import { isBadPort } from '../../../../src/domain/net/bad-ports.ts'

const CLOSED: EgressSettings = { allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] }

function team(...egressAllow: string[]): TeamSettings {
  return { ...NO_TEAM_SETTINGS, egressAllow }
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
    expect(guard.allowsAddresses(new URL('http://example.com'), ['8.8.8.8', '2001:4860::1'], team())).toBe(
      true,
    )
    expect(guard.allowsAddresses(new URL('http://example.com'), ['8.8.8.8', '10.0.0.1'], team())).toBe(false)
    expect(guard.allowsAddresses(new URL('http://example.com'), ['8.8.8.8', '::1'], team())).toBe(false)
    expect(guard.allowsAddresses(new URL('http://example.com'), ['8.8.8.8', 'fe80::1%eth0'], team())).toBe(
      false,
    )
    expect(guard.allowsAddresses(new URL('http://example.com'), [], team())).toBe(false)
  })

  test('an allowed suffix opens the addresses of its names, never the never-list', () => {
    const settings = team('example.com')
    expect(guard.allowsAddresses(new URL('http://api.example.com.'), ['10.0.0.1'], settings)).toBe(true)
    expect(guard.allowsAddresses(new URL('http://api.example.com'), ['192.168.0.1'], settings)).toBe(false)
    expect(guard.allowsAddresses(new URL('http://api.example.org'), ['10.0.0.1'], settings)).toBe(false)
    expect(guard.allowsAddresses(new URL('http://api.example.com'), ['169.254.169.254'], settings)).toBe(
      false,
    )
  })
})

describe('ports', () => {
  test.each([9, 25, 22, 53, 110, 143, 6000, 6666, 10_080])('nobody calls port %i', (port) => {
    expect(refusal(`http://example.com:${port}/`)).toBe('blocked')
    expect(refusal(`http://8.8.8.8:${port}/`)).toBe('blocked')
    expect(refusal(`http://10.0.0.1:${port}/`, { allow: ['10.0.0.0/8'] })).toBe('blocked')
    const guard = new EgressGuard({ ...CLOSED, allow: ['shop.internal'] })
    const url = new URL(`http://shop.internal:${port}/`)
    expect(guard.allowsAddresses(url, ['10.0.0.1'], team())).toBe(false)
  })

  test('are those that fetch refuses', async () => {
    let refused = 0
    for (let port = 1; port <= 65_535; port += 1) {
      if (!isBadPort(port)) continue
      const error: unknown = await fetch(`http://127.0.0.1:${port}/`).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ cause: { message: 'bad port' } })
      refused += 1
    }
    expect(refused).toBe(82)
  })

  test.each([1, 9])('port %i is open on loopback alone, where nothing answers', (port) => {
    const installation = { allow: ['127.0.0.0/8', '::1', '10.0.0.0/8', 'localhost'] }
    expect(refusal(`http://127.0.0.1:${port}/`, installation)).toBeNull()
    expect(refusal(`http://[::1]:${port}/`, installation)).toBeNull()
    expect(refusal(`http://127.0.0.1:${port}/`)).toBe('blocked')
    expect(refusal(`http://10.0.0.1:${port}/`, installation)).toBe('blocked')
    expect(refusal(`http://8.8.8.8:${port}/`, installation)).toBe('blocked')
    expect(refusal(`http://localhost:${port}/`, installation)).toBe('blocked')
  })

  test('an entry that names a bad port opens it', () => {
    expect(refusal('http://10.0.0.1:6000/', { allow: ['10.0.0.0/8:6000'] })).toBeNull()
    expect(refusal('http://8.8.8.8:6000/', {}, team('8.8.8.8:6000'))).toBeNull()
    expect(refusal('http://8.8.8.8:6000/', { allowable: [] }, team('8.8.8.8:6000'))).toBe('blocked')
    const guard = new EgressGuard({ ...CLOSED, allow: ['example.com:6000'] })
    expect(guard.refusalOf(new URL('http://example.com:6000'), team())).toBeNull()
    expect(guard.allowsAddresses(new URL('http://example.com:6000'), ['8.8.8.8'], team())).toBe(true)
    expect(guard.allowsAddresses(new URL('http://example.org:6000'), ['8.8.8.8'], team())).toBe(false)
  })

  test('an entry with a port opens that port alone', () => {
    const installation = { allow: ['10.0.0.0/8:8443', 'shop.internal:443'] }
    expect(refusal('https://10.0.0.1:8443/', installation)).toBeNull()
    expect(refusal('https://10.0.0.1/', installation)).toBe('blocked')
    expect(refusal('https://shop.internal/', installation)).toBeNull()
    expect(refusal('http://shop.internal/', installation)).toBe('blocked')
    const guard = new EgressGuard({ ...CLOSED, allow: ['10.0.0.0/8:443'] })
    expect(guard.refusalOf(new URL('https://10.0.0.1/'), team())).toBeNull()
    // The same host again: what was decided about one port is not the answer for another.
    expect(guard.refusalOf(new URL('http://10.0.0.1/'), team())).toBe('blocked')
  })

  test('a denied port closes that port alone, a denied name all', () => {
    const installation = { deny: ['8.8.8.8:8080', 'example.com'] }
    expect(refusal('http://8.8.8.8:8080/', installation)).toBe('blocked')
    expect(refusal('http://8.8.8.8/', installation)).toBeNull()
    expect(refusal('http://example.com:8081/', installation)).toBe('blocked')
  })
})

describe('names at fixed addresses', () => {
  const allow = ['partner.example=203.0.113.0/24:443', 'vault.internal=10.1.0.0/16']
  const guard = new EgressGuard({ ...CLOSED, allow })
  const allows = (url: string, address: string) => guard.allowsAddresses(new URL(url), [address], team())

  test('are open there, and nowhere else inside the network', () => {
    expect(allows('https://partner.example/', '203.0.113.7')).toBe(true)
    expect(allows('https://api.partner.example/', '203.0.113.7')).toBe(true)
    expect(allows('https://partner.example/', '203.0.112.7')).toBe(true)
    expect(allows('https://partner.example/', '10.1.0.7')).toBe(false)
    expect(allows('http://partner.example/', '203.0.113.7')).toBe(false)
    expect(allows('https://other.example/', '203.0.113.7')).toBe(false)
  })

  test('open a local name, but not its addresses to others', () => {
    expect(refusal('http://vault.internal/', { allow })).toBeNull()
    expect(allows('http://vault.internal/', '10.1.0.7')).toBe(true)
    expect(allows('http://vault.internal/', '10.2.0.7')).toBe(false)
    expect(refusal('http://10.1.0.7/', { allow })).toBe('blocked')
  })

  test('can be denied there alone', () => {
    const denying = new EgressGuard({ ...CLOSED, deny: ['example.com=8.8.8.0/24'] })
    expect(denying.refusalOf(new URL('http://example.com/'), team())).toBeNull()
    expect(denying.allowsAddresses(new URL('http://example.com/'), ['8.8.8.8'], team())).toBe(false)
    expect(denying.allowsAddresses(new URL('http://example.com/'), ['8.8.4.4'], team())).toBe(true)
  })
})

describe('the addresses of the cluster', () => {
  const clusterCidrs = ['10.244.0.0/16', '10.96.0.0/12', '2001:4860::/32', '9.0.0.0/8']

  test('are closed where they look public', () => {
    expect(refusal('http://[2001:4860::7]/')).toBeNull()
    expect(refusal('http://[2001:4860::7]/', { clusterCidrs })).toBe('blocked')
    expect(refusal('http://9.1.2.3/')).toBeNull()
    expect(refusal('http://9.1.2.3/', { clusterCidrs })).toBe('blocked')
    const guard = new EgressGuard({ ...CLOSED, clusterCidrs })
    expect(guard.allowsAddresses(new URL('http://example.com/'), ['9.1.2.3'], team())).toBe(false)
    // NAT64 and its kin are another way to the same pod.
    expect(refusal('http://[64:ff9b::9.1.2.3]/', { allow: ['64:ff9b::/96'] })).toBeNull()
    expect(refusal('http://[64:ff9b::9.1.2.3]/', { allow: ['64:ff9b::/96'], clusterCidrs })).toBe('blocked')
  })

  test('are opened by no wish of a team, whatever it may open otherwise', () => {
    const wishes = team('10.244.0.0/16', '0.0.0.0/0', 'svc.cluster.local', 'a.svc.cluster.local=10.96.0.0/12')
    for (const allowable of [null, ['0.0.0.0/0', 'svc.cluster.local']]) {
      const guard = new EgressGuard({ ...CLOSED, allowable, clusterCidrs })
      expect(guard.refusalOf(new URL('http://10.244.0.7/'), wishes)).toBe('blocked')
      const url = new URL('http://a.svc.cluster.local/')
      expect(guard.allowsAddresses(url, ['10.96.0.7'], wishes)).toBe(false)
      expect(guard.allowsAddresses(url, ['10.20.0.7'], wishes)).toBe(true)
    }
  })

  test('are opened by the installation, where it fixes addresses inside the cluster', () => {
    const opens = (allow: string, address: string): boolean => {
      const guard = new EgressGuard({ ...CLOSED, allow: [allow], clusterCidrs })
      return guard.allowsAddresses(new URL('http://a.shop.svc:8080/'), [address], team())
    }
    expect(opens('shop.svc=10.96.0.0/12:8080', '10.96.0.7')).toBe(true)
    expect(opens('shop.svc=10.96.0.0/12:8080', '10.244.0.7')).toBe(false)
    expect(opens('shop.svc=10.96.0.0/12:80', '10.96.0.7')).toBe(false)
    expect(opens('10.96.0.0/16', '10.96.0.7')).toBe(true)
    // Who can make a Service, or owns the name elsewhere, decides about these addresses.
    expect(opens('shop.svc', '10.96.0.7')).toBe(false)
    expect(opens('shop.svc', '10.20.0.7')).toBe(true)
    // Meant is the network around the cluster.
    expect(opens('10.0.0.0/8', '10.96.0.7')).toBe(false)
    expect(opens('10.0.0.0/8', '10.20.0.7')).toBe(true)
  })

  test('a team opens those that the installation lets it, by fixed addresses inside the cluster', () => {
    const installation = { allowable: ['shop.svc=10.96.0.0/12:8080'], clusterCidrs }
    const guard = new EgressGuard({ ...CLOSED, ...installation })
    const url = new URL('http://a.shop.svc:8080/')
    expect(guard.allowsAddresses(url, ['10.96.0.7'], team('a.shop.svc'))).toBe(true)
    expect(guard.allowsAddresses(url, ['10.96.0.7'], team())).toBe(false)
    expect(guard.allowsAddresses(url, ['10.244.0.7'], team('a.shop.svc'))).toBe(false)
  })
})

describe('entries of a team that open nothing', () => {
  const of = (allowable: readonly string[] | null, ...entries: string[]) =>
    new EgressGuard({ ...CLOSED, allowable, clusterCidrs: ['10.96.0.0/12'] }).ineffectiveEntries(entries)

  test('are all of them where teams may open nothing', () => {
    expect(of([], '10.0.0.0/8', 'shop.internal')).toEqual(['10.0.0.0/8', 'shop.internal'])
  })

  test('are those of the cluster alone where teams may open anything', () => {
    const inside = ['10.96.0.0/16', 'a.svc=10.100.0.7']
    expect(of(null, '10.0.0.0/8', 'a.svc', '10.96.0.0/11:80', ...inside)).toEqual(inside)
    expect(of(['10.96.0.0/16:80'], '10.96.0.0/24', '10.97.0.0/24')).toEqual(['10.97.0.0/24'])
  })

  test('are those that meet no entry of the installation', () => {
    const allowable = ['10.1.0.0/16:443', 'shop.internal', 'partner.example=203.0.113.0/24']
    const met = ['10.0.0.0/8', '10.1.2.3', '10.1.2.0/24:443', 'internal', 'a.shop.internal:80', '203.0.113.7']
    expect(of(allowable, ...met)).toEqual([])
    const unmet = ['10.2.0.0/16', '10.1.2.3:80', 'fd00::/8', 'a.internal=10.2.0.0/16']
    expect(of(['10.1.0.0/16:443'], ...unmet)).toEqual(unmet)
    expect(
      of(['partner.example=203.0.113.0/24'], 'other.example', 'partner.example=198.51.100.0/24'),
    ).toEqual(['other.example', 'partner.example=198.51.100.0/24'])
  })
})

describe('our own hosts', () => {
  const ownHosts = ['punctual.example.com', '203.0.113.7', '[2001:4860::7]']

  test.each([
    'https://punctual.example.com/api/jobs',
    'http://PUNCTUAL.example.com.:8080/',
    'http://203.0.113.7/',
    'http://[2001:4860::7]/',
  ])('%s is refused, whatever a team allows', (url) => {
    const wishes = team('example.com', '203.0.113.0/24', 'punctual.example.com')
    expect(refusal(url, { ownHosts }, wishes)).toBe('blocked')
    expect(refusal(url, { ownHosts, allow: ['example.com', '0.0.0.0/0'] }, wishes)).toBe('blocked')
  })

  test('are names, not all below them', () => {
    expect(refusal('https://shop.punctual.example.com/', { ownHosts })).toBeNull()
    expect(refusal('https://example.com/', { ownHosts })).toBeNull()
  })

  test('an installation that shares its host with others names it', () => {
    const installation = { ownHosts, allow: ['punctual.example.com'] }
    expect(refusal('https://punctual.example.com/orders', installation)).toBeNull()
  })

  test('an entry with a port or addresses opens no more of them', () => {
    const url = 'https://punctual.example.com:8443/orders'
    const byPort = { ownHosts, allow: ['punctual.example.com:8443'] }
    expect(refusal(url, byPort)).toBeNull()
    expect(refusal('https://punctual.example.com/api/jobs', byPort)).toBe('blocked')
    const guard = new EgressGuard({ ...CLOSED, ownHosts, allow: ['punctual.example.com=198.51.100.7/32'] })
    expect(guard.refusalOf(new URL(url), team())).toBeNull()
    const at = (address: string) => guard.allowsAddresses(new URL(url), [address], team('0.0.0.0/0'))
    expect(['198.51.100.7', '198.51.100.8', '8.8.8.8'].map(at)).toEqual([true, false, false])
  })

  test('which networks with a NAT64 prefix of their own deny is what the page says', () => {
    const page = readFileSync(new URL('../../../../docs/reference/egress.md', import.meta.url), 'utf8')
    const deny = /^PUNCTUAL_EGRESS_DENY=(2001:db8:64::\S+)$/m.exec(page)?.[1]?.split(',') ?? []
    const guard = new EgressGuard({ ...CLOSED, deny, allow: ['2001:db8:64::/96'] })
    const at = (ipv4: string) => {
      const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
      const inner = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
      return guard.allowsAddresses(new URL('http://shop.test/'), [`2001:db8:64::${inner}`], team())
    }
    const inside = [
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '169.254.169.254',
      '172.31.0.1',
      '192.168.7.7',
      '0.0.0.1',
    ]
    expect(inside.map(at)).toEqual(inside.map(() => false))
    expect(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1'].map(at)).toEqual([true, true, true, true])
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
    const guard = new EgressGuard({
      allow: ['10.0.0.0/8', 'a.b'],
      deny: ['c'],
      allowable: ['::/0'],
      clusterCidrs: ['8.0.0.0/8'],
      ownHosts: ['d'],
    })
    fc.assert(
      fc.property(anyUrl(), fc.domain(), (text, host) => {
        expect(() => guard.refusalOf(new URL(text), team(host))).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })
})
