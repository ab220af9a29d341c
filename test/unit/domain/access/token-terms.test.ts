import { describe, expect, it } from 'vitest'
import { excessOf, tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { isUnlimited, NO_TERMS, type TokenTerms } from '../../../../src/domain/access/token-terms.ts'

const terms = (other: Partial<TokenTerms>): TokenTerms => ({ ...NO_TERMS, ...other })
const permissionsWith = (...scopes: TokenTerms['scopes']) =>
  [...tokenPrincipal('t', 'n', terms({ scopes })).permissions].toSorted()

describe('the permissions of a token', () => {
  it('are those of its scopes together', () => {
    expect(permissionsWith('push')).toEqual(['push'])
    expect(permissionsWith('read')).toEqual(['read'])
    expect(permissionsWith('push', 'read')).toEqual(['push', 'read'])
    expect(permissionsWith('operate')).toEqual(['operate', 'payloads', 'purge', 'read'])
  })

  it('are all, with the scope admin and without any', () => {
    const all = ['admin', 'edit', 'operate', 'payloads', 'purge', 'push', 'read']
    expect(permissionsWith('admin')).toEqual(all)
    expect(permissionsWith()).toEqual(all)
  })
})

describe('what a token may give to another', () => {
  const LIMITED = terms({
    queues: ['a', 'b'],
    expiresAtMs: 1_000,
    rateLimit: { requestsPerSecond: 10, burst: 20 },
  })
  const maker = tokenPrincipal('t', 'maker', LIMITED)

  it('is all that it has, and less', () => {
    expect(excessOf(tokenPrincipal('t', 'n', NO_TERMS), NO_TERMS)).toBeNull()
    expect(excessOf(maker, LIMITED)).toBeNull()
    expect(
      excessOf(maker, {
        scopes: ['push'],
        queues: ['b'],
        expiresAtMs: 999,
        rateLimit: { requestsPerSecond: 1, burst: 20 },
      }),
    ).toBeNull()
  })

  it.each<[string, Partial<TokenTerms>]>([
    ['queues', { queues: null }],
    ['queues', { queues: ['a', 'c'] }],
    ['expires_at', { expiresAtMs: null }],
    ['expires_at', { expiresAtMs: 1_001 }],
    ['rate_limit', { rateLimit: null }],
    ['rate_limit', { rateLimit: { requestsPerSecond: 11, burst: 20 } }],
    ['rate_limit', { rateLimit: { requestsPerSecond: 10, burst: 21 } }],
  ])('is not more %s than its own: %j', (excess, change) => {
    expect(excessOf(maker, { ...LIMITED, ...change })).toBe(excess)
  })

  it('is not a scope that it lacks', () => {
    const operator = tokenPrincipal('t', 'n', terms({ scopes: ['operate'] }))
    expect(excessOf(operator, terms({ scopes: ['read'] }))).toBeNull()
    expect(excessOf(operator, terms({ scopes: ['push'] }))).toBe('scopes')
    expect(excessOf(operator, NO_TERMS)).toBe('scopes')
  })
})

it('each term limits a token', () => {
  expect(isUnlimited(NO_TERMS)).toBe(true)
  const each: Array<Partial<TokenTerms>> = [
    { scopes: ['admin'] },
    { queues: ['a'] },
    { expiresAtMs: 1 },
    { rateLimit: { requestsPerSecond: 1, burst: 1 } },
  ]
  for (const one of each) expect(isUnlimited(terms(one))).toBe(false)
})
