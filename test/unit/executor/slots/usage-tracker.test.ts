import { describe, expect, test } from 'vitest'
import type { OccupiedSlot } from '../../../../src/executor/slots/contender.ts'
import { forNewcomersOf } from '../../../../src/domain/shares/fair-share.ts'
import { budgetBytes } from '../../../../src/executor/slots/fair-share.ts'
import type { CallQuotas } from '../../../../src/ports/quotas.ts'
import { createRequester, fill, jobsOf, MIB, mostOf, setUpScheduler } from './scheduler-fixture.ts'

describe('a share', () => {
  test.each([1, 2, 3, 4, 10, 50, 100, 1_000, 20_000])(
    'of a queue that is alone is all of %i',
    (concurrency) => {
      const { scheduler } = setUpScheduler({ concurrency })
      const [held] = fill(scheduler, createRequester(0), [['a', '1']])
      expect(held?.length).toBeGreaterThanOrEqual(concurrency)
      expect(held?.length).toBeLessThanOrEqual(concurrency + Math.max(1, concurrency * 0.02))
    },
  )

  test('of a team that is alone with two queues is all of the concurrency too', () => {
    const { scheduler } = setUpScheduler({ concurrency: 100 })
    const [first, second] = fill(scheduler, createRequester(0), [
      ['a', '1'],
      ['a', '2'],
    ])
    expect((first?.length ?? 0) + (second?.length ?? 0)).toBeGreaterThanOrEqual(100)
  })

  test('leaves slots for newcomers: another queue of the team, another team, and teams after them', () => {
    const { scheduler } = setUpScheduler({ concurrency: 50 })
    const requester = createRequester(0)
    fill(scheduler, requester, [['a', '1']])
    const sibling = fill(scheduler, requester, [['a', '2']])[0]?.length ?? 0
    expect(sibling).toBeGreaterThanOrEqual(1)
    expect(fill(scheduler, requester, [['b', '3']])[0]?.length).toBeGreaterThanOrEqual(4)
    expect(fill(scheduler, requester, [['c', '4']])[0]?.length).toBeGreaterThanOrEqual(1)
  })

  test('leaves a slot each for many newcomers after teams that took all they could', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1_000 })
    const requester = createRequester(0)
    const queuesOf = (team: string) => [1, 2, 3, 4].map((queue) => [team, `${team}${queue}`] as const)
    for (const team of ['a', 'b', 'c', 'd']) fill(scheduler, requester, queuesOf(team))
    for (let team = 0; team < forNewcomersOf(1_000) - 1; team += 1) {
      expect(
        fill(scheduler, requester, [[`t${team}`, `t${team}`]])[0]?.length,
        `team ${team}`,
      ).toBeGreaterThanOrEqual(1)
    }
  })

  test('of a queue is less while its team has another busy one, and for a minute after', async () => {
    const { clock, scheduler } = setUpScheduler({ concurrency: 100 })
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

  test('is part of the concurrency when there is no reserve', () => {
    const { scheduler } = setUpScheduler({ concurrency: 100, reserve: 0 })
    const [held] = fill(scheduler, createRequester(0), [['a', '1']])
    expect(held?.length).toBeLessThan(90)
    expect(held?.length).toBeGreaterThan(80)
  })

  test('of bytes limits a team over all its queues, and leaves the other teams theirs', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1_000, bytes: 1024 * MIB })
    const requester = createRequester(0)
    const slots: OccupiedSlot[] = []
    for (let claim = 0; claim < 600; claim += 1) {
      const queue = String(claim % 8)
      scheduler.request(requester)
      const count = Math.min(mostOf(requester.open, 'a', queue), Math.floor(requester.open.bytes / MIB))
      const work = jobsOf('a', count, { queue, bytes: MIB })
      slots.push(...scheduler.bind(requester.open, { work, bytesWanted: MIB }))
    }
    const held = slots.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(held).toBeLessThanOrEqual(0.9 * 1024 * MIB + budgetBytes(1, MIB))
    expect(held).toBeGreaterThan(0.8 * 1024 * MIB)
    scheduler.request(requester)
    for (const queue of ['0', '3', '7']) expect(mostOf(requester.open, 'a', queue)).toBe(0)
    expect(mostOf(requester.open, 'b', '9')).toBeGreaterThanOrEqual(1)
  })

  test('of bytes limits a queue beside others of its team', () => {
    const { scheduler } = setUpScheduler({ concurrency: 1_000, bytes: 128 * MIB })
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

describe('a quota of calls in flight', () => {
  const quotas = (change: Partial<CallQuotas>): CallQuotas => ({
    headroomOf: (team, held) => (team === 'a' ? Math.max(0, 3 - held) : null),
    newcomerHeadroom: () => null,
    teamsWithQuota: () => ['a'],
    ...change,
  })

  test('of an idle team is listed in the grant, and does not limit other teams', () => {
    const { scheduler } = setUpScheduler({ quotas: quotas({}) })
    const requester = createRequester(0)
    scheduler.request(requester)
    expect(requester.open.teamHeadroom.get('a')).toBe(3)
    expect(requester.open.otherTeamsHeadroom).toBeGreaterThan(3)
  })

  test('counts what the team holds', () => {
    const { scheduler } = setUpScheduler({ quotas: quotas({}) })
    const requester = createRequester(0)
    scheduler.request(requester)
    scheduler.bind(requester.open, { work: jobsOf('a', 3), bytesWanted: null })
    scheduler.request(requester)
    expect(requester.open.teamHeadroom.get('a')).toBe(0)
  })

  test('of all teams lets each start with one', () => {
    const { scheduler } = setUpScheduler({
      quotas: quotas({ newcomerHeadroom: () => 1, teamsWithQuota: () => [] }),
    })
    const requester = createRequester(0)
    scheduler.request(requester)
    expect(requester.open.otherTeamsHeadroom).toBe(1)
  })
})
