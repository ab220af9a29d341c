import { expect, test } from 'vitest'
import { egressEntryProblem, hasSuffix, parseEgressList } from '../../../../src/domain/net/egress-list.ts'
import { parseIpAddress, parseIpRange } from '../../../../src/domain/net/ip-address.ts'

test.each([
  '10.0.0.0/8',
  '10.1.2.3',
  '0.0.0.0/0',
  'fd00::/8',
  '::1',
  '::/0',
  'example.com',
  '.example.com',
  'Orders',
  'a_b.svc',
  '10.0.0.0/8:443',
  '10.1.2.3:8080',
  'fd00::/8:443',
  'fd00::7/128:1',
  'example.com:65535',
  'partner.example=203.0.113.0/24:443',
  '.Partner.example.=203.0.113.7',
  'partner.example=fd00::/8',
])('%s is an entry', (entry) => {
  expect(egressEntryProblem(entry)).toBeNull()
})

test.each([
  '',
  '.',
  '10.0.0.1/8',
  '10.0.0.0/33',
  '10.0.0/8',
  '10.0.0',
  '10.0.0.0/08',
  '10.0.0.0/8/8',
  'fd00::1/8',
  '::/129',
  'fe80::1%eth0',
  '[::1]',
  '*.example.com',
  'http://example.com',
  'example.com:0',
  'example.com:080',
  'example.com:65536',
  'example.com:80:80',
  'example.com:http',
  '10.0.0.0/8:0',
  '10.0.0.1/8:443',
  'fd00::7/129:443',
  '[fd00::7]:443',
  'partner.example=',
  '=203.0.113.0/24',
  'partner.example=other.example',
  'partner.example=203.0.113.1/24',
  'partner.example=fd00::7',
  'partner.example:443=203.0.113.0/24',
  'a.test=b.test=10.0.0.0/8',
  '10.0.0.0/8=10.0.0.0/8',
  'exa mple.com',
  '-a.com',
  'a..b',
])('%j is no entry, and the message names it', (entry) => {
  expect(egressEntryProblem(entry)).toContain(JSON.stringify(entry))
})

test('a mistyped CIDR block is told from a host suffix', () => {
  expect(egressEntryProblem('10.0.0.1/8')).toContain('no bits set after the prefix')
  expect(egressEntryProblem('no host')).toContain('host suffix such as')
  expect(egressEntryProblem('a.test=b.test')).toContain('"example.com=203.0.113.0/24:443"')
})

test('a list leaves out what it cannot read', () => {
  const list = parseEgressList(['10.0.0.0/8:443', '10.0.0.1/8', '.Example.COM.', 'no host', 'a.test=::/0:80'])
  expect(list).toEqual([
    { suffix: null, range: parseIpRange('10.0.0.0/8'), port: 443 },
    { suffix: 'example.com', range: null, port: null },
    { suffix: 'a.test', range: parseIpRange('::/0'), port: 80 },
  ])
})

test('a suffix ends at a dot', () => {
  expect(hasSuffix('example.com', ['example.com'])).toBe(true)
  expect(hasSuffix('api.example.com', ['example.com'])).toBe(true)
  expect(hasSuffix('badexample.com', ['example.com'])).toBe(false)
  expect(hasSuffix('com', ['example.com'])).toBe(false)
})

test('addresses are read as numbers', () => {
  expect(parseIpAddress('1.2.3.4')).toEqual({ family: 4, value: 0x01020304n })
  expect(parseIpAddress('::ffff:1.2.3.4')).toEqual({ family: 6, value: 0xffff01020304n })
  expect(parseIpAddress('2001:db8::8:800:200c:417a')?.value).toBe(0x20010db80000000000080800200c417an)
  expect(parseIpAddress('1::')?.value).toBe(1n << 112n)
  expect(parseIpAddress('fe80::1%lo')).toBeNull()
  expect(parseIpAddress('1.2.3')).toBeNull()
})

test('a range holds its first and last address', () => {
  expect(parseIpRange('10.0.0.0/8')).toEqual({ family: 4, first: 0x0a000000n, last: 0x0affffffn })
  expect(parseIpRange('::1')).toEqual({ family: 6, first: 1n, last: 1n })
})
