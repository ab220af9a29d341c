import { expect, it } from 'vitest'
import { CronQuota } from '../../../../src/controller/crons/cron-quota.ts'
import type { HttpCron, TeamSettings } from '../../../../src/controller/kinds.ts'
import { CRON_BYTES_PER_TEAM_MAX } from '../../../../src/domain/limits.ts'
import { quotasOf } from '../../../../src/domain/quotas.ts'
import { transformCron } from '../../../../src/kubernetes/informer/cron-transform.ts'
import { Indexer } from '../../../../src/kubernetes/informer/indexer.ts'
import { quietLogger } from '../../../support/quiet.ts'

const QUOTAS = quotasOf({ crons: 3 })

function setUp() {
  const crons = new Indexer<HttpCron>(quietLogger, {})
  const teams = new Indexer<TeamSettings>(quietLogger, {})
  const enqueued: string[] = []
  const seen = { overQuota: 0 }
  let version = 0

  function cron(name: string, second: number, { team = 'shop', bytes = 0 } = {}): HttpCron {
    version += 1
    const createdAt = new Date(Date.UTC(2026, 10, 22, 9, 0, second)).toISOString()
    return {
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'HttpCron',
      metadata: {
        namespace: team,
        name,
        uid: `${team}/${name}`,
        resourceVersion: String(version),
        creationTimestamp: createdAt,
      },
      spec: { payload: 'x'.repeat(10) },
      ...(bytes === 0 ? {} : { leftOutBytes: bytes }),
    } as unknown as HttpCron
  }
  const put = (...args: Parameters<typeof cron>): HttpCron => {
    const made = cron(...args)
    crons.put(made)
    return made
  }
  const start = () =>
    new CronQuota({
      crons,
      teams,
      quotas: QUOTAS,
      enqueue: (key) => void enqueued.push(key),
      count: (overQuota) => {
        seen.overQuota = overQuota
      },
    })
  const setQuota = (team: string, quotas: object): void => {
    version += 1
    teams.put({
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'TeamSettings',
      metadata: { namespace: team, name: 'team', uid: team, resourceVersion: String(version) },
      spec: { quotas },
    } as unknown as TeamSettings)
  }
  return { crons, enqueued, seen, put, start, setQuota }
}

it('has quota for the oldest, in whatever order they arrive', () => {
  const { put, start, seen } = setUp()
  const [fourth, first] = [put('d', 4), put('a', 1)]
  const quota = start()
  const [third, second, other] = [put('c', 3), put('b', 2), put('z', 9, { team: 'other' })]
  expect([first, second, third, other].map((cron) => quota.obstacle(cron))).toEqual([null, null, null, null])
  expect(quota.obstacle(fourth)).toBe('The quota of the team is 3 crons, and it has that many older ones.')
  expect(seen.overQuota).toBe(1)
})

it('enqueues crons that now fit the quota or no longer do, and no others', () => {
  const { put, start, crons, enqueued, seen } = setUp()
  const all = [1, 2, 3, 4, 5].map((second) => put(`c${second}`, second))
  const quota = start()
  expect(enqueued).toEqual([])
  crons.delete(all[1] as HttpCron)
  expect(enqueued).toEqual(['shop/c4'])
  expect(quota.obstacle(all[3] as HttpCron)).toBeNull()
  expect(seen.overQuota).toBe(1)
  put('older', 0)
  expect(enqueued.slice(1).toSorted()).toEqual(['shop/c4', 'shop/older'])
  expect(seen.overQuota).toBe(2)
})

it('follows the quota of the team, which may lower and not raise it', () => {
  const { put, start, enqueued, seen, setQuota } = setUp()
  const all = [1, 2, 3, 4].map((second) => put(`c${second}`, second))
  const quota = start()
  setQuota('shop', { crons: 1 })
  expect(enqueued.toSorted()).toEqual(['shop/c2', 'shop/c3'])
  expect(seen.overQuota).toBe(3)
  setQuota('shop', { crons: 1000 })
  expect(all.map((cron) => quota.obstacle(cron) === null)).toEqual([true, true, true, false])
})

it('bounds the bytes of a team', () => {
  const { put, start } = setUp()
  const half = Math.floor(CRON_BYTES_PER_TEAM_MAX / 2)
  const [first, second, third] = [
    put('a', 1, { bytes: half }),
    put('b', 2, { bytes: half }),
    put('c', 3, { bytes: 2 }),
  ]
  const quota = start()
  expect([quota.obstacle(first), quota.obstacle(second)]).toEqual([null, null])
  expect(quota.obstacle(third)).toContain('exceed 33554432 bytes')
})

it('forgets a deleted cron and its bytes', () => {
  const { put, start, crons, seen } = setUp()
  const all = [1, 2, 3, 4].map((second) => put(`c${second}`, second))
  start()
  for (const cron of all) crons.delete(cron)
  expect(seen.overQuota).toBe(0)
})

it('leaves long payloads and headers out of a copy, and keeps their length', () => {
  const whole = (spec: object) => ({ ...setUp().put('a', 1), spec }) as unknown as HttpCron
  const large = whole({ url: 'u', payload: 'ä'.repeat(1000), headers: { a: 'b' } })
  const copy = transformCron(large) as HttpCron
  expect(copy.spec).toEqual({ url: 'u' })
  expect(copy.leftOutBytes).toBeGreaterThan(2000)
  const small = whole({ url: 'u', payload: 'short' })
  expect(transformCron(small)).toBe(small)
})
