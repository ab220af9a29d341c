import { expect, test } from 'vitest'
import { type Jwt, readToken } from '../../../../src/kubernetes/access/jwt.ts'
import { holderNamed, TokenLanes } from '../../../../src/kubernetes/access/token-lanes.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { madeUp } from '../../../support/token-signer.ts'

const jwt = (claims: object = {}, kid = 'k') =>
  readToken(madeUp({ iss: 'i', aud: ['a'], sub: 'ann', ...claims }, { kid })) as Jwt
const OPEN = { origin: 'open', address: '10.0.0.1' } as const

test('a token that looks like one that was good is no unknown one, and its subject has attempts at its address', () => {
  const lanes = new TokenLanes(createFakeClock())
  const unknown = { lane: 'unknown', taker: 'address 10.0.0.1', holder: '10.0.0.1' }
  expect(lanes.standingOf(jwt(), OPEN)).toEqual(unknown)
  lanes.note(jwt())
  const again = lanes.standingOf(jwt({ exp: 7, jti: 'x' }), OPEN)
  expect(again).toMatchObject({ lane: 'alike' })
  const elsewhere = lanes.standingOf(jwt(), { ...OPEN, address: '10.0.0.2' })
  expect(elsewhere.lane).toBe('alike')
  expect(elsewhere.taker).not.toBe(again.taker)
  expect(elsewhere.holder).not.toBe(again.holder)
  const alike = lanes.standingOf(jwt({ sub: 'bob' }), OPEN)
  expect(alike).toMatchObject({ lane: 'alike', holder: '10.0.0.1' })
  expect(new Set([again.taker, alike.taker, unknown.taker]).size).toBe(3)
  for (const other of [
    jwt({ iss: 'j', sub: 'b' }),
    jwt({ aud: 'b', sub: 'b' }),
    jwt({ sub: 'b' }, 'other'),
  ]) {
    expect(lanes.standingOf(other, OPEN)).toEqual(unknown)
  }
  expect(lanes.standingOf(null, OPEN)).toEqual(unknown)
})

test('a genuine token counts for what it is bound to, and holds a place of its namespace', () => {
  const lanes = new TokenLanes(createFakeClock())
  const genuine = { ...OPEN, origin: 'genuine' } as const
  const bound = (pod: string) =>
    lanes.standingOf(
      jwt({ sub: 'system:serviceaccount:shop:ci', 'kubernetes.io': { pod: { uid: pod } } }),
      genuine,
    )
  expect(bound('1')).toMatchObject({ lane: 'genuine', holder: 'shop' })
  expect(bound('1')).toEqual(bound('1'))
  expect(bound('1').taker).not.toBe(bound('2').taker)
  expect(lanes.standingOf(null, genuine)).toMatchObject({ lane: 'genuine', holder: '10.0.0.1' })
})

test('service accounts of a namespace are one holder, and a user is another than a namespace of its name', () => {
  expect(holderNamed('system:serviceaccount:shop:a')).toBe(holderNamed('system:serviceaccount:shop:b'))
  expect(holderNamed('shop')).not.toBe(holderNamed('system:serviceaccount:shop:b'))
})
