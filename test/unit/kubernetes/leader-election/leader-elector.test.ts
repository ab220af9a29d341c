import { describe, expect, test } from 'vitest'
import { ElectorWorld, type Fate, type SimulatedProcess } from './elector-world.ts'

/** A leader and a standby, after five seconds. */
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
  test('that does not exist is created and held at once', async () => {
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
    expect(leader.epochs).toBe(1)
  })

  test('is not taken while it is renewed, whatever the wall clocks say', async () => {
    const { world, leader, other } = await pair()
    await world.run(300_000)
    expect(world.leaders).toEqual([leader.name])
    expect(other.epochs).toBe(0)
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

  test('that was released is taken at the next retry', async () => {
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
  test('that is killed is followed within 20 s, but not before its lease expires', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    const renewedMs = world.nowMs
    const ms = await msUntilLeading(world, other)
    expect(ms).toBeLessThan(18_000)
    expect(world.nowMs - renewedMs).toBeGreaterThan(13_000)
    expect(world.leases.lease?.spec).toMatchObject({ leaseTransitions: 1 })
  })

  test('that was frozen for longer than the deadline does not lead when it wakes', async () => {
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

  test('that was frozen for 11 s begins a new epoch', async () => {
    const { world, leader } = await pair()
    leader.pause()
    await world.run(11_000)
    leader.resume()
    expect(leader.isLeading).toBe(false)
    await world.run(5_000)
    expect(leader.epochs).toBe(2)
  })

  test('that is cut off ends its epoch 10 s after its last renewal, and returns as a standby', async () => {
    const { world, leader, other } = await pair()
    leader.isCut = true
    await world.run(10_000)
    expect(world.leaders).toEqual([])
    await msUntilLeading(world, other)
    leader.isCut = false
    await world.run(60_000)
    expect(world.leaders).toEqual([other.name])
    expect(leader.epochs).toBe(1)
  })

  test.each<Fate>(['unanswered', 'unheard', 'unavailable', 'too_many', 'unauthorized'])(
    'goes on when one request ends as %s',
    async (fate) => {
      const { world, leader } = await pair()
      const fates: Fate[] = [fate]
      leader.fateOf = () => fates.pop() ?? 'fine'
      await world.run(30_000)
      expect(fates).toEqual([])
      expect(leader.epochs).toBe(1)
      expect(world.leaders).toEqual([leader.name])
    },
  )

  test('goes on when someone else writes to its lease', async () => {
    const { world, leader } = await pair()
    world.leases.touch()
    await world.run(20_000)
    expect(leader.epochs).toBe(1)
    expect(world.leaders).toEqual([leader.name])
  })

  test('recreates its lease when it was deleted, and keeps leading', async () => {
    const { world, leader, other } = await pair()
    const { acquireTime, leaseTransitions } = world.leases.lease!.spec!
    world.leases.delete()
    await world.run(30_000)
    expect(leader.epochs).toBe(1)
    expect(other.epochs).toBe(0)
    expect(world.leases.lease?.spec).toMatchObject({ acquireTime, leaseTransitions })
  })

  test('whose lease was deleted is waited for by standbys that have seen it', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    world.leases.delete()
    expect(await msUntilLeading(world, other)).toBeGreaterThan(12_000)
  })

  test('whose lease was deleted is waited for again by a standby that was frozen meanwhile', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    world.leases.delete()
    await world.run(3_000)
    other.pause()
    await world.run(30_000)
    other.resume()
    expect(await msUntilLeading(world, other)).toBeGreaterThan(14_000)
  })

  test('that was frozen while another led and the lease was deleted waits as well', async () => {
    const { world, leader, other } = await pair()
    leader.pause()
    await msUntilLeading(world, other)
    other.isCut = true
    world.leases.delete()
    leader.resume()
    expect(await msUntilLeading(world, leader)).toBeGreaterThan(14_000)
  })

  test('ends its epoch at once when the lease is held by another', async () => {
    const { world, leader, other } = await pair()
    world.leases.replace(world.leases.lease!, { holderIdentity: other.name })
    await world.run(2_100)
    expect(leader.isLeading).toBe(false)
  })
})

test('of many that start at once, one leads', async () => {
  const world = new ElectorWorld()
  for (let n = 0; n < 5; n += 1) world.add().elector.start()
  await world.run(60_000, () => expect(world.leaders.length).toBeLessThanOrEqual(1))
  expect(world.leaders).toHaveLength(1)
})
