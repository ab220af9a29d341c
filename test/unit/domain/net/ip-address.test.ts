import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { parseIpAddress, parseIpRange } from '../../../../src/domain/net/ip-address.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'

/** What ipaddr.js makes of a text, in our form; null when it refuses it. */
function theirs(text: string) {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.parse(text)
  const value = address.toByteArray().reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n)
  return { family: address.kind() === 'ipv4' ? 4 : 6, value }
}

/** ipaddr.js takes these for IPv4-mapped addresses: `::1.2.3.4` for `::ffff:1.2.3.4`. */
const IPV4_COMPATIBLE = /^::[0-9.]+$/

function anyIpv4(random: SeededRandom): string {
  return Array.from({ length: 4 }, () => random.integer(0, 255)).join('.')
}

/** Any spelling: zeros written out, shortened at any place, or ended by a dotted quad. */
function anyIpv6(random: SeededRandom): string {
  const hasQuad = random.chance(0.3)
  const groups = Array.from({ length: hasQuad ? 6 : 8 }, () => {
    const group = random.integer(0, 0xffff).toString(16)
    return random.chance(0.2) ? group.toUpperCase().padStart(4, '0') : group
  })
  if (hasQuad) groups.push(anyIpv4(random))
  if (random.chance(0.5)) return groups.join(':')
  const from = random.integer(0, groups.length - (hasQuad ? 2 : 1))
  const to = random.integer(from + 1, groups.length - (hasQuad ? 1 : 0))
  return `${groups.slice(0, from).join(':')}::${groups.slice(to).join(':')}`
}

describe('against ipaddr.js', () => {
  test('any address has the same bits', () => {
    const random = new SeededRandom(4)
    for (let i = 0; i < 5_000; i += 1) {
      const text = random.chance(0.3) ? anyIpv4(random) : anyIpv6(random)
      if (IPV4_COMPATIBLE.test(text)) continue
      const address = parseIpAddress(text)
      expect(address, text).not.toBeNull()
      expect(address, text).toEqual(theirs(text))
    }
  })

  test('any block has the same first and last address', () => {
    const random = new SeededRandom(5)
    for (let i = 0; i < 2_000; i += 1) {
      const isIpv4 = random.chance(0.5)
      const prefix = random.integer(0, isIpv4 ? 32 : 128)
      const address = isIpv4 ? anyIpv4(random) : anyIpv6(random)
      if (IPV4_COMPATIBLE.test(address)) continue
      const text = `${address}/${prefix}`
      const kind = isIpv4 ? ipaddr.IPv4 : ipaddr.IPv6
      const first = kind.networkAddressFromCIDR(text).toString()
      const last = kind.broadcastAddressFromCIDR(text).toString()
      expect(parseIpRange(`${first}/${prefix}`), text).toEqual({
        family: isIpv4 ? 4 : 6,
        first: theirs(first)?.value,
        last: theirs(last)?.value,
      })
      const hasHostBits = theirs(address)?.value !== theirs(first)?.value
      expect(parseIpRange(text) === null, text).toBe(hasHostBits)
    }
  })

  test('an IPv4-compatible address is not an IPv4-mapped one', () => {
    expect(theirs('::1.2.3.4')?.value).toBe(0xffff_0102_0304n)
    expect(parseIpAddress('::1.2.3.4')?.value).toBe(0x0102_0304n)
  })

  test.each([
    ['fe80::1%eth0', 'a zone id names an interface of this machine'],
    ['::1%1', 'a zone id names an interface of this machine'],
    ['127.1', 'fewer than four octets'],
    ['2130706433', 'one number'],
    ['0x7f.0.0.1', 'hexadecimal'],
    ['0177.0.0.1', 'octal'],
    ['127.0.0.01', 'octal'],
  ])('%s is an address to ipaddr.js but not here: %s', (text) => {
    expect(theirs(text)).not.toBeNull()
    expect(parseIpAddress(text)).toBeNull()
  })

  test.each([
    '',
    ':',
    '1',
    '1.2.3.4.5',
    '1.2.3.256',
    '::1::',
    '1:2:3:4:5:6:7',
    'g::',
    '[::1]',
    '::1.2.3',
    '1.2.3.4%a',
  ])('%j is no address', (text) => {
    if (text !== '1') expect(theirs(text)).toBeNull()
    expect(parseIpAddress(text)).toBeNull()
  })
})
