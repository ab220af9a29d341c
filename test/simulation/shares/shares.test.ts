import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { CLAIM_BATCH_MAX } from '../../../src/domain/limits.ts'
import { reserveOf } from '../../../src/executor/slots/fair-share.ts'
import { ShareWorld } from './share-world.ts'

const ENDLESS = 1e9
/** Virtual time does not wait: a busy machine only needs longer. */
const TIMEOUT_MS = 240_000

describe('shards with equal work start equally many jobs', { timeout: TIMEOUT_MS }, () => {
  const cases = [4, 64].flatMap((shards) =>
    [10, 100, 1_000].flatMap((concurrency) => [1, 300].map((callMs) => ({ shards, concurrency, callMs }))),
  )

  test.each(cases)(
    '$shards shards, $concurrency slots, calls of $callMs ms',
    async ({ shards, concurrency, callMs }) => {
      const world = new ShareWorld({ shards, concurrency })
      await world.start()
      for (let shard = 0; shard < shards; shard += 1) {
        const duration = () => callMs * world.random.between(0.67, 1.33)
        world.push(shard, { team: 'default', queue: '1', count: ENDLESS, callMs: duration })
      }
      // The first to request slots is alone; the others catch up with it.
      while (world.starts < shards * 80) await world.run(10)
      const before = world.shards.map(({ starts }) => starts)
      const atFirst = world.starts
      const isFull = callMs > 1 || concurrency === 10
      const starts = isFull ? Math.max(2_000, shards * 50) : shards * (shards > 4 ? 200 : 2_500)
      while (world.starts < atFirst + starts) await world.run(10)
      const counts = world.shards.map((shard, i) => shard.starts - (before[i] ?? 0))
      const mean = (world.starts - atFirst) / shards
      // While slots are available, shards differ by a claim or two in progress.
      const allowed = isFull ? 0.05 * mean : Math.max(0.05 * mean, 2 * CLAIM_BATCH_MAX)
      const apart = Math.max(...counts.map((count) => Math.abs(count - mean)))
      assert.ok(apart <= allowed, `${apart} of ${mean}: ${counts.join(' ')}`)
      if (isFull) assert.ok(world.mostOpen >= concurrency, `${world.mostOpen} calls at most`)
    },
  )
})

describe('a newcomer', { timeout: TIMEOUT_MS }, () => {
  /** A team takes all it gets over 20 queues; then another one pushes 10 instant jobs into each of two shards. */
  const worldWithNeighbour = async (callMs: number, areHintsLost = false) => {
    const world = new ShareWorld({ shards: 4, concurrency: 50 })
    await world.start()
    for (let queue = 0; queue < 20; queue += 1) {
      world.push(queue % 4, { team: 'a', queue: `a${queue}`, count: 10, callMs: () => callMs })
    }
    await world.run(5_000)
    world.areHintsLost = areHintsLost
    return world
  }

  test.each([
    { callMs: 20_000, areHintsLost: false },
    { callMs: 300_000, areHintsLost: false },
    { callMs: 20_000, areHintsLost: true },
    { callMs: 300_000, areHintsLost: true },
  ])(
    'starts within a second beside calls of $callMs ms, hints lost: $areHintsLost',
    async ({ callMs, areHintsLost }) => {
      const world = await worldWithNeighbour(callMs, areHintsLost)
      assert.ok(world.open >= 50, `a makes ${world.open} calls`)
      const pushedMs = world.scheduler.nowMs
      world.push(1, { team: 'b', queue: 'b', count: 10, callMs: () => 1 })
      await world.run(1_000)
      assert.equal(world.shards[1]?.startsOf.get('b'), 10)
      assert.ok((world.shards[1]?.lastStartMs.get('b') ?? Infinity) - pushedMs <= 1_000)
    },
  )

  test('finds slots though newcomers before it took the reserve', async () => {
    const world = await worldWithNeighbour(300_000)
    for (const team of ['b', 'c', 'd']) {
      world.push(2, { team, queue: team, count: 100, callMs: () => 300_000 })
      await world.run(1_000)
    }
    for (const team of ['b', 'c', 'd']) assert.ok((world.shards[2]?.startsOf.get(team) ?? 0) >= 1, team)
    assert.ok(world.busy <= 50 + reserveOf(50, { team: 0.9, queue: 0.8 }))
  })

  test('gets as many slots as the team before it, as its calls end', async () => {
    const world = new ShareWorld({ shards: 4, concurrency: 50 })
    await world.start()
    for (let shard = 0; shard < 4; shard += 1) {
      world.push(shard, { team: 'a', queue: `a${shard}`, count: ENDLESS, callMs: () => 2_000 })
    }
    await world.run(3_000)
    for (let shard = 0; shard < 4; shard += 1) {
      world.push(shard, { team: 'b', queue: `b${shard}`, count: ENDLESS, callMs: () => 2_000 })
    }
    await world.run(10_000)
    const before = new Map(world.shards.flatMap(({ startsOf }) => [...startsOf]))
    await world.run(20_000)
    const of = (team: string) =>
      [0, 1, 2, 3].reduce((sum, shard) => {
        const key = `${team}${shard}`
        return sum + (world.shards[shard]?.startsOf.get(key) ?? 0) - (before.get(key) ?? 0)
      }, 0)
    assert.ok(Math.abs(of('a') - of('b')) <= 0.35 * of('a'), `${of('a')} and ${of('b')}`)
  })
})

describe('a queue whose target hangs', { timeout: TIMEOUT_MS }, () => {
  test.each(['first', 'last'])('leaves the others of its team their part, hung %s', async (when) => {
    const world = new ShareWorld({ shards: 1, concurrency: 50 })
    await world.start()
    const hang = () => world.push(0, { team: 'a', queue: 'hung', count: 500, callMs: () => 300_000 })
    const beginHealthy = () => {
      for (const queue of ['h1', 'h2', 'h3'])
        world.push(0, { team: 'a', queue, count: ENDLESS, callMs: () => 50 })
    }
    if (when === 'first') hang()
    else beginHealthy()
    await world.run(2_000)
    if (when === 'first') beginHealthy()
    else hang()
    await world.run(1_000)
    const before = new Map(world.shards[0]?.startsOf)
    await world.run(10_000)
    for (const queue of ['h1', 'h2', 'h3']) {
      const started = (world.shards[0]?.startsOf.get(queue) ?? 0) - (before.get(queue) ?? 0)
      assert.ok(started >= 50, `${queue} made ${started} calls in 10 s`)
    }
  })
})

describe('a shard without headroom', { timeout: TIMEOUT_MS }, () => {
  test('does not spin: at most five empty claims a second and shard', async () => {
    const shards = 64
    const world = new ShareWorld({ shards, concurrency: 100 })
    await world.start()
    for (let shard = 0; shard < shards; shard += 1) {
      world.push(shard, { team: 'a', queue: `a${shard}`, count: ENDLESS, callMs: () => 30_000 })
    }
    await world.run(2_000)
    const before = world.shards.map(({ emptyClaims }) => emptyClaims)
    await world.run(10_000)
    for (const { shard, emptyClaims } of world.shards) {
      const claims = emptyClaims - (before[shard] ?? 0)
      assert.ok(claims <= 50, `shard ${shard}: ${claims} empty claims in 10 s`)
      assert.ok(claims >= 20, `shard ${shard} made ${claims} empty claims`)
    }
  })
})

describe('shards that are silent', { timeout: TIMEOUT_MS }, () => {
  test.each([1, 16])(
    '%i of 64 for 30 s cost the others no call, no lease and no throughput',
    async (silent) => {
      const shards = 64
      const world = new ShareWorld({ shards, concurrency: 128 })
      await world.start()
      for (let shard = 0; shard < shards; shard += 1) {
        world.push(shard, { team: `t${shard % 5}`, queue: `q${shard}`, count: ENDLESS, callMs: () => 1_000 })
      }
      await world.run(3_000)
      const startsOfOthers = () => world.shards.slice(silent).reduce((sum, { starts }) => sum + starts, 0)
      const atFirst = startsOfOthers()
      await world.run(10_000)
      const usual = startsOfOthers() - atFirst
      for (const shard of world.shards.slice(0, silent)) shard.silence(30_000)
      const before = startsOfOthers()
      await world.run(30_000)
      const during = startsOfOthers() - before
      assert.ok(during >= 3 * 0.95 * usual, `${during} starts in 30 s, ${usual} in the 10 s before`)
      assert.equal(world.leasesLost, silent)
      for (const { jobId } of world.cut)
        assert.ok(jobId % 1024 < silent, `a call of shard ${jobId % 1024} was aborted`)
      await world.run(10_000)
      const [first] = world.shards
      const back = first?.starts ?? 0
      await world.run(5_000)
      assert.ok((first?.starts ?? 0) > back, 'a shard that is back starts jobs')
      assert.equal(world.leasesLost, silent)
    },
  )
})

describe('memory', { timeout: TIMEOUT_MS }, () => {
  const MIB = 1024 * 1024

  test('limits open calls and leaves another team its share', async () => {
    const world = new ShareWorld({ shards: 4, concurrency: 1_000, capacity: { callBytes: 128 * MIB } })
    await world.start()
    for (let shard = 0; shard < 4; shard += 1) {
      world.push(shard, { team: 'a', queue: `a${shard}`, count: 55, bytes: 1_000_000, callMs: () => 300_000 })
    }
    await world.run(3_000)
    assert.ok(world.openBytes > 40_000_000, `${world.openBytes} bytes are open`)
    assert.ok(world.mostOpenBytes * 2 <= 0.92 * 128 * MIB, `${world.mostOpenBytes} bytes were open`)
    world.push(2, { team: 'b', queue: 'b', count: 20, callMs: () => 10 })
    await world.run(1_000)
    assert.equal(world.shards[2]?.startsOf.get('b'), 20)
  })

  test('is found within 5 s for a large job among small ones', async () => {
    const world = new ShareWorld({ shards: 4, concurrency: 1_000, capacity: { callBytes: 64 * MIB } })
    await world.start()
    for (let shard = 0; shard < 4; shard += 1) {
      for (const team of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
        world.push(shard, { team, queue: team, count: ENDLESS, bytes: 50_000, callMs: () => 500 })
      }
    }
    await world.run(2_000)
    world.push(1, { team: 'z', queue: 'z', count: 1, bytes: MIB, callMs: () => 10 })
    await world.run(5_000)
    assert.equal(world.shards[1]?.startsOf.get('z'), 1)
  })
})
