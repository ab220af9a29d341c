import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { ClaimedWork } from '../../../../src/ports/jobs.ts'
import { parseCandidates } from '../../../../src/redis/jobs/execute/claim/ready-claims.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { assertClean, claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'

import {
  BAND,
  commandsOf,
  finish,
  intake,
  keys,
  makeManyQueues,
  push,
  redis,
  teamsOf,
  useTeamClaims,
  world,
} from './team-claims-scene.ts'

describe('a claim between teams', () => {
  useTeamClaims()

  test('shares a batch by team, whatever the number of its queues', async () => {
    for (let i = 0; i < 20; i += 1) await push('many', 10, `queue ${i}`)
    await push('few', 40)
    const source = await openExecutor(world, 'e1')
    assert.deepEqual(teamsOf(await claimed(source, 32)), { many: 16, few: 16 })
    await assertClean(world)
  })

  test('a team’s turn goes on to its next queue when one has less than a quantum', async () => {
    for (let i = 0; i < 20; i += 1) await push('small', 1, `queue ${i}`)
    await push('hot', 40)
    const source = await openExecutor(world, 'e1')
    assert.deepEqual(teamsOf(await claimed(source, 16)), { small: 8, hot: 8 })
  })

  test('a job behind 100,000 queues of another team is in the next claim, at the same cost', async () => {
    await makeManyQueues(100_000)
    const source = await openExecutor(world, 'e1')
    await claimed(source, 8)
    const alone = await commandsOf(() => claimed(source, 8))
    await push('late', 1)
    // This one asks those whom the claim before the push has named, and names the next.
    const both = await commandsOf(() => claimed(source, 8))
    assert.deepEqual(teamsOf(await claimed(source, 16)), { late: 1, many: 15 })
    assert.ok(both <= alone + 4, `${both} commands, ${alone} without the other team`)
  })

  test('a team that comes and goes at its limit keeps its place beside a busy one', async () => {
    await createQueueStore(world.engine).apply('brief', 'one', {
      ...DEFAULT_QUEUE_SETTINGS,
      maxParallelism: 1,
    })
    await push('brief', 60)
    for (let i = 0; i < 5; i += 1) await push('busy', 60, `queue ${i}`)
    const source = await openExecutor(world, 'e1')
    const served: string[] = []
    for (let i = 0; i < 40; i += 1) {
      const works = await claimed(source, 1)
      served.push(...works.map(({ team }) => team))
      await finish(source, works)
    }
    const brief = served.filter((team) => team === 'brief').length
    assert.ok(brief >= 18 && brief <= 22, served.join(' '))
    await assertClean(world)
  })

  test('among many teams each is served in its turn', async () => {
    const teams = Array.from({ length: 30 }, (_, i) => `team-${i}`)
    for (const team of teams) await push(team, 20)
    const source = await openExecutor(world, 'e1')
    const served: ClaimedWork[] = []
    for (let i = 0; i < 60; i += 1) served.push(...(await claimed(source, 2)))
    const counts = Object.values(teamsOf(served))
    assert.equal(counts.length, teams.length)
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 4, counts.join(' '))
    await assertClean(world)
  })

  test('each team is named with queues of its own, from all over its band', async () => {
    for (let i = 0; i < 100; i += 1) for (const team of ['one', 'two', 'three']) await push(team, 2, `q${i}`)
    const source = await openExecutor(world, 'e1')
    const named = new Map<string, Set<string>>()
    const counts: number[] = []
    for (let i = 0; i < 24; i += 1) {
      await claimed(source, 1)
      const reply = world.sent.get('claim')?.reply as ReadonlyArray<Array<string | number>> | undefined
      for (let rest = reply?.[5] ?? []; rest.length > 0; rest = rest.slice(2 + Number(rest[1]))) {
        const [team = '', count] = rest
        counts.push(Number(count))
        const known = named.get(String(team)) ?? new Set()
        for (const id of rest.slice(2, 2 + Number(count))) known.add(String(id))
        named.set(String(team), known)
      }
    }
    assert.equal(named.size, 3)
    // A quarter is from the head of the band; wherever the others begin, there are some.
    assert.ok(Math.min(...counts) > Math.ceil(Math.max(...counts) / 4), counts.join(' '))
    for (const [team, queues] of named) {
      assert.ok(queues.size > 90, `${queues.size} of 100`)
      for (const id of queues) assert.equal(await redis.client.hget(keys.queue(id).meta, 'u'), team)
    }
  })

  test('a batch is filled from many teams with a job each, after a few claims', async () => {
    for (let i = 0; i < 250; i += 1) await push(`team-${i}`, 1)
    const source = await openExecutor(world, 'e1')
    const batches: number[] = []
    for (let i = 0; i < 5; i += 1) batches.push((await claimed(source, 64)).length)
    assert.deepEqual(batches, [8, 16, 32, 64, 64])
    // Of few teams with much to do no more are asked than are needed.
    for (let i = 0; i < 20; i += 1) await push(`hot-${i}`, 40)
    await claimed(source, 64)
    await claimed(source, 64)
    await claimed(source, 64)
    const reply = world.sent.get('claim')?.reply as ReadonlyArray<Array<string | number>> | undefined
    assert.equal(parseCandidates(reply?.[5] ?? []).queues.length, 8)
  })

  test('teams that have gone idle leave, eight a claim, and hide nobody meanwhile', async () => {
    await push('busy', 500)
    await push('other', 500)
    for (let u = 3; u <= 10_000; u += 1) await redis.client.zadd(keys.teams, -u, String(u))
    const source = await openExecutor(world, 'e1')
    assert.equal(await redis.client.zcard(keys.teams), 10_000)
    const served: ClaimedWork[] = []
    for (let i = 0; i < 8; i += 1) {
      const before = await redis.client.zcard(keys.teams)
      const commands = await commandsOf(async () => served.push(...(await claimed(source, 8))))
      assert.ok(commands <= 80, `${commands} commands`)
      assert.equal(await redis.client.zcard(keys.teams), before - 8)
    }
    assert.deepEqual(new Set(served.map(({ team }) => team)), new Set(['busy', 'other']))
    assert.equal(served.length, 64)
  })

  test('the first claim of an executor begins with the team whose turn it is', async () => {
    for (const team of ['one', 'two', 'three']) await push(team, 2)
    await redis.client.zadd(keys.teams, 50, '1', 40, '2', 60, '3')
    assert.deepEqual(teamsOf(await claimed(await openExecutor(world, 'e1'), 1)), { two: 1 })
    for (let i = 0; i < 70; i += 1) await push('many', 1, `queue ${i}`)
    await redis.client.zadd(keys.teams, 90, '2', 80, '4')
    assert.deepEqual(teamsOf(await claimed(await openExecutor(world, 'e2'), 1)), { one: 1 })
  })

  test('a team keeps its place among the others while none before it has left', async () => {
    await push('first', 4)
    await push('second', 1)
    await push('third', 4)
    const source = await openExecutor(world, 'e1')
    await claimed(source, 3)
    await claimed(source, 1)
    const [, second] = (await redis.client.hmget(keys.teamNumbers, 'first', 'second')) as [string, string]
    assert.notEqual(await redis.client.zscore(keys.teams, second), null)
  })

  test('finds a team that is missing in `teams` when nobody else can run', async () => {
    await push('lost', 3)
    await redis.client.del(keys.teams)
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 64)).length, 3)
    await push('lost', 1)
    await assertClean(world)
  })

  test('sweep mends `teams` beside teams that run', async () => {
    for (const team of ['lost', 'running', 'other']) await push(team, 20)
    const [lost] = await redis.client.hmget(keys.teamNumbers, 'lost')
    await redis.client.zrem(keys.teams, lost ?? '')
    await createShardMaintenance(world.engine, 0).sweep()
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    assert.equal(teamsOf(await claimed(source, 24))['lost'], 8)
  })

  test('sweep goes on below where it stopped, until it has seen all bands', async () => {
    const bands = Array.from({ length: 5_000 }, (_, i) => [(i + 1) * BAND, `q${i}`] as const)
    await redis.client.zadd(keys.ring, ...bands.flat())
    const upkeep = createShardMaintenance(world.engine, 0)
    await upkeep.sweep()
    assert.equal(await redis.client.zcard(keys.teams), 4_096)
    world.clock.advance(5_000)
    for (let i = 0; i < 13; i += 1) {
      world.clock.advance(5_000)
      await upkeep.promote()
    }
    await upkeep.sweep()
    assert.equal(await redis.client.zcard(keys.teams), 5_000)
  })

  test('a band near its end is lowered, its queues in their order, and stays below the next', async () => {
    for (let i = 0; i < 700; i += 1) await push('old', 1, `queue ${i}`)
    await push('next', 1)
    const before = (await redis.client.zrange(keys.ring, '0', '-1')).slice(0, 700)
    const top = 2 * BAND - 1
    await redis.client.zadd(keys.ring, ...before.flatMap((id, i) => [top - 700 + i, id]))
    // One that has waited since the beginning stays the first.
    await redis.client.zadd(keys.ring, BAND + 7, before[0] ?? '')
    await createShardMaintenance(world.engine, 0).sweep()
    const after = await redis.client.zrange(keys.ring, '0', '-1', 'WITHSCORES')
    const ids = after.filter((_, i) => i % 2 === 0)
    assert.deepEqual(ids.slice(0, 700), before)
    assert.equal(Number(after[1]), BAND + 7)
    assert.ok(Number(after[2 * 700 - 1]) <= BAND + 1_000, 'the last one is lowered')
    assert.equal(Number(after.at(-1)), 2 * BAND)
    await assertClean(world)
  })

  test('scores near 2^53 keep their last digit', async () => {
    await push('default', 3)
    await redis.client.hset(keys.teamNumbers, 'last', '65535')
    for (let i = 0; i < 3; i += 1) await push('last', 3, `queue ${i}`)
    const source = await openExecutor(world, 'e1')
    for (let i = 0; i < 4; i += 1) await claimed(source, 2)
    const scores = await redis.client.zrange(keys.ring, '0', '-1', 'WITHSCORES')
    const last = scores.filter((_, i) => i % 2 === 1).map(Number)
    assert.ok(last.length > 0 && last.every((score) => Number.isSafeInteger(score)), scores.join(' '))
    await assertClean(world)
  })

  test('teams beyond the last number share its band', async () => {
    const names = Array.from({ length: 65_534 }, (_, i) => [`t${i}`, String(i + 1)] as const)
    for (let i = 0; i < names.length; i += 5_000) {
      await redis.client.hset(keys.teamNumbers, ...names.slice(i, i + 5_000).flat())
    }
    const callback = { request: { callbackUrl: 'http://target.test/' } }
    for (const team of ['late', 'later']) await pushAll(intake, 10, { ...callback, team })
    assert.deepEqual(await redis.client.hmget(keys.teamNumbers, 'late', 'later'), ['65535', '65535'])
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 16)
    assert.deepEqual(teamsOf(works), { late: 8, later: 8 })
    await finish(source, works)
    await assertClean(world)
    const rooms = grantOf(64, { teamHeadroom: new Map([['late', 0]]) })
    const callbacks = [...(await claimed(source, rooms)), ...(await claimed(source, rooms))]
    assert.deepEqual(teamsOf(callbacks.filter(({ kind }) => kind === 'callback')), { late: 8, later: 8 })
  })

  test('gives the same jobs again when its bands have moved meanwhile', async () => {
    for (const team of ['one', 'two', 'three']) await push(team, 20)
    const source = await openExecutor(world, 'e1')
    await claimed(source, 3)
    world.faults.lost.add('claim')
    await assert.rejects(source.claim(grantOf(12)), StoreUnavailableError)
    const ids = await redis.client.hkeys(keys.heldJobs('e1'))
    const tags = await redis.client.zrange(keys.teams, '0', '-1', 'WITHSCORES')
    const other = await openExecutor(world, 'e2')
    const others = await claimed(other, 30)
    await redis.client.zadd(keys.ring, 'XX', 3 * BAND + 1_000, '2')
    const works = await claimed(source, 1)
    assert.equal(works.length, 12)
    assert.ok(works.every(({ jobId }) => ids.includes(String(jobId))))
    const taken = Object.values(teamsOf(others)).reduce((sum, count) => sum + count, 0)
    const sum = (flat: readonly string[]) =>
      flat.reduce((total, value, i) => total + (i % 2 === 1 ? Number(value) : 0), 0)
    const now = await redis.client.zrange(keys.teams, '0', '-1', 'WITHSCORES')
    assert.equal(sum(now), sum(tags) + taken, 'a tag moved twice')
  })
})
