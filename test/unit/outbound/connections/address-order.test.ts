import { expect, test } from 'vitest'
import { ADDRESSES_TRIED_MAX } from '../../../../src/outbound/bounds.ts'
import { AddressOrder } from '../../../../src/outbound/connections/address-order.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const V4 = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
const V6 = ['2001:db8::1', '2001:db8::2']

function error(code: string): Error {
  return Object.assign(new Error(code), { code })
}

test('families take turns, the first one given in front', () => {
  const order = new AddressOrder(createFakeClock())
  expect(order.of([...V4, ...V6])).toEqual([V4[0], V6[0], V4[1], V6[1], V4[2]])
  expect(order.of([...V6, ...V4])).toEqual([V6[0], V4[0], V6[1], V4[1], V4[2]])
  expect(order.of(V4)).toEqual(V4)
})

test('of many, so many of both families are tried', () => {
  const order = new AddressOrder(createFakeClock())
  const many = Array.from({ length: 20 }, (_, at) => `192.0.2.${at}`)
  const tried = order.of([...many, ...V6])
  expect(tried).toHaveLength(ADDRESSES_TRIED_MAX)
  expect(tried).toEqual(expect.arrayContaining(V6))
  expect(order.of(many)).toEqual(many.slice(0, ADDRESSES_TRIED_MAX))
})

test.each(['ENETUNREACH', 'EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
  'a family that failed by %s is not tried first for a minute',
  async (code) => {
    const clock = createFakeClock()
    const order = new AddressOrder(clock)
    order.note('2001:db8::9', error(code))
    expect(order.of([...V6, ...V4])[0]).toBe(V4[0])
    expect(order.of(V6)).toEqual(V6)
    await clock.advance(59_999)
    expect(order.of([...V6, ...V4])[0]).toBe(V4[0])
    await clock.advance(1)
    expect(order.of([...V6, ...V4])[0]).toBe(V6[0])
  },
)

test('what says nothing of a route changes no order', () => {
  const order = new AddressOrder(createFakeClock())
  order.note('2001:db8::9', error('ECONNREFUSED'))
  order.note('192.0.2.9', error('EADDRNOTAVAIL'))
  expect(order.of([...V6, ...V4])[0]).toBe(V6[0])
  expect(order.of([...V4, ...V6])[0]).toBe(V4[0])
})

test('without a route to both, the first one given stays in front', () => {
  const order = new AddressOrder(createFakeClock())
  for (const address of ['2001:db8::9', '192.0.2.9']) order.note(address, error('ENETUNREACH'))
  expect(order.of([...V6, ...V4])[0]).toBe(V6[0])
})
