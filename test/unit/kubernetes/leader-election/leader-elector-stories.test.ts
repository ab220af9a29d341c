import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ElectorWorld, type SimulatedProcess } from './elector-world.ts'

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
    const seen = { epochs: 0 }
    await fc.assert(
      fc.asyncProperty(story, async (given) => {
        const world = new ElectorWorld(given.seed)
        for (const rate of [0.97, 1, 1.03]) world.add({ rate, wallOffMs: world.random.between(-1e7, 1e7) })
        for (const process of world.processes) disturb(world, process, given)
        for (const process of world.processes) {
          world.after(world.random.between(0, 3_000), () => process.elector.start())
        }
        for (const fault of given.faults) world.after(5_000 + fault.atMs, () => strike(world, fault))
        const isGone = new Set(
          given.faults
            .filter(({ fault }) => fault === 'kill' || fault === 'stop')
            .map(({ process }) => process),
        )
        await world.run(100_000, () => demandOneLeader(world))
        for (const process of world.processes) process.fateOf = () => 'fine'
        for (const process of world.processes) process.delayMs = () => 10
        await world.run(60_000, () => demandOneLeader(world))
        expect(world.leaders).toHaveLength(isGone.size === 3 ? 0 : 1)
        expectEpochsApart(world)
        seen.epochs += world.processes.reduce((sum, { epochs }) => sum + epochs, 0)
      }),
      { numRuns: STORIES, endOnFailure: true },
    )
    // Otherwise the stories are too tame.
    expect(seen.epochs).toBeGreaterThan(1.5 * STORIES)
  })

  /** Once per story, and not before all have seen the Lease: nobody can tell more from its absence (see leader-elector.ts). */
  function deleteSeen(world: ElectorWorld): void {
    if (world.leases.deletions === 0 && world.processes.every(({ hasSeenLease }) => hasSeenLease))
      world.leases.delete()
  }

  /** Called thousands of times per story: `expect` would take most of the time. */
  function demandOneLeader(world: ElectorWorld): void {
    if (world.leaders.length > 1) throw new Error(`${world.leaders.join(' and ')} lead at ${world.nowMs} ms`)
  }

  function disturb(
    world: ElectorWorld,
    process: SimulatedProcess,
    given: { isLossy: boolean; slowMs: number },
  ): void {
    const { random } = world
    process.delayMs = () => random.between(1, random.chance(0.1) ? given.slowMs : 20)
    process.fateOf = () => {
      if (!given.isLossy || random.chance(0.7)) return 'fine'
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

  /** All effects of one epoch come before those of the next. */
  function expectEpochsApart(world: ElectorWorld): void {
    const effects = world.processes
      .flatMap(({ name, effects }) => effects.map(({ atMs, epoch }) => ({ atMs, epoch: `${name}/${epoch}` })))
      .toSorted((a, b) => a.atMs - b.atMs)
    const order = effects.map(({ epoch }) => epoch).filter((epoch, at, all) => epoch !== all[at - 1])
    expect(order).toEqual([...new Set(order)])
  }
})
