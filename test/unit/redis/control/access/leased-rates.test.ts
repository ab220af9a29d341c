import { array, assert, asyncProperty, integer, nat, record, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RateLimit } from '../../../../../src/domain/access/token-terms.ts'
import { LeasedRates } from '../../../../../src/redis/control/access/leased-rates.ts'

const TOKEN = { team: 'default', name: 'ci' }

/** A bucket that drips, as Redis would keep it: another form of the same rule. */
function aBucket(limit: RateLimit, now: () => number) {
  let [filled, atMs] = [limit.burst, 0]
  return (wanted: number) => {
    filled = Math.min(limit.burst, filled + ((now() - atMs) * limit.requestsPerSecond) / 1_000)
    atMs = now()
    const taken = Math.min(wanted, Math.floor(filled + 1e-6))
    filled -= taken
    const perMs = limit.requestsPerSecond / 1_000
    const left = Math.max(0, Math.floor(filled + 1e-6))
    const waitMs = left > 0 ? 0 : (1 - filled) / perMs
    return { taken, left, waitMs, fullMs: (limit.burst - filled) / perMs }
  }
}

function someProcesses(count: number, limit: RateLimit) {
  let nowMs = 0
  const take = aBucket(limit, () => nowMs)
  let asked = 0
  const processes = Array.from(
    { length: count },
    () =>
      new LeasedRates({
        clock: { monotonicMs: () => nowMs },
        take: (_token, { wanted }) => {
          asked += 1
          return Promise.resolve(take(wanted))
        },
      }),
  )
  return {
    asked: () => asked,
    pass: (ms: number) => void (nowMs += ms),
    admit: async (process = 0) => (await processes[process]?.admit(TOKEN, limit)) ?? null,
  }
}

describe('a rate limit over several processes', () => {
  it('lets in no more than it says, and a slice for each process', async () => {
    const arrivals = array(tuple(nat(2), nat(400)), { minLength: 50, maxLength: 200 })
    const limits = record({
      requestsPerSecond: integer({ min: 1, max: 200 }),
      burst: integer({ min: 1, max: 200 }),
    })
    await assert(
      asyncProperty(limits, arrivals, async (limit, times) => {
        const { admit, pass } = someProcesses(3, limit)
        const slice = Math.max(1, Math.floor(Math.min(limit.burst, limit.requestsPerSecond) / 10))
        let [passedMs, admitted] = [0, 0]
        for (const [process, ms] of times) {
          pass(ms)
          passedMs += ms
          if ((await admit(process))?.isAdmitted === true) admitted += 1
          expect(admitted).toBeLessThanOrEqual(
            limit.burst + (passedMs * limit.requestsPerSecond) / 1_000 + 3 * slice,
          )
        }
      }),
      { numRuns: 40 },
    )
  })

  it('refuses nobody who keeps to it', async () => {
    const { admit, pass } = someProcesses(3, { requestsPerSecond: 10, burst: 10 })
    for (let i = 0; i < 300; i += 1) {
      expect((await admit(i % 3))?.isAdmitted).toBe(true)
      pass(101)
    }
  })

  it('says when one more may come, and is right', async () => {
    const { admit, pass } = someProcesses(1, { requestsPerSecond: 2, burst: 3 })
    for (let i = 0; i < 3; i += 1) expect(await admit()).toMatchObject({ isAdmitted: true, remaining: 2 - i })
    const refused = await admit()
    expect(refused).toMatchObject({ isAdmitted: false, remaining: 0, waitMs: 500, fullMs: 1_500 })
    pass(499)
    expect(await admit()).toMatchObject({ isAdmitted: false, waitMs: 1 })
    pass(1)
    expect(await admit()).toMatchObject({ isAdmitted: true })
  })

  it('asks Redis seldom: neither for each request, nor for those refused', async () => {
    const { admit, asked } = someProcesses(1, { requestsPerSecond: 1_000, burst: 1_000 })
    for (let i = 0; i < 1_000; i += 1) await admit()
    // 1, 2, 4 … 64, and then a tenth of the burst at a time.
    expect(asked()).toBe(16)
    for (let i = 0; i < 1_000; i += 1) expect((await admit())?.isAdmitted).toBe(false)
    expect(asked()).toBe(17)
  })

  it('forgets what it has not used of a slice within a second', async () => {
    const { admit, asked, pass } = someProcesses(1, { requestsPerSecond: 100, burst: 100 })
    for (let i = 0; i < 4; i += 1) await admit()
    // 1, 2 and 4 were taken: three are left.
    expect(asked()).toBe(3)
    pass(999)
    await admit()
    expect(asked()).toBe(3)
    pass(1)
    await admit()
    expect(asked()).toBe(4)
  })

  it('while Redis is away, limits nobody', async () => {
    const take = () => Promise.reject(new Error('away'))
    const rates = new LeasedRates({ clock: { monotonicMs: () => 0 }, take })
    expect(await rates.admit(TOKEN, { requestsPerSecond: 1, burst: 1 })).toMatchObject({ isAdmitted: true })
  })

  it('those that come at once are answered by few leases', async () => {
    const { admit, asked } = someProcesses(1, { requestsPerSecond: 100, burst: 100 })
    const all = await Promise.all(Array.from({ length: 150 }, () => admit()))
    expect(all.filter((one) => one?.isAdmitted === true)).toHaveLength(100)
    expect(asked()).toBeLessThan(5)
  })
})
