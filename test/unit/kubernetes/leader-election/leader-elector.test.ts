import { getEventListeners } from 'node:events'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LeaderElector } from '../../../../src/kubernetes/leader-election/leader-elector.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'
import { ElectorWorld, SimulatedLeases, type Fate, type SimulatedProcess } from './elector-world.ts'

/** A leader and one who waits, after five seconds. */
async function pair() {
  const world = new ElectorWorld()
  const [leader, other] = [world.add(), world.add({ wallOffMs: 3_600_000 })]
  leader.elector.start()
  await world.run(1_000)
  other.elector.start()
  await world.run(4_000)
  expect(world.leaders).toEqual([leader.name])
  return { world, leader, other }
}

async function msUntilLeading(world: ElectorWorld, process: SimulatedProcess): Promise<number> {
  const fromMs = world.nowMs
  while (!process.isLeading) {
    if (world.nowMs - fromMs > 60_000) throw new Error('nobody leads')
    await world.run(10)
  }
  return world.nowMs - fromMs
}

describe('a lease', () => {
  test('that does not exist is made and led by at once', async () => {
    const world = new ElectorWorld()
    world.add().elector.start()
    await world.run(100)
    expect(world.leaders).toEqual(['pod-0'])
    expect(world.leases.lease?.spec).toEqual({
      holderIdentity: 'pod-0',
      leaseDurationSeconds: 15,
      acquireTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
      leaseTransitions: 0,
    })
  })

  test('is renewed every 2 s', async () => {
    const { world, leader } = await pair()
    const versions = new Set<string | undefined>()
    await world.run(20_000, () => versions.add(world.leases.lease?.metadata.resourceVersion))
    expect(versions.size).toBeGreaterThanOrEqual(10)
    expect(versions.size).toBeLessThanOrEqual(12)
    expect(leader.terms).toBe(1)
  })

  test('is not taken while it is renewed, whatever the wall clocks say', async () => {
    const { world, leader, other } = await pair()
    await world.run(300_000)
    expect(world.leaders).toEqual([leader.name])
    expect(other.terms).toBe(0)
  })

  test('keeps the fields of others', async () => {
    const { world } = await pair()
    const labelled = { ...world.leases.lease!, labels: { a: 'b' } }
    world.leases.lease = labelled
    world.leases.touch()
    await world.run(5_000)
    expect(world.leases.lease).toMatchObject({ labels: { a: 'b' } })
    expect(world.leases.lease.metadata.resourceVersion).not.toBe(labelled.metadata.resourceVersion)
  })

  test('that was given away is taken at the next look', async () => {
    const { world, leader, other } = await pair()
    const stopped = leader.elector.stop()
    await world.run(300)
    await stopped
    expect(world.leases.lease?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 0 })
    expect(await msUntilLeading(world, other)).toBeLessThan(2_500)
    expect(world.leases.lease?.spec).toMatchObject({ holderIdentity: other.name, leaseTransitions: 1 })
  })
})

describe('a leader', () => {
  test('that is killed is followed within 20 s, but not before its lease is past', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    const renewedMs = world.nowMs
    const ms = await msUntilLeading(world, other)
    expect(ms).toBeLessThan(18_000)
    expect(world.nowMs - renewedMs).toBeGreaterThan(13_000)
    expect(world.leases.lease?.spec).toMatchObject({ leaseTransitions: 1 })
  })

  test('that was stopped for longer than the deadline does not lead when it wakes', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    await world.run(30_000)
    const count = leader.effects.length
    leader.resume()
    expect(leader.isLeading).toBe(false)
    await world.run(30_000)
    expect(leader.effects).toHaveLength(count)
    expect(world.leaders).toEqual([other.name])
  })

  test('that was stopped for 11 s begins a new term', async () => {
    const { world, leader } = await pair()
    leader.pause()
    await world.run(11_000)
    leader.resume()
    expect(leader.isLeading).toBe(false)
    await world.run(5_000)
    expect(leader.terms).toBe(2)
  })

  test('that is cut off ends its term 10 s after its last renewal, and comes back as one who waits', async () => {
    const { world, leader, other } = await pair()
    leader.isCut = true
    await world.run(10_000)
    expect(world.leaders).toEqual([])
    await msUntilLeading(world, other)
    leader.isCut = false
    await world.run(60_000)
    expect(world.leaders).toEqual([other.name])
    expect(leader.terms).toBe(1)
  })

  test.each<Fate>(['unanswered', 'unheard', 'unavailable', 'too_many', 'unauthorized'])(
    'goes on when one request ends as %s',
    async (fate) => {
      const { world, leader } = await pair()
      const fates: Fate[] = [fate]
      leader.fateOf = () => fates.pop() ?? 'fine'
      await world.run(30_000)
      expect(fates).toEqual([])
      expect(leader.terms).toBe(1)
      expect(world.leaders).toEqual([leader.name])
    },
  )

  test('goes on when someone else writes to its lease', async () => {
    const { world, leader } = await pair()
    world.leases.touch()
    await world.run(20_000)
    expect(leader.terms).toBe(1)
    expect(world.leaders).toEqual([leader.name])
  })

  test('makes its lease anew when it was deleted, and stays the one', async () => {
    const { world, leader, other } = await pair()
    const { acquireTime, leaseTransitions } = world.leases.lease!.spec!
    world.leases.delete()
    await world.run(30_000)
    expect(leader.terms).toBe(1)
    expect(other.terms).toBe(0)
    expect(world.leases.lease?.spec).toMatchObject({ acquireTime, leaseTransitions })
  })

  test('whose lease was deleted is waited for by those who have seen it', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    world.leases.delete()
    expect(await msUntilLeading(world, other)).toBeGreaterThan(12_000)
  })

  test('whose lease was deleted again meanwhile is waited for once more by who was stopped', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    world.leases.delete()
    await world.run(3_000)
    other.pause()
    await world.run(30_000)
    other.resume()
    expect(await msUntilLeading(world, other)).toBeGreaterThan(14_000)
  })

  test('that was away while another led and the lease was deleted waits as well', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    await msUntilLeading(world, other)
    other.isCut = true
    world.leases.delete()
    leader.resume()
    expect(await msUntilLeading(world, leader)).toBeGreaterThan(14_000)
  })

  test('ends its term at once when the lease is held by another', async () => {
    const { world, leader, other } = await pair()
    world.leases.replace(world.leases.lease!, { holderIdentity: other.name })
    await world.run(2_100)
    expect(leader.isLeading).toBe(false)
  })
})

test('of many that begin at once, one leads', async () => {
  const world = new ElectorWorld()
  for (let n = 0; n < 5; n += 1) world.add().elector.start()
  await world.run(60_000, () => expect(world.leaders.length).toBeLessThanOrEqual(1))
  expect(world.leaders).toHaveLength(1)
})

describe('work', () => {
  function setUp() {
    const clock = createFakeClock()
    const leases = new SimulatedLeases()
    const errors: string[] = []
    let refusal: ResourceApiError | null = null
    const leading: boolean[] = []
    const signals: AbortSignal[] = []
    const refuse = () => {
      if (refusal !== null) throw refusal
    }
    const elector = new LeaderElector({
      lock: {
        get: async () => (refuse(), leases.read()),
        create: async (spec) => (refuse(), leases.create(spec)),
        update: async (lease, spec, signal) => {
          signals.push(signal)
          refuse()
          return leases.replace(lease, spec)
        },
      },
      identity: 'pod-0',
      clock,
      logger: { ...quietLogger, error: (message) => errors.push(message) },
      metrics: { ...quietReconcileMetrics, leading: (isLeading) => leading.push(isLeading) },
      random: () => 0,
    })
    return {
      clock,
      leases,
      elector,
      errors,
      leading,
      signals,
      refuse: (error: ResourceApiError | null) => (refusal = error),
    }
  }

  test('leaves nothing behind on the signals of its attempts, of which there are 40,000 a day', async () => {
    const { clock, elector, signals } = setUp()
    elector.start()
    await clock.advance(20_000)
    expect(signals.length).toBeGreaterThan(8)
    expect(signals.slice(0, -1).flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
    await elector.stop()
  })

  test('of the next term begins when that of the last has ended', async () => {
    const { clock, leases, elector } = setUp()
    const terms: Array<{ readonly signal: AbortSignal; end(): void }> = []
    elector.onLead((signal) => new Promise<void>((end) => terms.push({ signal, end })))
    elector.start()
    await clock.advance(0)
    leases.replace(leases.read()!, { holderIdentity: 'thief' })
    await clock.advance(2_000)
    expect(terms[0]?.signal.aborted).toBe(true)
    await clock.advance(59_000)
    expect(terms).toHaveLength(1)
    expect(elector.failure()).toBeNull()
    await clock.advance(2_000)
    expect(elector.failure()).toMatch('does not end')
    terms[0]?.end()
    await clock.advance(20_000)
    expect(elector.failure()).toBeNull()
    expect(terms).toHaveLength(2)
    expect(elector.isLeader()).toBe(true)
  })

  test('ends before the lease is given away', async () => {
    const { leases, elector, leading } = setUp()
    const work = Promise.withResolvers<void>()
    elector.onLead(() => work.promise)
    elector.start()
    await quiescence()
    const stopped = elector.stop()
    await quiescence()
    expect(elector.isLeader()).toBe(false)
    expect(leases.read()?.spec?.holderIdentity).toBe('pod-0')
    work.resolve()
    await stopped
    expect(leases.read()?.spec?.holderIdentity).toBe('')
    expect(leading).toEqual([false, true, false])
  })

  test('that is named during a term begins in it', async () => {
    const { elector } = setUp()
    elector.start()
    await quiescence()
    let signal: AbortSignal | null = null
    elector.onLead(async (given) => void (signal = given))
    await quiescence()
    expect(signal).toMatchObject({ aborted: false })
    await elector.stop()
    expect(signal).toMatchObject({ aborted: true })
  })

  test('that fails is logged, and the Lease given away for 5 s', async () => {
    const { clock, leases, elector, errors } = setUp()
    const other: AbortSignal[] = []
    elector.onLead(async (signal) => void other.push(signal))
    elector.onLead(() => Promise.reject(new Error('broken')))
    elector.start()
    await clock.advance(4_999)
    expect(errors).toEqual(['Work of the leader has failed'])
    expect(other.map(({ aborted }) => aborted)).toEqual([true])
    expect(elector.isLeader()).toBe(false)
    expect(leases.read()?.spec?.holderIdentity).toBe('')
    await clock.advance(1)
    expect(other).toHaveLength(2)
  })

  test('waits, loudly but not all the time, while the lease is forbidden', async () => {
    const { clock, elector, errors, refuse } = setUp()
    refuse(new ResourceApiError('forbidden', 'leases is forbidden'))
    elector.start()
    await clock.advance(59_000)
    expect(errors).toEqual(['This process may not use the Lease and cannot lead'])
    await clock.advance(2_000)
    expect(errors).toHaveLength(2)
    refuse(null)
    await clock.advance(3_000)
    expect(elector.isLeader()).toBe(true)
  })

  test('can be stopped before it was started, and twice', async () => {
    const { elector, leases } = setUp()
    await elector.stop()
    await elector.stop()
    expect(leases.read()).toBeNull()
  })
})

describe('any story of machines and networks', () => {
  const STORIES = 100
  const places = { process: fc.nat(2), atMs: fc.nat(60_000) }
  const faults = fc.oneof(
    fc.record({
      ...places,
      fault: fc.constantFrom('pause', 'cut'),
      forMs: fc.integer({ min: 1_000, max: 40_000 }),
    }),
    fc.record({
      ...places,
      fault: fc.constantFrom('kill', 'delete', 'touch', 'stop'),
      forMs: fc.constant(0),
    }),
  )
  const story = fc.record({
    seed: fc.nat(),
    faults: fc.array(faults, { minLength: 3, maxLength: 12 }),
    isLossy: fc.boolean(),
    slowMs: fc.constantFrom(10, 300, 4_000),
  })

  test('has never two leaders, and one in the end', async () => {
    const seen = { terms: 0 }
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        const world = new ElectorWorld(told.seed)
        for (const rate of [0.97, 1, 1.03]) world.add({ rate, wallOffMs: world.random.between(-1e7, 1e7) })
        for (const process of world.processes) disturb(world, process, told)
        for (const process of world.processes) {
          world.after(world.random.between(0, 3_000), () => process.elector.start())
        }
        for (const fault of told.faults) world.after(5_000 + fault.atMs, () => strike(world, fault))
        const isGone = new Set(
          told.faults
            .filter(({ fault }) => fault === 'kill' || fault === 'stop')
            .map(({ process }) => process),
        )
        await world.run(100_000, () => demandOneLeader(world))
        for (const process of world.processes) process.fateOf = () => 'fine'
        for (const process of world.processes) process.delayMs = () => 10
        await world.run(60_000, () => demandOneLeader(world))
        expect(world.leaders).toHaveLength(isGone.size === 3 ? 0 : 1)
        expectTermsApart(world)
        seen.terms += world.processes.reduce((sum, { terms }) => sum + terms, 0)
      }),
      { numRuns: STORIES, endOnFailure: true },
    )
    // Else the stories are too tame.
    expect(seen.terms).toBeGreaterThan(1.5 * STORIES)
  })

  /** Once a story, and not before all know of the Lease: more nobody can tell from its absence (see elector.ts). */
  function deleteSeen(world: ElectorWorld): void {
    if (world.leases.deletions === 0 && world.processes.every(({ hasSeenLease }) => hasSeenLease))
      world.leases.delete()
  }

  /** Asked thousands of times a story: `expect` would take most of the time. */
  function demandOneLeader(world: ElectorWorld): void {
    if (world.leaders.length > 1) throw new Error(`${world.leaders.join(' and ')} lead at ${world.nowMs} ms`)
  }

  function disturb(
    world: ElectorWorld,
    process: SimulatedProcess,
    told: { isLossy: boolean; slowMs: number },
  ): void {
    const { random } = world
    process.delayMs = () => random.between(1, random.chance(0.1) ? told.slowMs : 20)
    process.fateOf = () => {
      if (!told.isLossy || random.chance(0.7)) return 'fine'
      return random.pick(['unheard', 'unanswered', 'unavailable', 'too_many', 'conflict', 'forbidden'])
    }
  }

  function strike(world: ElectorWorld, fault: { fault: string; process: number; forMs: number }): void {
    const process = world.processes[fault.process]!
    if (fault.fault === 'kill') process.kill()
    else if (fault.fault === 'stop') void process.elector.stop()
    else if (fault.fault === 'delete') deleteSeen(world)
    else if (fault.fault === 'touch') world.leases.touch()
    else if (fault.fault === 'cut') {
      process.isCut = true
      world.after(fault.forMs, () => (process.isCut = false))
    } else {
      process.pause()
      world.after(fault.forMs, () => process.resume())
    }
  }

  /** In the order of time, the effects of one term come all before those of the next. */
  function expectTermsApart(world: ElectorWorld): void {
    const effects = world.processes
      .flatMap(({ name, effects }) => effects.map(({ atMs, term }) => ({ atMs, term: `${name}/${term}` })))
      .toSorted((a, b) => a.atMs - b.atMs)
    const order = effects.map(({ term }) => term).filter((term, at, all) => term !== all[at - 1])
    expect(order).toEqual([...new Set(order)])
  }
})
