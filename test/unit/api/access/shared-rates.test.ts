import { describe, expect, test } from 'vitest'
import { countRates } from '../../../../src/api/access/shared-rates.ts'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { NO_TERMS, type OwnRateLimit, type TokenRate } from '../../../../src/domain/access/token-terms.ts'
import type { RateAdmission, TokenRates } from '../../../../src/ports/access/token-rates.ts'

const ROOT: TokenRate = { name: 'root', requestsPerSecond: 10, burst: 20 }
const SLOW = { requestsPerSecond: 2, burst: 3 }

const ratesOf = (name: string, rateLimit: OwnRateLimit | null) =>
  tokenPrincipal('shop', name, { ...NO_TERMS, rateLimit }).rates

/** Buckets that nobody fills again. */
function buckets(answer: (admission: RateAdmission) => ReturnType<TokenRates['admit']> = (one) => one) {
  const used = new Map<string, number>()
  const rates: TokenRates = {
    admit: ({ team, name }, { burst }) => {
      const key = `${team}/${name}`
      const taken = used.get(key) ?? 0
      const isAdmitted = taken < burst
      if (isAdmitted) used.set(key, taken + 1)
      return answer({
        isAdmitted,
        remaining: Math.max(0, burst - taken - 1),
        fullMs: 0,
        waitMs: isAdmitted ? 0 : 9,
      })
    },
  }
  return { used, rates }
}

describe('the rate limits that a token counts for', () => {
  test('are none without a limit, and its own', () => {
    expect(ratesOf('ci', null)).toEqual([])
    expect(ratesOf('ci', SLOW)).toEqual([{ name: 'ci', ...SLOW }])
  })

  test("are its maker's as well, and its own alone where that is lower", () => {
    expect(ratesOf('ci', { ...SLOW, sharedWith: [ROOT] })).toEqual([ROOT, { name: 'ci', ...SLOW }])
    expect(ratesOf('ci', { requestsPerSecond: 10, burst: 20, sharedWith: [ROOT] })).toEqual([ROOT])
    const sameRate = { requestsPerSecond: 10, burst: 19, sharedWith: [ROOT] }
    expect(ratesOf('ci', sameRate)).toHaveLength(2)
  })
})

describe('a request', () => {
  const limits: readonly TokenRate[] = [ROOT, { name: 'ci', ...SLOW }]

  test.each<[string, Parameters<typeof buckets>[0]]>([
    ['at once', (one) => one],
    ['once Redis was asked', (one) => Promise.resolve(one)],
  ])('counts for all of them, and is told of the one that leaves least, %s', async (_when, answer) => {
    const { used, rates } = buckets(answer)
    const counted = await countRates({ team: 'shop', limits }, rates)
    expect(counted).toMatchObject({ limit: { name: 'ci' }, admission: { isAdmitted: true, remaining: 2 } })
    expect([...used]).toEqual([
      ['shop/ci', 1],
      ['shop/root', 1],
    ])
  })

  test('beyond its own limit does not count for the others', async () => {
    const { used, rates } = buckets()
    for (let at = 0; at < 10; at += 1) await countRates({ team: 'shop', limits }, rates)
    expect(await countRates({ team: 'shop', limits }, rates)).toMatchObject({
      limit: { name: 'ci' },
      admission: { isAdmitted: false },
    })
    expect(used.get('shop/root')).toBe(3)
  })

  test('of a hundred tokens that one has made is within the limit of that one', async () => {
    const { rates } = buckets()
    let admitted = 0
    for (let at = 0; at < 100; at += 1) {
      const own = [ROOT, { name: `child-${at}`, ...SLOW }]
      const counted = await countRates({ team: 'shop', limits: own }, rates)
      if (counted?.admission.isAdmitted === true) admitted += 1
      else expect(counted?.limit.name).toBe('root')
    }
    expect(admitted).toBe(ROOT.burst)
  })
})
