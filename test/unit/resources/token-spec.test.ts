import { expect, it } from 'vitest'
import { NO_TERMS } from '../../../src/domain/access/token-terms.ts'
import { specOfToken, tokenOfSpec } from '../../../src/resources/token-spec.ts'
import { anApiToken } from '../../support/principals.ts'

const FULL = anApiToken('ci', {
  prefix: 'pun_4fJk',
  description: 'CI',
  terms: {
    scopes: ['push', 'operate'],
    queues: ['Mails: out'],
    expiresAtMs: Date.UTC(2027, 0, 31),
    rateLimit: { requestsPerSecond: 5, burst: 9 },
  },
})

const SHARED = anApiToken('shared', {
  terms: {
    ...NO_TERMS,
    rateLimit: {
      requestsPerSecond: 5,
      burst: 9,
      sharedWith: [{ name: 'maker', requestsPerSecond: 7, burst: 9 }],
    },
  },
})

it('a token is in its spec what it was before', () => {
  for (const token of [FULL, SHARED, anApiToken('free')]) {
    expect(tokenOfSpec('default', token.name, specOfToken(token))).toEqual(token)
  }
  expect(specOfToken(FULL)).toMatchObject({
    scopes: ['Push', 'Operate'],
    expiresAt: '2027-01-31T00:00:00.000Z',
  })
  expect(specOfToken(anApiToken('free'))).toEqual({ sha256: '0'.repeat(64) })
})

it('an expiry that is no time has passed', () => {
  expect(tokenOfSpec('default', 'ci', { sha256: '0', expiresAt: 'never' }).terms.expiresAtMs).toBe(0)
})

it('without a burst, as many may come at once as in a second', () => {
  const { terms } = tokenOfSpec('default', 'ci', { sha256: '0', rateLimit: { requestsPerSecond: 7 } })
  expect(terms.rateLimit).toEqual({ requestsPerSecond: 7, burst: 7 })
})
