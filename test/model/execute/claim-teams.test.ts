import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { JobIntake, ClaimedWork, JobSource } from '../../../src/ports/jobs.ts'
import { parseCandidates } from '../../../src/redis/execute/claim/ready-claims.ts'
import { shardKeys } from '../../../src/redis/client/engine.ts'
import { callbackQueueOf, type ShardKeys } from '../../../src/redis/layout/keys.ts'
import { createQueueStore } from '../../../src/redis/queues/queue-store.ts'
import { createShardMaintenance } from '../../../src/redis/maintenance/shard-maintenance.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'
import {
  assertClean,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'

const BAND = 2 ** 37

/** Ready queues of a team, more than a test could push, as pushes would leave them; no audit holds on them. */
const MAKE_QUEUES = `
for i = 1, tonumber(ARGV[1]) do
  local id = string.format('%.0f', 1000 + i)
  redis.call('ZADD', KEYS[1], ARGV[2] * ${BAND} + i, id)
  redis.call('HSET', ARGV[3] .. 'q:' .. id, 'n', 'many/' .. id, 'a', '1', 'u', ARGV[2])
  redis.call('RPUSH', ARGV[3] .. 'r:' .. id, id .. '0')
  redis.call('HSET', ARGV[3] .. 'b:' .. id, id .. '0', ARGV[4])
end`

describe('a claim between teams', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake
  let keys: ShardKeys

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    keys = shardKeys(world.engine, 0)
    return () => world.close()
  })

  const push = (team: string, count: number, queue = 'one') => pushAll(intake, count, { team, queue })
  const teamsOf = (works: readonly ClaimedWork[]) => {
    const counts: Record<string, number> = {}
    for (const { team } of works) counts[team] = (counts[team] ?? 0) + 1
    return counts
  }
  const answerOf = async (source: JobSource, grant = grantOf(64)) => {
    const answer = await source.claim(grant)
    assert.ok(answer.status === 'claimed')
    return answer
  }
  const finish = (source: JobSource, works: readonly ClaimedWork[]) =>
    source.finish(works.map((work) => ended(world, work)))

  /** Commands that Redis ran meanwhile, those of scripts too. */
  async function commandsOf(act: () => Promise<unknown>): Promise<number> {
    await redis.client.config('RESETSTAT')
    await act()
    const stats = await redis.client.info('commandstats')
    const calls = [...stats.matchAll(/^cmdstat_(?!config|info)\S+:calls=(\d+)/gm)]
    return calls.reduce((sum, [, count]) => sum + Number(count), 0)
  }

  async function makeManyQueues(count: number): Promise<void> {
    const [id] = await push('many', 1)
    const record = (await redis.client.hget(keys.queue('1').records, String(id))) ?? ''
    const prefix = keys.ring.slice(0, -'ring'.length)
    await redis.client.eval(MAKE_QUEUES, 1, keys.ring, count, 1, prefix, record)
  }

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
    for (let i = 0; i < 12; i += 1) {
      await claimed(source, 1)
      const reply = world.sent.get('claim')?.reply as ReadonlyArray<Array<string | number>> | undefined
      for (let rest = reply?.[5] ?? []; rest.length > 0; rest = rest.slice(2 + Number(rest[1]))) {
        const [team = '', count] = rest
        const known = named.get(String(team)) ?? new Set()
        for (const id of rest.slice(2, 2 + Number(count))) known.add(String(id))
        named.set(String(team), known)
      }
    }
    assert.equal(named.size, 3)
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

  describe('callbacks', () => {
    const withCallback = { request: { callbackUrl: 'http://target.test/' } }

    test('of a team whose receivers hang hold up no other team’s', async () => {
      await pushAll(intake, 64, { ...withCallback, team: 'hung' })
      const source = await openExecutor(world, 'e1')
      for (let i = 0; i < 2; i += 1) await finish(source, await claimed(source, 64))
      await pushAll(intake, 1, { ...withCallback, team: 'fine' })
      const works = await claimed(source, 8)
      await finish(
        source,
        works.filter(({ kind }) => kind === 'job'),
      )
      // Those of the first team are in flight and never end.
      const next = await claimed(source, grantOf(64, { teamHeadroom: new Map([['hung', 0]]) }))
      const all = [...works, ...next].filter(({ kind }) => kind === 'callback')
      assert.equal(teamsOf(all)['fine'], 1)
    })

    test('have one hidden queue a team, that no list shows', async () => {
      for (const team of ['one', 'two']) await pushAll(intake, 2, { ...withCallback, team })
      const source = await openExecutor(world, 'e1')
      await finish(source, await claimed(source, 64))
      const hidden = ['1', '2'].map((number) => keys.queue(callbackQueueOf(number)))
      for (const { ready: r } of hidden) assert.equal(await redis.client.llen(r), 2)
      assert.deepEqual(await redis.client.hkeys(keys.queueIds), ['one/emails', 'two/emails'])
      await assertClean(world)
      await finish(source, await claimed(source, 64))
      for (const { records: b } of hidden) assert.equal(await redis.client.exists(b), 0)
      await assertClean(world)
    })

    test('go to the queue of a team’s number of now, in a Redis that lost its last writes', async () => {
      await pushAll(intake, 4, { ...withCallback, team: 'one' })
      await pushAll(intake, 1, { team: 'two' })
      const source = await openExecutor(world, 'e1')
      const works = await claimed(source, grantOf(4, { teamHeadroom: new Map([['two', 0]]) }))
      assert.equal(works.length, 4)
      await finish(source, works.slice(0, 1))
      // The numbers are given the other way round, and the queues with them.
      await redis.client.hset(keys.teamNumbers, 'one', '2', 'two', '1')
      assert.deepEqual(await finish(source, works.slice(1, 2)), ['done'])
      const { records: b, meta: q } = keys.queue(callbackQueueOf('2'))
      assert.equal(await redis.client.hlen(b), 1)
      assert.equal(await redis.client.hget(q, 'n'), 'one/')
    })
  })

  test('the callback of a job that was lost too often goes there too', async () => {
    const callback = { request: { callbackUrl: 'http://target.test/', retriesEnabled: false } }
    const [, lost] = await pushAll(intake, 2, { ...callback, team: 'one' })
    await pushAll(intake, 1, { team: 'two' })
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, grantOf(2, { teamHeadroom: new Map([['two', 0]]) }))
    // From here on the team's number is known.
    await finish(source, works.slice(0, 1))
    const body = (await redis.client.hget(keys.queue('1').records, String(lost))) ?? ''
    await redis.client.hset(
      keys.queue('1').records,
      String(lost),
      `${body.slice(0, 14)}${LOST_LEASES_MAX - 1}${body.slice(15)}`,
    )
    await redis.client.hset(keys.teamNumbers, 'one', '2', 'two', '1')
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    // The first one finds that the number is another, and does nothing.
    const { records: b } = keys.queue(callbackQueueOf('2'))
    assert.equal((await upkeep.reap()).jobs, 0)
    assert.equal(await redis.client.hlen(b), 0)
    assert.equal((await upkeep.reap()).jobs, 1)
    assert.deepEqual(await redis.client.hkeys(b), [String(lost)])
  })

  describe('with rooms', () => {
    test('never takes more of a team than its room, over all rounds', async () => {
      for (let i = 0; i < 3; i += 1) await push('full', 20, `queue ${i}`)
      await push('other', 30)
      const source = await openExecutor(world, 'e1')
      const grant = grantOf(64, { teamHeadroom: new Map([['full', 11]]) })
      const answer = await answerOf(source, grant)
      assert.deepEqual(teamsOf(answer.work), { full: 11, other: 30 })
      assert.deepEqual(answer.throttledTeams, ['full'])
      await assertClean(world)
    })

    test('never takes more of a queue than its room, and says so of its team', async () => {
      await push('shop', 20, 'hung')
      await push('shop', 20, 'fine')
      const source = await openExecutor(world, 'e1')
      const [hung] = await redis.client.hmget(keys.queueIds, 'shop/hung')
      const answer = await answerOf(source, grantOf(64, { queueHeadroom: new Map([[hung ?? '', 3]]) }))
      const queues = Map.groupBy(answer.work, (work) => (work.kind === 'job' ? work.queueName : ''))
      assert.deepEqual([queues.get('hung')?.length, queues.get('fine')?.length], [3, 20])
      assert.deepEqual(answer.throttledTeams, ['shop'])
    })

    test('opens no queue without room', async () => {
      await push('shop', 20, 'hung')
      await push('shop', 20, 'fine')
      const source = await openExecutor(world, 'e1')
      await claimed(source, 1)
      const [hung = ''] = (await redis.client.hmget(keys.queueIds, 'shop/hung')) as string[]
      // Whoever opens it cannot read it.
      await redis.client.del(keys.queue(hung).meta)
      await redis.client.set(keys.queue(hung).meta, 'no hash')
      const answer = await answerOf(source, grantOf(8, { queueHeadroom: new Map([[hung, 0]]) }))
      assert.deepEqual([answer.work.length, answer.throttledTeams], [8, ['shop']])
    })

    test('keeps to the common room of teams and of queues that are not listed', async () => {
      for (const team of ['one', 'two']) for (const queue of ['a', 'b', 'c']) await push(team, 9, queue)
      const source = await openExecutor(world, 'e1')
      const [listed] = await redis.client.hmget(keys.queueIds, 'two/a')
      const grant = grantOf(64, {
        ...{ otherTeamsHeadroom: 5, teamHeadroom: new Map([['two', 20]]) },
        ...{ otherQueuesHeadroom: 2, queueHeadroom: new Map([[listed ?? '', 9]]) },
      })
      assert.deepEqual(teamsOf((await answerOf(source, grant)).work), { one: 5, two: 13 })
    })

    test('opens nothing of a team without room, and asks it last', async () => {
      await push('full', 10)
      await push('other', 10)
      const source = await openExecutor(world, 'e1')
      const grant = grantOf(2, { teamHeadroom: new Map([['full', 0]]) })
      const first = await answerOf(source, grant)
      assert.deepEqual([teamsOf(first.work), first.throttledTeams], [{ other: 2 }, ['full']])
      const reply = world.sent.get('claim')?.reply as ReadonlyArray<string[]> | undefined
      const named = reply?.[5] ?? []
      const [full, other] = await redis.client.hmget(keys.teamNumbers, 'full', 'other')
      assert.deepEqual([named[0], named[3]], [other, full])
      // Its queue cannot even be read, and nobody looks at it.
      await redis.client.del(keys.queue('1').meta)
      await redis.client.set(keys.queue('1').meta, 'no hash')
      assert.deepEqual(teamsOf((await answerOf(source, grant)).work), { other: 2 })
    })

    test('says nothing of a team that has started all it had', async () => {
      await push('small', 3)
      await push('other', 30)
      const source = await openExecutor(world, 'e1')
      const answer = await answerOf(source, grantOf(20, { teamHeadroom: new Map([['small', 3]]) }))
      assert.deepEqual([teamsOf(answer.work), answer.throttledTeams], [{ small: 3, other: 17 }, []])
    })

    test('a lone team without room stays among those to be asked', async () => {
      await push('full', 10)
      const source = await openExecutor(world, 'e1')
      const none = grantOf(8, { teamHeadroom: new Map([['full', 0]]) })
      for (let i = 0; i < 2; i += 1) {
        const { work, throttledTeams, runnable } = await answerOf(source, none)
        assert.deepEqual([work.length, throttledTeams, runnable], [0, ['full'], 1])
      }
      assert.equal(await commandsOf(() => claimed(source, 8)).then((count) => count > 0), true)
      assert.equal((await redis.client.zcard(keys.queue('1').inFlight)) > 0, true)
    })

    test('comes to a team behind many whose queues have no room', async () => {
      const stuck = Array.from({ length: 40 }, (_, i) => `stuck-${i}`)
      for (const team of stuck) await push(team, 1)
      const queues = await redis.client.hvals(keys.queueIds)
      await push('fine', 1)
      const source = await openExecutor(world, 'e1')
      const grant = grantOf(4, { queueHeadroom: new Map(queues.map((id) => [id, 0])) })
      const served: ClaimedWork[] = []
      for (let i = 0; i < 20 && served.length === 0; i += 1) served.push(...(await claimed(source, grant)))
      assert.deepEqual(teamsOf(served), { fine: 1 })
    })

    test('finds the few with room behind many without', async () => {
      const full = Array.from({ length: 120 }, (_, i) => `full-${i}`)
      for (const team of full) await push(team, 1)
      const source = await openExecutor(world, 'e1')
      const grant = grantOf(4, { teamHeadroom: new Map(full.map((team) => [team, 0])) })
      await answerOf(source, grant)
      await push('fine', 4)
      await answerOf(source, grant)
      const { work, throttledTeams } = await answerOf(source, grant)
      assert.deepEqual(teamsOf(work), { fine: 4 })
      assert.ok(throttledTeams.length <= 16)
    })
  })

  describe('with bytes', () => {
    const big = (bytes: number) => ({ request: { payload: JSON.stringify('x'.repeat(bytes)) } })

    test('leaves a job that does not fit, answers its size, and goes on with other queues', async () => {
      await pushAll(intake, 2, { ...big(50_000), team: 'big' })
      await push('small', 20)
      const source = await openExecutor(world, 'e1')
      const answer = await answerOf(source, grantOf(12, { bytes: 20_000 }))
      assert.deepEqual(teamsOf(answer.work), { small: 12 })
      assert.ok(answer.bytesWanted !== null && answer.bytesWanted > 50_000 && answer.bytesWanted < 51_000)
      await assertClean(world)
    })

    test('a claim that grants the size gets the job, before smaller ones take the bytes', async () => {
      for (const team of ['one', 'two', 'three']) await pushAll(intake, 20, { ...big(900), team })
      await pushAll(intake, 1, { ...big(50_000), team: 'big' })
      await pushAll(intake, 1, { ...big(900), team: 'big', queue: 'two' })
      const source = await openExecutor(world, 'e1')
      const first = await answerOf(source, grantOf(2, { bytes: 4_000 }))
      const second = await answerOf(source, grantOf(8, { bytes: 4_000 }))
      const wanted = first.bytesWanted ?? second.bytesWanted ?? 0
      const third = await answerOf(source, grantOf(8, { bytes: wanted }))
      assert.deepEqual(
        third.work.map(({ team, bytes }) => [team, bytes]),
        [['big', wanted]],
      )
      await assertClean(world)
    })

    test('answers the largest of several that do not fit', async () => {
      for (const [i, bytes] of [30_000, 60_000, 40_000].entries()) {
        await pushAll(intake, 1, { ...big(bytes), team: `team-${i}` })
      }
      const source = await openExecutor(world, 'e1')
      const { work, bytesWanted } = await answerOf(source, grantOf(8, { bytes: 10_000 }))
      assert.equal(work.length, 0)
      assert.ok((bytesWanted ?? 0) > 60_000)
    })

    test('reads no large part that does not fit', async () => {
      for (let i = 0; i < 8; i += 1) await pushAll(intake, 1, { ...big(200_000), queue: `queue ${i}` })
      const source = await openExecutor(world, 'e1')
      await answerOf(source, grantOf(8, { bytes: 1_000 }))
      await redis.client.config('RESETSTAT')
      await answerOf(source, grantOf(8, { bytes: 1_000 }))
      const stats = await redis.client.info('commandstats')
      // The note of the last claim, and of no job anything.
      assert.ok(Number(/cmdstat_hget:calls=(\d+)/.exec(stats)?.[1] ?? 0) <= 2, stats)
    })

    test('looks at no more than a few queues whose first job does not fit', async () => {
      for (let i = 0; i < 60; i += 1) await pushAll(intake, 1, { ...big(2_000), queue: `queue ${i}` })
      const source = await openExecutor(world, 'e1')
      await answerOf(source, grantOf(1, { bytes: 100 }))
      await redis.client.config('RESETSTAT')
      assert.equal((await answerOf(source, grantOf(1, { bytes: 100 }))).work.length, 0)
      const stats = await redis.client.info('commandstats')
      assert.equal(Number(/cmdstat_lrange:calls=(\d+)/.exec(stats)?.[1]), 16)
    })

    test('counts the bytes of each job as it was granted them', async () => {
      await pushAll(intake, 3, big(6_000))
      await pushOne(intake)
      const source = await openExecutor(world, 'e1')
      const works = await claimed(source, 8)
      const { records: b, payloads: p } = keys.queue('1')
      for (const work of works) {
        const seq = String(world.engine.jobIds.seqOf(work.jobId))
        const stored =
          (await redis.client.hstrlen(b, String(work.jobId))) + (await redis.client.hstrlen(p, seq))
        assert.equal(work.bytes, stored)
      }
    })
  })
})
