import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { LOST_LEASES_MAX } from '../../../../src/domain/limits.ts'
import type { ClaimedWork } from '../../../../src/ports/jobs.ts'
import { callbackQueueOf } from '../../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import {
  assertClean,
  claimed,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'

import {
  answerOf,
  commandsOf,
  finish,
  intake,
  keys,
  push,
  redis,
  teamsOf,
  useTeamClaims,
  world,
} from './team-claims-scene.ts'

describe('what a claim takes of teams', () => {
  useTeamClaims()

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
      assert.deepEqual(answer.crowdedTeams, ['full'])
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
      assert.deepEqual(answer.crowdedTeams, ['shop'])
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
      assert.deepEqual([answer.work.length, answer.crowdedTeams], [8, ['shop']])
    })

    test('keeps to the common room of teams and of queues that are not listed', async () => {
      for (const team of ['one', 'two']) for (const queue of ['a', 'b', 'c']) await push(team, 9, queue)
      const source = await openExecutor(world, 'e1')
      const [listed] = await redis.client.hmget(keys.queueIds, 'two/a')
      const grant = grantOf(64, {
        otherTeamsHeadroom: 5,
        teamHeadroom: new Map([['two', 20]]),
        otherQueuesHeadroom: 2,
        queueHeadroom: new Map([[listed ?? '', 9]]),
      })
      assert.deepEqual(teamsOf((await answerOf(source, grant)).work), { one: 5, two: 13 })
    })

    test('opens nothing of a team without room, and asks it last', async () => {
      await push('full', 10)
      await push('other', 10)
      const source = await openExecutor(world, 'e1')
      const grant = grantOf(2, { teamHeadroom: new Map([['full', 0]]) })
      const first = await answerOf(source, grant)
      assert.deepEqual([teamsOf(first.work), first.crowdedTeams], [{ other: 2 }, ['full']])
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
      assert.deepEqual([teamsOf(answer.work), answer.crowdedTeams], [{ small: 3, other: 17 }, []])
    })

    test('a lone team without room stays among those to be asked', async () => {
      await push('full', 10)
      const source = await openExecutor(world, 'e1')
      const none = grantOf(8, { teamHeadroom: new Map([['full', 0]]) })
      for (let i = 0; i < 2; i += 1) {
        const { work, crowdedTeams, runnable } = await answerOf(source, none)
        assert.deepEqual([work.length, crowdedTeams, runnable], [0, ['full'], 1])
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
      const { work, crowdedTeams } = await answerOf(source, grant)
      assert.deepEqual(teamsOf(work), { fine: 4 })
      assert.ok(crowdedTeams.length <= 16)
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
