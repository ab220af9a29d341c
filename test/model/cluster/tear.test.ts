import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { decodeRecord } from '../../../src/redis/base/layout/job-record.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { CHECK_RING } from '../../../src/redis/upkeep/maintenance/ring-check.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { isSuspectWaiting, callbackQueueOf, type QueueKeys } from '../../../src/redis/base/layout/keys.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { tickAll } from '../../support/engine/tick-all.ts'
import { openConnection, openWorld, type World } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { CRON_SHARDS } from '../crons/cron-scenes.ts'
import { ONE_FAILED } from '../jobs/mending/mending-scenes.ts'
import { SCENES, type Scene } from './tear-scenes.ts'

/** The callback queue of the one team there is. */
const CALLBACKS = callbackQueueOf('1')

/**
 * Every step is torn at every call it makes, then sent again as the product would. A script that raises an error half
 * way does not roll back. The steps check everything first and then only write what cannot fail, on keys that are all
 * declared, so such a tear is theory; here is how far each step would hold all the same. No tear of any step loses an
 * accepted job or leaves it where nothing claims it. These could make a job run twice, always because a job enters a
 * list before the mark that says so, which is the order that loses nothing:
 */
const MAY_DOUBLE: Readonly<Partial<Record<StepName, string>>> = {
  enqueue: 'places come before the index, by which a resend knows the jobs',
  claim: 'slots come before the ready list is cut, by which the next claim knows what is gone',
  finish: 'given back jobs and callbacks enter their list before the holder lets go, by which a resend knows',
  promote: 'jobs enter the ready list before they leave near',
  tick: 'runs come before the cron’s state, by which a resend knows the ticks',
  remake_page: 'the new job and the old one’s summary come before the dead letter goes',
}

describe('a step torn at any call', () => {
  let redis: TestRedis
  let connection: RedisConnection

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())

  test.each(SCENES)('%s: %s', async (name, title, scene) => {
    const broken: string[] = []
    let at = 1
    for (; ; at += 1) {
      const told = await tearAt(name, scene, at)
      if (told === 'whole') break
      broken.push(...told.map((what) => `${at}: ${what}`))
    }
    assert.ok(at > 1, 'the step was never sent')
    const isDoubled = broken.some((what) => what.includes('doubled'))
    assert.deepEqual(
      broken.filter((what) => !what.includes('doubled')),
      [],
    )
    assert.equal(isDoubled, name in MAY_DOUBLE && title !== ONE_FAILED, broken.join('; '))
  })

  /** Answers what is lost or doubled, or `whole` when the step makes fewer calls. */
  async function tearAt(name: StepName, scene: Scene, at: number): Promise<string[] | 'whole'> {
    const world = await openWorld(redis, { connection, shards: CRON_SHARDS[name] ?? 1 })
    const accepted: number[] = []
    const act = await scene({ world, client: redis.client, intake: world.newIntake(), accepted })
    world.faults.torn.set(name, at)
    await act().catch((error: unknown) => assert.ok(world.faults.tear !== null, error as Error))
    const call = /TORN at \d+ (\w+)/.exec(world.faults.tear ?? '')?.[1]
    if (call === undefined) return 'whole'
    await act()
    const now = await wrongs(world, accepted)
    await recover(world)
    const later = [...(await wrongs(world, accepted)), ...(await stuckQueues(world))]
    return [...new Set([...now.filter((what) => what.includes('doubled')), ...later])].map(
      (what) => `${call}, ${what}`,
    )
  }

  /** Leases run out, what is due moves, retention passes. */
  async function recover(world: World): Promise<void> {
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 3; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    await upkeep.reap()
    for (let i = 0; i < 3; i += 1) await upkeep.sweep()
    // Sweep draws one queue each time; in time it draws every one.
    const keys = shardKeys(world.engine, 0)
    await setRight(world)
    const crons = Object.values(await redis.client.hgetall(keys.cronIds))
    for (const id of [...Object.values(await redis.client.hgetall(keys.queueIds)), ...crons]) {
      await world.engine.runner.run(CHECK_RING.with({ keys, localId: id }))
    }
  }

  /** Accepted jobs that have no place to go on from, and jobs that have two. */
  async function wrongs(world: World, accepted: readonly number[]): Promise<string[]> {
    const places = await placesOf(world)
    const { jobIds } = world.engine
    const found: string[] = []
    for (const [id, where] of places) {
      if (where.length > 1) found.push(`job ${id} doubled: ${where.toSorted().join(', ')}`)
    }
    const chains = Map.groupBy(places, ([id]) =>
      id.startsWith(`${CALLBACKS}|`) ? id : String(jobIds.rootOf(Number(id))),
    )
    for (const [root, jobs] of chains) {
      if (jobs.length > 1)
        found.push(`chain ${root} doubled: ${jobs.map(([, where]) => where.join()).join(', ')}`)
    }
    for (const [mark, count] of await runsByTick(world)) {
      if (count > 1) found.push(`tick ${mark} doubled: ${count} runs`)
    }
    for (const id of accepted) if (!chains.has(String(jobIds.rootOf(id)))) found.push(`job ${id} lost`)
    return found
  }

  /** What a ticker does with crons that are listed too early. */
  async function setRight(world: World): Promise<void> {
    const source = createCronSource(world.engine, 0)
    const due = await source.due(0)
    if (due.length === 0) return
    await tickAll(
      source,
      due.map((cron) => ({ cron, run: [], missed: null, nextMs: cron.expectedMs })),
    )
  }

  /** How many runs each tick of a cron has. */
  async function runsByTick(world: World): Promise<Map<string, number>> {
    const keys = shardKeys(world.engine, 0)
    const runs = new Map<string, number>()
    for (const key of await redis.client.keys(keys.queue('*').records)) {
      for (const text of Object.values(await redis.client.hgetall(key))) {
        const { requestPart, inlinePart, attempt } = decodeRecord(text, null)
        const mark = /,\[(\d+,\d+)\]/.exec(requestPart ?? inlinePart)?.[1]
        if (mark !== undefined && attempt === 1) runs.set(mark, (runs.get(mark) ?? 0) + 1)
      }
    }
    return runs
  }

  /** Queues that may run and that no claim will be led to, and crons that no ticker will be led to. */
  async function stuckQueues(world: World): Promise<string[]> {
    const report = await inspect(world.engine)
    return report
      .filter(({ message }) => /which may run$|has cron/.test(message))
      .map(({ message }) => message)
  }

  async function placesOf(world: World): Promise<Map<string, string[]>> {
    const keys = shardKeys(world.engine, 0)
    const { client } = redis
    const places = new Map<string, string[]>()
    const put = (id: string, where: string) => places.set(id, [...(places.get(id) ?? []), where])
    const due = await dueTimes(world)
    const held = new Set<string>()
    for (const key of await client.keys(keys.heldJobs('*'))) {
      for (const [id, value] of Object.entries(await client.hgetall(key))) {
        if (!id.startsWith('#')) held.add(`${value.split('|')[0]}|${id}`)
      }
    }
    const hidden = Object.values(await client.hgetall(keys.cronIds))
    const suspects = new Set(await client.zrange(keys.suspects, '0', '-1'))
    for (const queue of [CALLBACKS, ...Object.values(await client.hgetall(keys.queueIds)), ...hidden]) {
      const { bodies, ready, slots, dead, finished } = await listsOf(keys.queue(queue))
      const as = (id: string) => (queue === CALLBACKS ? `${CALLBACKS}|${id}` : id)
      for (const id of ready) if (bodies[id] !== undefined) put(as(id), 'ready')
      for (const [id, score] of slots) {
        if (bodies[id] !== undefined && held.has(`${queue}|${id}`)) put(as(id), 'in flight')
        else if (isSuspectWaiting(score) && suspects.has(`${queue}|${id}`)) put(as(id), 'suspect')
      }
      for (const [id, body] of Object.entries(bodies)) {
        for (const [where, at] of due.get(`${queue}|${id}`) ?? []) {
          if (at === Number(body.slice(0, 13))) put(as(id), where)
        }
      }
      for (const root of dead) put(root, 'dead')
      for (const root of finished) put(root, 'finished')
    }
    return places
  }

  /** What a queue has listed; the ended chains only where there is a record as well. */
  async function listsOf(keys: QueueKeys) {
    // One message: there are thousands of tears, and each waits for it more than once.
    const replies = await redis.client
      .pipeline()
      .hgetall(keys.records)
      .lrange(keys.ready, 0, -1)
      .zrange(keys.inFlight, '0', '-1', 'WITHSCORES')
      .zrange(keys.deadLetters, '0', '-1')
      .hkeys(keys.deadLetterRecords)
      .lrange(keys.history, 0, -1)
      .hkeys(keys.summaries)
      .exec()
    const [bodies, ready, flat, dead, letters, history, summaries] = (replies ?? []).map(([error, reply]) => {
      if (error !== null) throw error
      return reply
    }) as [Record<string, string>, string[], string[], string[], string[], string[], string[]]
    const slots = flat.flatMap((id, i): Array<[string, string]> =>
      i % 2 === 0 ? [[id, flat[i + 1] ?? '']] : [],
    )
    return {
      bodies,
      ready,
      slots,
      dead: dead.filter((root) => letters.includes(root)),
      finished: history.filter((root) => summaries.includes(root)),
    }
  }

  async function dueTimes(world: World): Promise<Map<string, Array<[string, number]>>> {
    const keys = shardKeys(world.engine, 0)
    const due = new Map<string, Array<[string, number]>>()
    const note = (member: string, where: string, at: number) =>
      due.set(member, [...(due.get(member) ?? []), [where, at]])
    const near = await redis.client.zrange(keys.nearSet, '0', '-1', 'WITHSCORES')
    for (let i = 0; i < near.length; i += 2) note(near[i] as string, 'near', Number(near[i + 1]))
    for (const minute of await redis.client.zrange(keys.minutes, '0', '-1')) {
      for (const entry of await redis.client.lrange(keys.minuteBucket(Number(minute)), 0, -1)) {
        const [queue, id, offset] = entry.split('|')
        note(`${queue}|${id}`, 'a minute', Number(minute) * 60_000 + Number(offset))
      }
    }
    return due
  }
})
