import { describe, expect, test } from 'vitest'
import { addressBlock, clientAddress, proxyRanges } from '../../../../src/domain/net/client-address.ts'

const PROXIES = proxyRanges(['10.0.0.0/8', '2001:db8:1::/48'])
const PROXY = '10.0.0.1'

const by = (xForwardedFor: string, peer: string | null = PROXY) =>
  clientAddress({ peer, xForwardedFor }, PROXIES)
const forwarded = (text: string) => clientAddress({ peer: PROXY, forwarded: text }, PROXIES)

describe('without a trusted proxy no header is read', () => {
  test.each([
    ['a client', '192.0.2.1', '192.0.2.1'],
    ['a client over a socket of both families', '::ffff:192.0.2.1', '192.0.2.1'],
    ['one with an interface', 'fe80::1%eth0', 'fe80::1%eth0'],
    ['one in long form', '2001:db8:0:0:0:0:0:1', '2001:db8::1'],
    ['one that has gone', null, null],
  ])('%s', (_case, peer, address) => {
    const headers = { xForwardedFor: '203.0.113.9', forwarded: 'for=203.0.113.9' }
    expect(clientAddress({ peer, ...headers }, [])).toBe(address)
    expect(clientAddress({ peer, ...headers }, proxyRanges(['10.0.0.0/8']))).toBe(address)
  })
})

describe('X-Forwarded-For', () => {
  test.each([
    ['one client', '192.0.2.1', '192.0.2.1'],
    ['what the client has put before', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['several proxies', '203.0.113.9, 192.0.2.1, 10.2.3.4, 10.0.0.7', '192.0.2.1'],
    ['proxies alone', '10.9.9.9, 10.2.3.4', '10.9.9.9'],
    ['a port', '192.0.2.1:4711', '192.0.2.1'],
    ['IPv6', '2001:DB8:2::1', '2001:db8:2::1'],
    ['IPv6 in brackets with a port', '[2001:db8:2::1]:4711', '2001:db8:2::1'],
    ['a trusted proxy in IPv6', '192.0.2.1, 2001:db8:1::7', '192.0.2.1'],
    ['a trusted proxy over a socket of both families', '192.0.2.1,::ffff:10.2.3.4', '192.0.2.1'],
    ['the same in hexadecimal', '192.0.2.1,::ffff:a02:304', '192.0.2.1'],
    ['a client over one', '::ffff:192.0.2.1', '192.0.2.1'],
    ['much space', '  203.0.113.9 ,\t192.0.2.1  ', '192.0.2.1'],
    ['unknown', '192.0.2.1, unknown', PROXY],
    ['unknown behind a proxy', '192.0.2.1, unknown, 10.2.3.4', '10.2.3.4'],
    ['garbage', '192.0.2.1, <script>', PROXY],
    ['half an address', '192.0.2', PROXY],
    ['brackets without an address', '[]:80, [192.0.2.1]', PROXY],
    ['a port of nobody', '192.0.2.1:port', PROXY],
    ['an interface', 'fe80::1%eth0', PROXY],
    ['nothing', '', PROXY],
    ['nothing between commas', '192.0.2.1, , 10.2.3.4', '10.2.3.4'],
  ])('%s', (_case, text, address) => {
    expect(by(text)).toBe(address)
  })

  test('a proxy may come over a socket of both families', () => {
    expect(by('192.0.2.1', '::ffff:10.0.0.1')).toBe('192.0.2.1')
  })

  test('of more hops than there can be, the farthest are not looked at', () => {
    const hops = Array.from({ length: 31 }, () => '10.0.0.2')
    expect(by(['192.0.2.1', ...hops].join(','))).toBe('192.0.2.1')
    expect(by(['192.0.2.1', '10.0.0.3', ...hops].join(','))).toBe('10.0.0.3')
  })
})

describe('Forwarded', () => {
  test.each([
    ['one client', 'for=192.0.2.1', '192.0.2.1'],
    ['its example', 'for=192.0.2.60;proto=http;by=203.0.113.43', '192.0.2.60'],
    ['any case and order', 'Proto=https; FOR=192.0.2.60', '192.0.2.60'],
    ['IPv6', 'for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['a quoted port', 'for="192.0.2.1:80"', '192.0.2.1'],
    ['an obfuscated port', 'for="192.0.2.1:_p0rt"', '192.0.2.1'],
    ['an escaped text', String.raw`for="192\.0\.2.1"`, '192.0.2.1'],
    ['several elements', 'for=203.0.113.9, for=192.0.2.1;by=10.0.0.1 , for=10.2.3.4', '192.0.2.1'],
    ['separators in quotes', 'for=192.0.2.1;x="a,b;c", for=10.2.3.4;host="a,b"', '192.0.2.1'],
    ['an obfuscated name', 'for=192.0.2.1, for=_hidden', PROXY],
    ['unknown behind a proxy', 'for=192.0.2.1, for=unknown, for=10.2.3.4', '10.2.3.4'],
    ['no for', 'proto=https;by=10.0.0.1', PROXY],
    ['two of them', 'for=192.0.2.1;for=192.0.2.2', PROXY],
    ['garbage', '192.0.2.1', PROXY],
    ['a quotation that does not end', 'for=203.0.113.9, for=", for=192.0.2.1', PROXY],
    ['one that the words of the proxy end', 'for=203.0.113.9, for=", for="192.0.2.1:80"', PROXY],
  ])('%s', (_case, text, address) => {
    expect(forwarded(text)).toBe(address)
  })
})

test('of both headers, the one that a proxy passes on as it came is not believed', () => {
  const both = (xForwardedFor: string, forwarded: string) =>
    clientAddress({ peer: PROXY, xForwardedFor, forwarded }, PROXIES)
  expect(both('192.0.2.1', 'for=192.0.2.1')).toBe('192.0.2.1')
  expect(both('203.0.113.9', 'for=192.0.2.1')).toBe(PROXY)
  expect(both('192.0.2.1', 'for=unknown')).toBe(PROXY)
})

test('a block that is IPv4-mapped is the IPv4 block, one that holds all of IPv6 is not', () => {
  const mapped = proxyRanges(['::ffff:10.0.0.0/104'])
  expect(clientAddress({ peer: '10.1.2.3', xForwardedFor: '192.0.2.1' }, mapped)).toBe('192.0.2.1')
  expect(clientAddress({ peer: '11.1.2.3', xForwardedFor: '192.0.2.1' }, mapped)).toBe('11.1.2.3')
  expect(clientAddress({ peer: '10.1.2.3', xForwardedFor: '192.0.2.1' }, proxyRanges(['::/0']))).toBe(
    '10.1.2.3',
  )
})

test('an IPv6 address is bounded with its /64, an IPv4 address alone', () => {
  expect(addressBlock('2001:db8::1')).toBe(addressBlock('2001:db8::ffff:1:2:3'))
  expect(addressBlock('2001:db8::1')).not.toBe(addressBlock('2001:db8:0:1::1'))
  expect(addressBlock('192.0.2.1')).not.toBe(addressBlock('192.0.2.2'))
  expect(addressBlock('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(addressBlock(null)).toBe('')
  expect(addressBlock('fe80::1%eth0')).toBe('fe80::1%eth0')
})
