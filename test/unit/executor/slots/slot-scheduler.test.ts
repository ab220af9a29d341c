import { describe, expect, test } from 'vitest'
import type { HeldSlot, SlotGrant, SlotRequester } from '../../../../src/executor/slots/contender.ts'
import { NOTHING_CLAIMED, SlotScheduler } from '../../../../src/executor/slots/slot-scheduler.ts'
import { budgetBytes, reserveOf, newcomerSlotsOf } from '../../../../src/executor/slots/fair-share.ts'
import type { CallQuotas } from '../../../../src/ports/quotas.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { claimedJob } from '../executor-fixture.ts'

const SHARES = { team: 0.9, queue: 0.8 }
const MIB = 1024 * 1024

interface TestRequester extends SlotRequester {
  readonly grants: SlotGrant[]
  /** The grant that is open. */
  readonly open: SlotGrant
}

function createRequester(shard: number): TestRequester {
  const grants: SlotGrant[] = []
  return {
    shard,
    grants,
    granted: (grant) => grants.push(grant),
    get open() {
      const grant = grants.at(-1)
      if (grant === undefined) throw new Error('nothing was granted')
      return grant
    },
  }
}

function setUp(change: { concurrency?: number; reserve?: number; bytes?: number; quotas?: CallQuotas } = {}) {
  const clock = createFakeClock()
  const concurrency = change.concurrency ?? 50
  const newcomerSlots = newcomerSlotsOf(concurrency)
  const scheduler = new SlotScheduler({
    slots: concurrency + (change.reserve ?? reserveOf(concurrency, SHARES)),
    newcomerSlots,
    bytes: change.bytes ?? 1024 * MIB,
    shares: SHARES,
    clock,
    ...(change.quotas === undefined ? {} : { quotas: change.quotas }),
  })
  return { clock, scheduler, total: concurrency + reserveOf(concurrency, SHARES) }
}

let ids = 0
function jobsOf(team: string, count: number, change: { queue?: string; bytes?: number } = {}) {
  return Array.from({ length: count }, () => {
    ids += 1
    const { queue = '7', bytes = 1_000 } = change
    return claimedJob({
      jobId: ids,
      team,
      bytes,
      location: { queue, settingsHash: 'abcdefghijk', isLarge: false },
    })
  })
}

/** Jobs of one queue that a grant leaves room for. */
function mostOf(grant: SlotGrant, team: string, queue: string): number {
  return Math.min(
    grant.slots,
    grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom,
    grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom,
  )
}

/** Claims for these queues, in turn, until nothing more is brought; answers what is held of each. */
function fill(
  scheduler: SlotScheduler,
  requester: TestRequester,
  queues: ReadonlyArray<readonly [team: string, queue: string]>,
) {
  const holds: HeldSlot[][] = queues.map(() => [])
  for (let idle = 0, turn = 0; idle < 2 * queues.length; turn += 1) {
    const at = turn % queues.length
    const [team, queue] = queues[at] ?? ['', '']
    const before = requester.grants.length
    scheduler.request(requester)
    if (requester.grants.length === before) break
    const count = mostOf(requester.open, team, queue)
    idle = count === 0 ? idle + 1 : 0
    holds[at]?.push(
      ...scheduler.bind(requester.open, { work: jobsOf(team, count, { queue }), bytesWanted: null }),
    )
  }
  return holds
}

describe('a share', () => {
  test.each([1, 2, 3, 4, 10, 50, 100, 1_000, 20_000])('of a lone queue is all of %i', (concurrency) => {
    const { scheduler } = setUp({ concurrency })
    const [holds] = fill(scheduler, createRequester(0), [['a', '1']])
    expect(holds?.length).toBeGreaterThanOrEqual(concurrency)
    expect(holds?.length).toBeLessThanOrEqual(concurrency + Math.max(1, concurrency * 0.02))
  })

  test('of a lone team of two queues is all of the concurrency too', () => {
    const { scheduler } = setUp({ concurrency: 100 })
    const [first, second] = fill(scheduler, createRequester(0), [
      ['a', '1'],
      ['a', '2'],
    ])
    expect((first?.length ?? 0) + (second?.length ?? 0)).toBeGreaterThanOrEqual(100)
  })

  test('leaves room for whoever comes: a team, a queue of the same team, and more teams after them', () => {
    const { scheduler } = setUp({ concurrency: 50 })
    const requester = createRequester(0)
    fill(scheduler, requester, [['a', '1']])
    const sibling = fill(scheduler, requester, [['a', '2']])[0]?.length ?? 0
    expect(sibling).toBeGreaterThanOrEqual(1)
    expect(fill(scheduler, requester, [['b', '3']])[0]?.length).toBeGreaterThanOrEqual(4)
    expect(fill(scheduler, requester, [['c', '4']])[0]?.length).toBeGreaterThanOrEqual(1)
  })

  test('leaves a seat each to many who come after teams that took all they could', () => {
    const { scheduler } = setUp({ concurrency: 1_000 })
    const requester = createRequester(0)
    const queuesOf = (team: string) => [1, 2, 3, 4].map((queue) => [team, `${team}${queue}`] as const)
    for (const team of ['a', 'b', 'c', 'd']) fill(scheduler, requester, queuesOf(team))
    for (let team = 0; team < newcomerSlotsOf(1_000) - 1; team += 1) {
      expect(
        fill(scheduler, requester, [[`t${team}`, `t${team}`]])[0]?.length,
        `team ${team}`,
      ).toBeGreaterThanOrEqual(1)
    }
  })

  test('of a queue is less while its team has another at work, and for a minute after', async () => {
    const { clock, scheduler } = setUp({ concurrency: 100 })
    const requester = createRequester(0)
    const [other] = fill(scheduler, requester, [['a', '2']])
    scheduler.free((other ?? []).splice(1))
    const [hung] = fill(scheduler, requester, [['a', '1']])
    await clock.advance(40_000)
    scheduler.free(other ?? [])
    await clock.advance(59_999)
    hung?.push(...(fill(scheduler, requester, [['a', '1']])[0] ?? []))
    expect(hung?.length).toBeLessThan(95)
    await clock.advance(1)
    hung?.push(...(fill(scheduler, requester, [['a', '1']])[0] ?? []))
    expect(hung?.length).toBeGreaterThanOrEqual(100)
  })

  test('carved out of the concurrency when there is no reserve', () => {
    const { scheduler } = setUp({ concurrency: 100, reserve: 0 })
    const [holds] = fill(scheduler, createRequester(0), [['a', '1']])
    expect(holds?.length).toBeLessThan(90)
    expect(holds?.length).toBeGreaterThan(80)
  })

  test('of bytes bounds a team with all its queues, and leaves the others theirs', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 1024 * MIB })
    const requester = createRequester(0)
    const holds: HeldSlot[] = []
    for (let claim = 0; claim < 600; claim += 1) {
      const queue = String(claim % 8)
      scheduler.request(requester)
      const count = Math.min(mostOf(requester.open, 'a', queue), Math.floor(requester.open.bytes / MIB))
      const work = jobsOf('a', count, { queue, bytes: MIB })
      holds.push(...scheduler.bind(requester.open, { work, bytesWanted: MIB }))
    }
    const held = holds.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(held).toBeLessThanOrEqual(0.9 * 1024 * MIB + budgetBytes(1, MIB))
    expect(held).toBeGreaterThan(0.8 * 1024 * MIB)
    scheduler.request(requester)
    for (const queue of ['0', '3', '7']) expect(mostOf(requester.open, 'a', queue)).toBe(0)
    expect(mostOf(requester.open, 'b', '9')).toBeGreaterThanOrEqual(1)
  })

  test('of bytes bounds a queue beside others of its team', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 128 * MIB })
    const requester = createRequester(0)
    const [other] = fill(scheduler, requester, [['a', 'other']])
    scheduler.free((other ?? []).splice(1))
    let held = 0
    for (let claim = 0; claim < 300; claim += 1) {
      scheduler.request(requester)
      const count = Math.min(mostOf(requester.open, 'a', '1'), Math.floor(requester.open.bytes / MIB))
      const work = jobsOf('a', count, { queue: '1', bytes: MIB })
      for (const { bytes } of scheduler.bind(requester.open, { work, bytesWanted: MIB })) held += bytes
    }
    expect(held).toBeLessThanOrEqual(0.8 * 128 * MIB + budgetBytes(1, MIB))
  })
})

describe('a grant', () => {
  test('counts what other claims may bring as the same team’s', () => {
    const { scheduler, total } = setUp({ concurrency: 20 })
    const requesters = Array.from({ length: 4 }, (_, shard) => createRequester(shard))
    scheduler.pause()
    for (const requester of requesters) scheduler.request(requester)
    scheduler.resume()
    const brought = requesters.reduce((sum, { open }) => sum + mostOf(open, 'a', '1'), 0)
    expect(brought).toBeLessThan(total)
    for (const { open } of requesters)
      scheduler.bind(open, { work: jobsOf('a', mostOf(open, 'a', '1')), bytesWanted: null })
    expect(scheduler.busy).toBe(brought)
  })

  test('is not more than one queue of the shard may take, so that others need not wait', () => {
    const { scheduler } = setUp({ concurrency: 50 })
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

  test('names at most 128 teams, those that hold most', () => {
    const { scheduler } = setUp({ concurrency: 400 })
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

  test('of a claim without an answer is free for others, and what still comes takes what is free', () => {
    const { scheduler, total } = setUp({ concurrency: 10 })
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

  test('brings a second answer to an error', () => {
    const { scheduler } = setUp()
    const requester = createRequester(0)
    scheduler.request(requester)
    scheduler.bind(requester.open, NOTHING_CLAIMED)
    expect(() => scheduler.bind(requester.open, NOTHING_CLAIMED)).toThrow('bound twice')
  })

  test('waits while granting is paused', () => {
    const { scheduler } = setUp()
    const requester = createRequester(0)
    scheduler.pause()
    scheduler.request(requester)
    expect(requester.grants).toEqual([])
    scheduler.resume()
    expect(requester.grants).toHaveLength(1)
  })
})

/** The grant that a requester gets for asking. */
function reopen(scheduler: SlotScheduler, requester: TestRequester): SlotGrant {
  scheduler.request(requester)
  return requester.open
}

describe('the line', () => {
  /** Lets both ask for the one slot there is, time after time; answers how often each got it. */
  const compete = (scheduler: SlotScheduler, requesters: readonly TestRequester[], times: number) => {
    const before = requesters.map(({ grants }) => grants.length)
    scheduler.pause()
    for (let turn = 0; turn < times; turn += 1) {
      for (const requester of requesters) scheduler.request(requester)
      const seen = requesters.map(({ grants }) => grants.length)
      scheduler.resume()
      scheduler.pause()
      const chosen = requesters.find(({ grants }, i) => grants.length > (seen[i] ?? 0))
      if (chosen === undefined) throw new Error('nobody was granted the slot')
      const work = jobsOf(`t${chosen.shard}`, 1, { queue: String(chosen.shard) })
      scheduler.free(scheduler.bind(chosen.open, { work, bytesWanted: null }))
    }
    return requesters.map(({ grants }, i) => grants.length - (before[i] ?? 0))
  }

  test('goes by what each shard was given, whoever asks first', () => {
    const { scheduler } = setUp({ concurrency: 1, reserve: 0 })
    expect(compete(scheduler, [createRequester(0), createRequester(1), createRequester(2)], 300)).toEqual([
      100, 100, 100,
    ])
  })

  test('gives no credit for a rest', () => {
    const { scheduler } = setUp({ concurrency: 1, reserve: 0 })
    const [busy, rested] = [createRequester(0), createRequester(1)]
    compete(scheduler, [busy], 100)
    expect(compete(scheduler, [busy, rested], 20)).toEqual([10, 10])
    scheduler.withdraw(rested)
    compete(scheduler, [busy], 100)
    expect(compete(scheduler, [busy, rested], 20)).toEqual([10, 10])
  })
})

describe('who was passed over', () => {
  test('waits until its team has room', () => {
    const { scheduler } = setUp({ concurrency: 50 })
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

  test('waits for a queue when its team has room', () => {
    const { scheduler } = setUp({ concurrency: 100 })
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

  test('is given a grant at once when it asks for whatever there is', () => {
    const { scheduler } = setUp({ concurrency: 50 })
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
  test('are asked for by who found a job larger than its grant, at once and in its place', () => {
    const { scheduler } = setUp({ bytes: 64 * MIB })
    const requester = createRequester(0)
    const grant = reopen(scheduler, requester)
    expect(grant.bytes).toBeLessThan(MIB)
    scheduler.bind(grant, { work: [], bytesWanted: 1_500_000 })
    expect(reopen(scheduler, requester).bytes).toBe(1_500_000)
    scheduler.bind(requester.open, { work: jobsOf('a', 1, { bytes: 1_500_000 }), bytesWanted: null })
    expect(reopen(scheduler, requester).bytes).toBeLessThan(1_500_000 * 1.5)
  })

  test('are kept for who waits for them, and others wait meanwhile', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 64 * MIB })
    const [large, small] = [createRequester(0), createRequester(1)]
    scheduler.bind(reopen(scheduler, large), { work: [], bytesWanted: MIB })
    // What is free then is too little for the large one, and enough for a small one.
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

  test('of a job above the whole budget are granted when nothing else is held', () => {
    const { scheduler } = setUp({ bytes: 2 * MIB })
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

describe('a quota of calls in flight', () => {
  const quotas = (change: Partial<CallQuotas>): CallQuotas => ({
    headroomOf: (team, held) => (team === 'a' ? Math.max(0, 3 - held) : null),
    newcomerHeadroom: () => null,
    teamsWithQuota: () => ['a'],
    ...change,
  })

  test('of a team that holds nothing is told to the claim, and leaves the others alone', () => {
    const { scheduler } = setUp({ quotas: quotas({}) })
    const requester = createRequester(0)
    scheduler.request(requester)
    expect(requester.open.teamHeadroom.get('a')).toBe(3)
    expect(requester.open.otherTeamsHeadroom).toBeGreaterThan(3)
  })

  test('counts what the team holds', () => {
    const { scheduler } = setUp({ quotas: quotas({}) })
    const requester = createRequester(0)
    scheduler.request(requester)
    scheduler.bind(requester.open, { work: jobsOf('a', 3), bytesWanted: null })
    scheduler.request(requester)
    expect(requester.open.teamHeadroom.get('a')).toBe(0)
  })

  test('of all teams lets each begin with one', () => {
    const { scheduler } = setUp({ quotas: quotas({ newcomerHeadroom: () => 1, teamsWithQuota: () => [] }) })
    const requester = createRequester(0)
    scheduler.request(requester)
    expect(requester.open.otherTeamsHeadroom).toBe(1)
  })
})
