import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { inspect } from '../../../src/redis/inspection/inspect.ts'
import type { RedisConnection } from '../../../src/redis/client/connection.ts'
import { decodeRecord } from '../../../src/redis/layout/job-record.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { CHECK_RING } from '../../../src/redis/maintenance/ring/ring-check.ts'
import { shardKeys } from '../../../src/redis/client/engine.ts'
import { isSuspectWaiting, callbackQueueOf } from '../../../src/redis/layout/keys.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { createShardMaintenance } from '../../../src/redis/maintenance/shard-maintenance.ts'
import { tickAll } from '../../support/engine/tick-all.ts'
import { openConnection, openWorld, type World } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { CRON_SHARDS } from '../crons/cron-scenes.ts'
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
  remake_page: 'as replay, for each job of the page',
  replay: 'the new job and the old one’s summary come before the dead letter goes',
}

describe('a step torn at any call', () => {
  let redis: TestRedis
  let connection: RedisConnection

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
    connection = await openConnection(redis.url)
  })
  afterAll(async () => {
    connection.disconnect()
    await redis.stop()
  })

  test.each(SCENES)('%s: %s', async (name, _, scene) => {
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
    assert.equal(isDoubled, name in MAY_DOUBLE, broken.join('; '))
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
    for (const queue of [CALLBACKS, ...Object.values(await client.hgetall(keys.queueIds)), ...hidden]) {
      const k = keys.queue(queue)
      const bodies = await client.hgetall(k.records)
      const as = (id: string) => (queue === CALLBACKS ? `${CALLBACKS}|${id}` : id)
      const ready = await client.lrange(k.ready, 0, -1)
      for (const id of ready) if (bodies[id] !== undefined) put(as(id), 'ready')
      for (const id of await client.zrange(k.inFlight, '0', '-1')) {
        const isSuspect = isSuspectWaiting((await client.zscore(k.inFlight, id)) ?? '')
        if (bodies[id] !== undefined && held.has(`${queue}|${id}`)) put(as(id), 'in flight')
        else if (isSuspect && (await client.zscore(keys.suspects, `${queue}|${id}`)) !== null)
          put(as(id), 'suspect')
      }
      for (const [id, body] of Object.entries(bodies)) {
        for (const [where, at] of due.get(`${queue}|${id}`) ?? []) {
          if (at === Number(body.slice(0, 13))) put(as(id), where)
        }
      }
      for (const root of await client.zrange(k.deadLetters, '0', '-1'))
        if (await client.hexists(k.deadLetterRecords, root)) put(root, 'dead')
      for (const root of await client.lrange(k.history, 0, -1))
        if (await client.hexists(k.summaries, root)) put(root, 'finished')
    }
    return places
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
