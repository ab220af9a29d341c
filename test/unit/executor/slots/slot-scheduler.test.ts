import { describe, expect, test } from 'vitest'
import { NOTHING_CLAIMED, type SlotScheduler } from '../../../../src/executor/slots/slot-scheduler.ts'
import {
  createRequester,
  fill,
  jobsOf,
  MIB,
  mostOf,
  reopen,
  setUpScheduler,
  type TestRequester,
} from './scheduler-fixture.ts'

describe('a grant', () => {
  test('counts what other claims may bring as held by the same team', () => {
    const { scheduler, total } = setUpScheduler({ concurrency: 20 })
    const requesters = Array.from({ length: 4 }, (_, shard) => createRequester(shard))
    scheduler.pause('ticks')
    for (const requester of requesters) scheduler.request(requester)
    scheduler.resume('ticks')
    const brought = requesters.reduce((sum, { open }) => sum + mostOf(open, 'a', '1'), 0)
    expect(brought).toBeLessThan(total)
    for (const { open } of requesters)
      scheduler.bind(open, { work: jobsOf('a', mostOf(open, 'a', '1')), bytesWanted: null })
    expect(scheduler.busy).toBe(brought)
  })

  test('is at most what one queue of the shard may take, so that others need not wait', () => {
    const { scheduler } = setUpScheduler({ concurrency: 50 })
    const [full, other] = [createRequester(0), createRequester(1)]
    const [holds] = fill(scheduler, full, [['a', '1']])
    scheduler.bind(reopen(scheduler, full), NOTHING_CLAIMED)
    scheduler.requestMore(full, ['a'])
    const before = full.grants.length
    scheduler.free((holds ?? []).splice(0, 3))
    expect(full.grants.length).toBe(before + 1)
    scheduler.bind(full.open, { work: jobsOf('a', 1, { queue: '1' }), bytesWanted: null })
    scheduler.requestMore(full, [])
    expect(full.open.slots).toBeLessThanOrEqual(2)
    scheduler.request(other)
    expect(other.grants).toHaveLength(1)
  })

  test('lists at most 128 teams, those that hold most', () => {
    const { scheduler } = setUpScheduler({ concurrency: 400 })
    const requester = createRequester(0)
    for (let team = 0; team < 150; team += 1) {
      scheduler.request(requester)
      scheduler.bind(requester.open, {
        work: jobsOf(`t${team}`, team < 60 ? 1 : 3, { queue: String(team) }),
        bytesWanted: null,
      })
    }
    const [holds] = fill(scheduler, requester, [['t149', '149']])
    expect(holds?.length).toBeGreaterThan(0)
    fill(scheduler, requester, [['t0', '0']])
    scheduler.request(requester)
    const { teamHeadroom } = requester.open
    expect(teamHeadroom.size).toBeLessThanOrEqual(128)
    if (teamHeadroom.size === 128) expect([...teamHeadroom.keys()]).toContain('t149')
  })

  test('that expires is available to others; its jobs take what is available when they come', () => {
    const { scheduler, total } = setUpScheduler({ concurrency: 10 })
    const [silent, other] = [createRequester(0), createRequester(1)]
    scheduler.request(silent)
    const { slots } = silent.open
    expect(slots).toBe(total)
    scheduler.request(other)
    expect(other.grants).toEqual([])
    scheduler.expire(silent.open)
    expect(other.open.slots).toBe(total)
    const held = scheduler.bind(other.open, { work: jobsOf('b', total - 2), bytesWanted: null })
    const holds = scheduler.bind(silent.open, { work: jobsOf('a', 5), bytesWanted: null })
    expect(holds).toHaveLength(2)
    scheduler.free([...held, ...holds])
    expect(scheduler.busy).toBe(0)
  })

  test('cannot be bound twice', () => {
    const { scheduler } = setUpScheduler()
    const requester = createRequester(0)
    scheduler.request(requester)
    scheduler.bind(requester.open, NOTHING_CLAIMED)
    expect(() => scheduler.bind(requester.open, NOTHING_CLAIMED)).toThrow('bound twice')
  })

  test('waits while the scheduler is paused', () => {
    const { scheduler } = setUpScheduler()
    const requester = createRequester(0)
    scheduler.pause('ticks')
    scheduler.request(requester)
    expect(requester.grants).toEqual([])
    scheduler.resume('ticks')
    expect(requester.grants).toHaveLength(1)
  })

  test('waits until the last reason to pause is gone', () => {
    const { scheduler } = setUpScheduler()
    const requester = createRequester(0)
    scheduler.pause('ticks')
    scheduler.pause('local_fault')
    scheduler.request(requester)
    scheduler.resume('ticks')
    expect(requester.grants).toEqual([])
    scheduler.resume('local_fault')
    expect(requester.grants).toHaveLength(1)
  })
})

describe('the order', () => {
  /** Lets all request the only slot, time after time. Answers how often each got it. */
  const compete = (scheduler: SlotScheduler, requesters: readonly TestRequester[], times: number) => {
    const before = requesters.map(({ grants }) => grants.length)
    scheduler.pause('ticks')
    for (let turn = 0; turn < times; turn += 1) {
      for (const requester of requesters) scheduler.request(requester)
      const seen = requesters.map(({ grants }) => grants.length)
      scheduler.resume('ticks')
      scheduler.pause('ticks')
      const chosen = requesters.find(({ grants }, i) => grants.length > (seen[i] ?? 0))
      if (chosen === undefined) throw new Error('nobody was granted the slot')
      const work = jobsOf(`t${chosen.shard}`, 1, { queue: String(chosen.shard) })
      scheduler.free(scheduler.bind(chosen.open, { work, bytesWanted: null }))
    }
    return requesters.map(({ grants }, i) => grants.length - (before[i] ?? 0))
  }

  test('goes by the jobs that each shard has started, whoever requests first', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1, reserve: 0 })
    expect(compete(scheduler, [createRequester(0), createRequester(1), createRequester(2)], 300)).toEqual([
      100, 100, 100,
    ])
  })

  test('gives no credit for being idle', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1, reserve: 0 })
    const [busy, rested] = [createRequester(0), createRequester(1)]
    compete(scheduler, [busy], 100)
    expect(compete(scheduler, [busy, rested], 20)).toEqual([10, 10])
    scheduler.withdraw(rested)
    compete(scheduler, [busy], 100)
    expect(compete(scheduler, [busy, rested], 20)).toEqual([10, 10])
  })
})

describe('a crowded shard', () => {
  test('waits until its team has headroom', () => {
    const { scheduler } = setUpScheduler({ concurrency: 50 })
    const [full, other] = [createRequester(0), createRequester(1)]
    const [holds] = fill(scheduler, other, [
      ['a', '1'],
      ['a', '2'],
      ['a', '3'],
    ])
    scheduler.bind(reopen(scheduler, full), NOTHING_CLAIMED)
    scheduler.requestMore(full, ['a'])
    expect(full.grants).toHaveLength(1)
    scheduler.free((holds ?? []).splice(0, 2))
    expect(full.grants).toHaveLength(2)
    expect(mostOf(full.open, 'a', '4')).toBeGreaterThanOrEqual(1)
  })

  test('waits for a queue when its team has headroom', () => {
    const { scheduler } = setUpScheduler({ concurrency: 100 })
    const requester = createRequester(0)
    const [sibling, hung] = fill(scheduler, requester, [
      ['a', '2'],
      ['a', '1'],
    ])
    scheduler.free(sibling ?? [])
    fill(scheduler, requester, [['a', '1']])
    scheduler.bind(reopen(scheduler, requester), NOTHING_CLAIMED)
    const before = requester.grants.length
    scheduler.requestMore(requester, ['a'])
    expect(requester.grants).toHaveLength(before)
    scheduler.free((hung ?? []).splice(0, 5))
    expect(requester.grants).toHaveLength(before + 1)
  })

  test('gets a grant at once when it requests any slots', () => {
    const { scheduler } = setUpScheduler({ concurrency: 50 })
    const requester = createRequester(0)
    fill(scheduler, requester, [['a', '1']])
    scheduler.bind(reopen(scheduler, requester), NOTHING_CLAIMED)
    scheduler.requestMore(requester, ['a'])
    const before = requester.grants.length
    scheduler.request(requester)
    expect(requester.grants).toHaveLength(before + 1)
    expect(mostOf(requester.open, 'b', '9')).toBeGreaterThanOrEqual(1)
  })
})

describe('bytes', () => {
  test('are granted at once to a shard that found a job larger than its grant', () => {
    const { scheduler } = setUpScheduler({ bytes: 64 * MIB })
    const requester = createRequester(0)
    const grant = reopen(scheduler, requester)
    expect(grant.bytes).toBeLessThan(MIB)
    scheduler.bind(grant, { work: [], bytesWanted: 1_500_000 })
    expect(reopen(scheduler, requester).bytes).toBe(1_500_000)
    scheduler.bind(requester.open, { work: jobsOf('a', 1, { bytes: 1_500_000 }), bytesWanted: null })
    expect(reopen(scheduler, requester).bytes).toBeLessThan(1_500_000 * 1.5)
  })

  test('are kept for the shard that waits for them, while others wait', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1_000, bytes: 64 * MIB })
    const [large, small] = [createRequester(0), createRequester(1)]
    scheduler.bind(reopen(scheduler, large), { work: [], bytesWanted: MIB })
    // What is available then is too little for the large job, and enough for a small one.
    const held = scheduler.bind(reopen(scheduler, small), {
      work: jobsOf('b', 64, { bytes: 500_000 }),
      bytesWanted: null,
    })
    scheduler.request(large)
    scheduler.request(small)
    expect([large.grants.length, small.grants.length]).toEqual([1, 1])
    scheduler.free(held.splice(0, 1))
    expect(large.grants).toHaveLength(2)
    expect(large.open.bytes).toBe(MIB)
  })

  test('of a job larger than the whole budget are granted when nothing else is held', () => {
    const { scheduler } = setUpScheduler({ bytes: 2 * MIB })
    const [large, small] = [createRequester(0), createRequester(1)]
    scheduler.bind(reopen(scheduler, large), { work: [], bytesWanted: 5 * MIB })
    const held = scheduler.bind(reopen(scheduler, small), { work: jobsOf('b', 1), bytesWanted: null })
    scheduler.request(large)
    expect(large.grants).toHaveLength(1)
    scheduler.free(held)
    expect(large.open.bytes).toBe(5 * MIB)
    const holds = scheduler.bind(large.open, { work: jobsOf('a', 1, { bytes: 5 * MIB }), bytesWanted: null })
    expect(holds).toHaveLength(1)
    scheduler.free(holds)
    expect(scheduler.busy).toBe(0)
  })
})
