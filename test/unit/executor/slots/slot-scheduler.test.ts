import { describe, expect, test } from 'vitest'
import {
  createSlotScheduler,
  NOTHING_BROUGHT,
  type Hold,
  type SlotGrant,
  type SlotScheduler,
  type SlotWorker,
} from '../../../../src/executor/slots/slot-scheduler.ts'
import { budgetBytes, reserveOf, seatsOf } from '../../../../src/executor/slots/share-rule.ts'
import type { CallQuotas } from '../../../../src/ports/quotas.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { claimedJob } from '../executor-fixture.ts'

const SHARES = { team: 0.9, queue: 0.8 }
const MIB = 1024 * 1024

interface TestWorker extends SlotWorker {
  readonly grants: SlotGrant[]
  /** The grant that is open. */
  readonly open: SlotGrant
}

function createWorker(shard: number): TestWorker {
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
  const seats = seatsOf(concurrency)
  const scheduler = createSlotScheduler({
    slots: concurrency + (change.reserve ?? reserveOf(concurrency, SHARES)),
    seats,
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
  worker: TestWorker,
  queues: ReadonlyArray<readonly [team: string, queue: string]>,
) {
  const holds: Hold[][] = queues.map(() => [])
  for (let idle = 0, turn = 0; idle < 2 * queues.length; turn += 1) {
    const at = turn % queues.length
    const [team, queue] = queues[at] ?? ['', '']
    const before = worker.grants.length
    scheduler.ask(worker)
    if (worker.grants.length === before) break
    const count = mostOf(worker.open, team, queue)
    idle = count === 0 ? idle + 1 : 0
    holds[at]?.push(
      ...scheduler.bind(worker.open, { work: jobsOf(team, count, { queue }), bytesWanted: null }),
    )
  }
  return holds
}

describe('a share', () => {
  test.each([1, 2, 3, 4, 10, 50, 100, 1_000, 20_000])('of a lone queue is all of %i', (concurrency) => {
    const { scheduler } = setUp({ concurrency })
    const [holds] = fill(scheduler, createWorker(0), [['a', '1']])
    expect(holds?.length).toBeGreaterThanOrEqual(concurrency)
    expect(holds?.length).toBeLessThanOrEqual(concurrency + Math.max(1, concurrency * 0.02))
  })

  test('of a lone team of two queues is all of the concurrency too', () => {
    const { scheduler } = setUp({ concurrency: 100 })
    const [first, second] = fill(scheduler, createWorker(0), [
      ['a', '1'],
      ['a', '2'],
    ])
    expect((first?.length ?? 0) + (second?.length ?? 0)).toBeGreaterThanOrEqual(100)
  })

  test('leaves room for whoever comes: a team, a queue of the same team, and more teams after them', () => {
    const { scheduler } = setUp({ concurrency: 50 })
    const worker = createWorker(0)
    fill(scheduler, worker, [['a', '1']])
    const sibling = fill(scheduler, worker, [['a', '2']])[0]?.length ?? 0
    expect(sibling).toBeGreaterThanOrEqual(1)
    expect(fill(scheduler, worker, [['b', '3']])[0]?.length).toBeGreaterThanOrEqual(4)
    expect(fill(scheduler, worker, [['c', '4']])[0]?.length).toBeGreaterThanOrEqual(1)
  })

  test('leaves a seat each to many who come after teams that took all they could', () => {
    const { scheduler } = setUp({ concurrency: 1_000 })
    const worker = createWorker(0)
    const queuesOf = (team: string) => [1, 2, 3, 4].map((queue) => [team, `${team}${queue}`] as const)
    for (const team of ['a', 'b', 'c', 'd']) fill(scheduler, worker, queuesOf(team))
    for (let team = 0; team < seatsOf(1_000) - 1; team += 1) {
      expect(
        fill(scheduler, worker, [[`t${team}`, `t${team}`]])[0]?.length,
        `team ${team}`,
      ).toBeGreaterThanOrEqual(1)
    }
  })

  test('of a queue is less while its team has another at work, and for a minute after', async () => {
    const { clock, scheduler } = setUp({ concurrency: 100 })
    const worker = createWorker(0)
    const [other] = fill(scheduler, worker, [['a', '2']])
    scheduler.release((other ?? []).splice(1))
    const [hung] = fill(scheduler, worker, [['a', '1']])
    await clock.advance(40_000)
    scheduler.release(other ?? [])
    await clock.advance(59_999)
    hung?.push(...(fill(scheduler, worker, [['a', '1']])[0] ?? []))
    expect(hung?.length).toBeLessThan(95)
    await clock.advance(1)
    hung?.push(...(fill(scheduler, worker, [['a', '1']])[0] ?? []))
    expect(hung?.length).toBeGreaterThanOrEqual(100)
  })

  test('carved out of the concurrency when there is no reserve', () => {
    const { scheduler } = setUp({ concurrency: 100, reserve: 0 })
    const [holds] = fill(scheduler, createWorker(0), [['a', '1']])
    expect(holds?.length).toBeLessThan(90)
    expect(holds?.length).toBeGreaterThan(80)
  })

  test('of bytes bounds a team with all its queues, and leaves the others theirs', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 1024 * MIB })
    const worker = createWorker(0)
    const holds: Hold[] = []
    for (let claim = 0; claim < 600; claim += 1) {
      const queue = String(claim % 8)
      scheduler.ask(worker)
      const count = Math.min(mostOf(worker.open, 'a', queue), Math.floor(worker.open.bytes / MIB))
      const work = jobsOf('a', count, { queue, bytes: MIB })
      holds.push(...scheduler.bind(worker.open, { work, bytesWanted: MIB }))
    }
    const held = holds.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(held).toBeLessThanOrEqual(0.9 * 1024 * MIB + budgetBytes(1, MIB))
    expect(held).toBeGreaterThan(0.8 * 1024 * MIB)
    scheduler.ask(worker)
    for (const queue of ['0', '3', '7']) expect(mostOf(worker.open, 'a', queue)).toBe(0)
    expect(mostOf(worker.open, 'b', '9')).toBeGreaterThanOrEqual(1)
  })

  test('of bytes bounds a queue beside others of its team', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 128 * MIB })
    const worker = createWorker(0)
    const [other] = fill(scheduler, worker, [['a', 'other']])
    scheduler.release((other ?? []).splice(1))
    let held = 0
    for (let claim = 0; claim < 300; claim += 1) {
      scheduler.ask(worker)
      const count = Math.min(mostOf(worker.open, 'a', '1'), Math.floor(worker.open.bytes / MIB))
      const work = jobsOf('a', count, { queue: '1', bytes: MIB })
      for (const { bytes } of scheduler.bind(worker.open, { work, bytesWanted: MIB })) held += bytes
    }
    expect(held).toBeLessThanOrEqual(0.8 * 128 * MIB + budgetBytes(1, MIB))
  })
})

describe('a grant', () => {
  test('counts what other claims may bring as the same team’s', () => {
    const { scheduler, total } = setUp({ concurrency: 20 })
    const workers = Array.from({ length: 4 }, (_, shard) => createWorker(shard))
    scheduler.pause()
    for (const worker of workers) scheduler.ask(worker)
    scheduler.resume()
    const brought = workers.reduce((sum, { open }) => sum + mostOf(open, 'a', '1'), 0)
    expect(brought).toBeLessThan(total)
    for (const { open } of workers)
      scheduler.bind(open, { work: jobsOf('a', mostOf(open, 'a', '1')), bytesWanted: null })
    expect(scheduler.busy).toBe(brought)
  })

  test('is not more than one queue of the shard may take, so that others need not wait', () => {
    const { scheduler } = setUp({ concurrency: 50 })
    const [full, other] = [createWorker(0), createWorker(1)]
    const [holds] = fill(scheduler, full, [['a', '1']])
    scheduler.bind(reopen(scheduler, full), NOTHING_BROUGHT)
    scheduler.askAgain(full, ['a'])
    const before = full.grants.length
    scheduler.release((holds ?? []).splice(0, 3))
    expect(full.grants.length).toBe(before + 1)
    scheduler.bind(full.open, { work: jobsOf('a', 1, { queue: '1' }), bytesWanted: null })
    scheduler.askAgain(full, [])
    expect(full.open.slots).toBeLessThanOrEqual(2)
    scheduler.ask(other)
    expect(other.grants).toHaveLength(1)
  })

  test('names at most 128 teams, those that hold most', () => {
    const { scheduler } = setUp({ concurrency: 400 })
    const worker = createWorker(0)
    for (let team = 0; team < 150; team += 1) {
      scheduler.ask(worker)
      scheduler.bind(worker.open, {
        work: jobsOf(`t${team}`, team < 60 ? 1 : 3, { queue: String(team) }),
        bytesWanted: null,
      })
    }
    const [holds] = fill(scheduler, worker, [['t149', '149']])
    expect(holds?.length).toBeGreaterThan(0)
    fill(scheduler, worker, [['t0', '0']])
    scheduler.ask(worker)
    const { teamHeadroom } = worker.open
    expect(teamHeadroom.size).toBeLessThanOrEqual(128)
    if (teamHeadroom.size === 128) expect([...teamHeadroom.keys()]).toContain('t149')
  })

  test('of a claim without an answer is free for others, and what still comes takes what is free', () => {
    const { scheduler, total } = setUp({ concurrency: 10 })
    const [silent, other] = [createWorker(0), createWorker(1)]
    scheduler.ask(silent)
    const { slots } = silent.open
    expect(slots).toBe(total)
    scheduler.ask(other)
    expect(other.grants).toEqual([])
    scheduler.late(silent.open)
    expect(other.open.slots).toBe(total)
    const held = scheduler.bind(other.open, { work: jobsOf('b', total - 2), bytesWanted: null })
    const holds = scheduler.bind(silent.open, { work: jobsOf('a', 5), bytesWanted: null })
    expect(holds).toHaveLength(2)
    scheduler.release([...held, ...holds])
    expect(scheduler.busy).toBe(0)
  })

  test('brings a second answer to an error', () => {
    const { scheduler } = setUp()
    const worker = createWorker(0)
    scheduler.ask(worker)
    scheduler.bind(worker.open, NOTHING_BROUGHT)
    expect(() => scheduler.bind(worker.open, NOTHING_BROUGHT)).toThrow('bound twice')
  })

  test('waits while granting is paused', () => {
    const { scheduler } = setUp()
    const worker = createWorker(0)
    scheduler.pause()
    scheduler.ask(worker)
    expect(worker.grants).toEqual([])
    scheduler.resume()
    expect(worker.grants).toHaveLength(1)
  })
})

/** The grant that a worker gets for asking. */
function reopen(scheduler: SlotScheduler, worker: TestWorker): SlotGrant {
  scheduler.ask(worker)
  return worker.open
}

describe('the line', () => {
  /** Lets both ask for the one slot there is, time after time; answers how often each got it. */
  const compete = (scheduler: SlotScheduler, workers: readonly TestWorker[], times: number) => {
    const before = workers.map(({ grants }) => grants.length)
    scheduler.pause()
    for (let turn = 0; turn < times; turn += 1) {
      for (const worker of workers) scheduler.ask(worker)
      const seen = workers.map(({ grants }) => grants.length)
      scheduler.resume()
      scheduler.pause()
      const chosen = workers.find(({ grants }, i) => grants.length > (seen[i] ?? 0))
      if (chosen === undefined) throw new Error('nobody was granted the slot')
      const work = jobsOf(`t${chosen.shard}`, 1, { queue: String(chosen.shard) })
      scheduler.release(scheduler.bind(chosen.open, { work, bytesWanted: null }))
    }
    return workers.map(({ grants }, i) => grants.length - (before[i] ?? 0))
  }

  test('goes by what each shard was given, whoever asks first', () => {
    const { scheduler } = setUp({ concurrency: 1, reserve: 0 })
    expect(compete(scheduler, [createWorker(0), createWorker(1), createWorker(2)], 300)).toEqual([
      100, 100, 100,
    ])
  })

  test('gives no credit for a rest', () => {
    const { scheduler } = setUp({ concurrency: 1, reserve: 0 })
    const [busy, rested] = [createWorker(0), createWorker(1)]
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
    const [full, other] = [createWorker(0), createWorker(1)]
    const [holds] = fill(scheduler, other, [
      ['a', '1'],
      ['a', '2'],
      ['a', '3'],
    ])
    scheduler.bind(reopen(scheduler, full), NOTHING_BROUGHT)
    scheduler.askAgain(full, ['a'])
    expect(full.grants).toHaveLength(1)
    scheduler.release((holds ?? []).splice(0, 2))
    expect(full.grants).toHaveLength(2)
    expect(mostOf(full.open, 'a', '4')).toBeGreaterThanOrEqual(1)
  })

  test('waits for a queue when its team has room', () => {
    const { scheduler } = setUp({ concurrency: 100 })
    const worker = createWorker(0)
    const [sibling, hung] = fill(scheduler, worker, [
      ['a', '2'],
      ['a', '1'],
    ])
    scheduler.release(sibling ?? [])
    fill(scheduler, worker, [['a', '1']])
    scheduler.bind(reopen(scheduler, worker), NOTHING_BROUGHT)
    const before = worker.grants.length
    scheduler.askAgain(worker, ['a'])
    expect(worker.grants).toHaveLength(before)
    scheduler.release((hung ?? []).splice(0, 5))
    expect(worker.grants).toHaveLength(before + 1)
  })

  test('is given a grant at once when it asks for whatever there is', () => {
    const { scheduler } = setUp({ concurrency: 50 })
    const worker = createWorker(0)
    fill(scheduler, worker, [['a', '1']])
    scheduler.bind(reopen(scheduler, worker), NOTHING_BROUGHT)
    scheduler.askAgain(worker, ['a'])
    const before = worker.grants.length
    scheduler.ask(worker)
    expect(worker.grants).toHaveLength(before + 1)
    expect(mostOf(worker.open, 'b', '9')).toBeGreaterThanOrEqual(1)
  })
})

describe('bytes', () => {
  test('are asked for by who found a job larger than its grant, at once and in its place', () => {
    const { scheduler } = setUp({ bytes: 64 * MIB })
    const worker = createWorker(0)
    const grant = reopen(scheduler, worker)
    expect(grant.bytes).toBeLessThan(MIB)
    scheduler.bind(grant, { work: [], bytesWanted: 1_500_000 })
    expect(reopen(scheduler, worker).bytes).toBe(1_500_000)
    scheduler.bind(worker.open, { work: jobsOf('a', 1, { bytes: 1_500_000 }), bytesWanted: null })
    expect(reopen(scheduler, worker).bytes).toBeLessThan(1_500_000 * 1.5)
  })

  test('are kept for who waits for them, and others wait meanwhile', () => {
    const { scheduler } = setUp({ concurrency: 1_000, bytes: 64 * MIB })
    const [large, small] = [createWorker(0), createWorker(1)]
    scheduler.bind(reopen(scheduler, large), { work: [], bytesWanted: MIB })
    // What is free then is too little for the large one, and enough for a small one.
    const held = scheduler.bind(reopen(scheduler, small), {
      work: jobsOf('b', 64, { bytes: 500_000 }),
      bytesWanted: null,
    })
    scheduler.ask(large)
    scheduler.ask(small)
    expect([large.grants.length, small.grants.length]).toEqual([1, 1])
    scheduler.release(held.splice(0, 1))
    expect(large.grants).toHaveLength(2)
    expect(large.open.bytes).toBe(MIB)
  })

  test('of a job above the whole budget are granted when nothing else is held', () => {
    const { scheduler } = setUp({ bytes: 2 * MIB })
    const [large, small] = [createWorker(0), createWorker(1)]
    scheduler.bind(reopen(scheduler, large), { work: [], bytesWanted: 5 * MIB })
    const held = scheduler.bind(reopen(scheduler, small), { work: jobsOf('b', 1), bytesWanted: null })
    scheduler.ask(large)
    expect(large.grants).toHaveLength(1)
    scheduler.release(held)
    expect(large.open.bytes).toBe(5 * MIB)
    const holds = scheduler.bind(large.open, { work: jobsOf('a', 1, { bytes: 5 * MIB }), bytesWanted: null })
    expect(holds).toHaveLength(1)
    scheduler.release(holds)
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
    const worker = createWorker(0)
    scheduler.ask(worker)
    expect(worker.open.teamHeadroom.get('a')).toBe(3)
    expect(worker.open.otherTeamsHeadroom).toBeGreaterThan(3)
  })

  test('counts what the team holds', () => {
    const { scheduler } = setUp({ quotas: quotas({}) })
    const worker = createWorker(0)
    scheduler.ask(worker)
    scheduler.bind(worker.open, { work: jobsOf('a', 3), bytesWanted: null })
    scheduler.ask(worker)
    expect(worker.open.teamHeadroom.get('a')).toBe(0)
  })

  test('of all teams lets each begin with one', () => {
    const { scheduler } = setUp({ quotas: quotas({ newcomerHeadroom: () => 1, teamsWithQuota: () => [] }) })
    const worker = createWorker(0)
    scheduler.ask(worker)
    expect(worker.open.otherTeamsHeadroom).toBe(1)
  })
})
