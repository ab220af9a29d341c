import assert from 'node:assert/strict'
import { test } from 'vitest'
import { forNewcomersOf } from '../../../src/domain/shares/fair-share.ts'
import { reserveOf } from '../../../src/executor/slots/fair-share.ts'
import type { OccupiedSlot, SlotGrant, SlotRequester } from '../../../src/executor/slots/contender.ts'
import { NOTHING_CLAIMED, SlotScheduler } from '../../../src/executor/slots/slot-scheduler.ts'
import { NO_CALL_QUOTAS } from '../../../src/ports/quotas.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { claimedJob } from '../../unit/executor/executor-fixture.ts'
import { SeededRandom } from '../story/seeded-random.ts'

const EVENTS = 100_000
const SHARDS = 5
const CONCURRENCY = 60
const SHARES = { team: 0.9, queue: 0.8 }
const TOTAL = CONCURRENCY + reserveOf(CONCURRENCY, SHARES)
/** The most that a team which is alone may hold, besides its open grants. */
const CAP = Math.ceil(SHARES.team * TOTAL)
const TEAMS = ['a', 'a', 'a', 'b', 'c']

/** Shards that request slots, claim, expire, withdraw and end their jobs in any order. */
class Fuzz {
  readonly random: SeededRandom
  readonly scheduler = new SlotScheduler({
    slots: TOTAL,
    newcomerSlots: forNewcomersOf(CONCURRENCY),
    bytes: 64 * 1024 ** 2,
    shares: SHARES,
    clock: createFakeClock(),
    quotas: NO_CALL_QUOTAS,
  })
  readonly open = new Map<number, SlotGrant>()
  readonly late = new Set<number>()
  readonly held: Array<{ hold: OccupiedSlot; team: string }> = []
  readonly ofTeam = new Map<string, number>()
  readonly requesters: SlotRequester[]
  brought = 0

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
    this.requesters = Array.from({ length: SHARDS }, (_, shard) => ({
      shard,
      granted: (grant) => {
        assert.ok(!this.open.has(shard), 'a second grant')
        this.open.set(shard, grant)
      },
    }))
  }

  step(): void {
    const requester = this.random.pick(this.requesters)
    const grant = this.open.get(requester.shard)
    const what = this.random.next()
    if (what < 0.35 && grant === undefined) {
      if (this.random.chance(0.5)) this.scheduler.request(requester)
      else this.scheduler.requestMore(requester, ['a', 'b'])
    } else if (what < 0.65 && grant !== undefined) this.#bind(grant)
    else if (what < 0.68 && grant !== undefined) {
      this.late.add(requester.shard)
      this.scheduler.expire(grant)
    } else if (what < 0.7) this.scheduler.withdraw(requester)
    else if (this.held.length > 0) this.#release()
  }

  #bind(grant: SlotGrant): void {
    const { random } = this
    const team = random.pick(TEAMS)
    const queue = String(random.integer(1, 3))
    const bytes = random.pick([500, 2_000, 30_000])
    const ofTeam = grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom
    const ofQueue = grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom
    const most = Math.min(grant.slots, ofTeam, ofQueue, Math.floor(grant.bytes / bytes))
    const location = { queue, settingsHash: 'abcdefghijk', isLarge: false }
    const work = Array.from({ length: random.integer(0, most) }, () => claimedJob({ team, bytes, location }))
    const wasLate = this.late.delete(grant.contender.requester.shard)
    this.open.delete(grant.contender.requester.shard)
    const holds = this.scheduler.bind(grant, { work, bytesWanted: random.chance(0.1) ? 400_000 : null })
    assert.ok(wasLate || holds.length === work.length, 'a job found no slot')
    for (const hold of holds) this.held.push({ hold, team })
    this.ofTeam.set(team, (this.ofTeam.get(team) ?? 0) + holds.length)
    this.brought += holds.length
  }

  #release(): void {
    const at = this.random.integer(0, this.held.length - 1)
    const ended = this.held.splice(at, this.random.integer(1, 4))
    for (const { team } of ended) this.ofTeam.set(team, (this.ofTeam.get(team) ?? 0) - 1)
    this.scheduler.free(ended.map(({ hold }) => hold))
  }

  check(): void {
    let [granted, largest] = [0, 0]
    for (const [shard, { slots }] of this.open) {
      if (!this.late.has(shard)) granted += slots
      largest = Math.max(largest, slots)
    }
    assert.equal(this.scheduler.busy, this.held.length + granted)
    assert.ok(this.scheduler.busy <= TOTAL)
    for (const [team, held] of this.ofTeam) {
      assert.ok(held <= CAP + SHARDS * largest, `${team} holds ${held}`)
    }
  }

  end(): void {
    for (const requester of this.requesters) this.scheduler.withdraw(requester)
    for (const grant of this.open.values()) this.scheduler.bind(grant, NOTHING_CLAIMED)
    this.scheduler.free(this.held.map(({ hold }) => hold))
    assert.equal(this.scheduler.busy, 0)
  }
}

test.each([1, 2, 3, 4])(
  'random events lose no slot and no byte, and leave no team above its share and one grant a shard, seed %i',
  { timeout: 240_000 },
  (seed) => {
    const fuzz = new Fuzz(seed)
    for (let event = 0; event < EVENTS / 4; event += 1) {
      fuzz.step()
      fuzz.check()
    }
    assert.ok(fuzz.brought > 2_500, `${fuzz.brought} jobs were brought`)
    fuzz.end()
  },
)
