import assert from 'node:assert/strict'
import { Cluster, type Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StartupError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { absentKeyBeside } from '../../../src/redis/base/layout/keys.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, openExecutor, pushOne } from '../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import { beginSlotMove, nodesAgree, ownsSlotOf, startCluster } from '../../support/redis/redis-cluster.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { loadWrappedScripts, type SentStep } from '../../support/lua/wrapped-scripts.ts'
import { CRON_SHARDS } from '../crons/cron-scenes.ts'
import { SCENES, type Scene } from './tear-scenes.ts'

const EVERY = () => true
/** How much of the slot has gone over when the step comes: of the keys in order, all whose place says so. */
const MOVED: ReadonlyArray<readonly [string, (at: number) => boolean]> = [
  ['none', () => false],
  ['every second', (at) => at % 2 === 0],
  ['every other second', (at) => at % 2 === 1],
  ['two of three', (at) => at % 3 !== 0],
  ['all', EVERY],
]
const REFUSED = /^(?:TRYAGAIN|ASK \d+|MOVED \d+) /
const SCRIPTS = loadWrappedScripts()

type Declare = (keys: readonly string[]) => readonly string[]

describe('a step sent while its slot moves to another node', () => {
  let nodes: [TestRedis, TestRedis]
  let connection: RedisConnection
  let cluster: Cluster

  beforeAll(async () => {
    nodes = await startCluster(['--appendonly', 'no'])
    connection = await openConnection(nodes[0].url)
    cluster = new Cluster([{ host: '127.0.0.1', port: nodes[0].port }], { redisOptions: { protocol: 2 } })
    await until('the client knows the nodes', () => cluster.status === 'ready')
  })
  afterAll(async () => {
    cluster.disconnect()
    connection.disconnect()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  const client = {
    flushall: async () => {
      await Promise.all(nodes.map((node) => node.client.flushall()))
      return 'OK' as const
    },
  } as Pick<Redis, 'flushall'>
  const open = () => openWorld({ url: nodes[0].url, client }, { connection, shards: 1 })

  test.each(SCENES.filter(([name]) => !(name in CRON_SHARDS)))(
    'is refused whole: %s, %s',
    async (name, _, scene) => {
      const seen = new Set<string>()
      for (const [, isMoved] of MOVED) {
        for (const refusal of await runMoved(name, scene, isMoved)) seen.add(refusal)
      }
      // Once all keys are over, the old node says where they are; the new one sends away who does not ask.
      expect(seen).toEqual(new Set(['TRYAGAIN', 'ASK', 'MOVED']))
    },
  )

  test('would be torn if none of its keys were sure to be absent', async () => {
    const [, , scene] = SCENES.find(([name]) => name === 'empty_trash') ?? assert.fail('no such scene')
    const act = runMoved(
      'empty_trash',
      scene,
      () => false,
      (keys) => keys,
    )
    await expect(act).rejects.toThrow('Script attempted to access a non local key in a cluster node')
  })

  test('says 503 as long as the move lasts, and goes on when it is over', async () => {
    const world = await open()
    const intake = world.newIntake()
    await pushOne(intake)
    const move = await beginMove(shardKeys(world.engine, 0).clock)
    const faults = [await faultOf(() => pushOne(intake)), await faultOf(() => openExecutor(world, 'e1'))]
    await move.some((at) => at % 2 === 0)
    faults.push(await faultOf(() => createShardMaintenance(world.engine, 0).sweep()))
    await move.finish()
    for (const fault of faults) expect(fault).toBeInstanceOf(StoreUnavailableError)
    await pushOne(intake)
    const work = await claimed(await openExecutor(world, 'e1'), 64)
    expect(work.length).toBeGreaterThanOrEqual(2)
    await assertClean(world)
  })

  /** Sends the step to both nodes in the middle of a move, ends the move and lets the product go on. */
  async function runMoved(
    name: StepName,
    scene: Scene,
    isMoved: (at: number) => boolean,
    declare: Declare = (keys) => [...keys, absentKeyBeside(keys)],
  ): Promise<string[]> {
    const world = await open()
    const act = await scene({ world, client: cluster, intake: world.newIntake(), accepted: [] })
    const refusals: string[] = []
    // Whoever sends the step may keep an error to themselves.
    const faults: unknown[] = []
    world.faults.before = async (step) => {
      if (step.name !== name || refusals.length > 0 || faults.length > 0) return
      const move = await beginMove(step.keys[0] ?? '')
      try {
        await move.some(isMoved)
        const sent = { ...step, keys: declare(step.keys), args: [...step.args, world.clock.wallMs, 0] }
        // A refused step has changed nothing, on either node.
        const before = await contents()
        refusals.push(await refusalOf(move.from, sent, 'plainly'))
        refusals.push(await refusalOf(move.to, sent, 'plainly'))
        refusals.push(await refusalOf(move.to, sent, 'asking'))
        assert.deepEqual(await contents(), before)
      } catch (error) {
        faults.push(error)
        throw error
      } finally {
        await (isMoved === EVERY ? move.finish() : move.cancel())
      }
    }
    await act().catch((error: unknown) => faults.push(error))
    if (faults.length > 0) throw faults[0]
    assert.ok(refusals.length > 0, 'the step was never sent')
    await assertClean(world)
    return refusals
  }

  /** Sends the step; answers the first word of what the node says instead of running it. */
  async function refusalOf(node: TestRedis, step: SentStep, how: 'plainly' | 'asking'): Promise<string> {
    if (how === 'asking') await node.client.call('ASKING')
    const words = [...step.keys, ...step.args].map(String)
    const sent = node.client.eval(SCRIPTS[step.name].source, step.keys.length, ...words)
    const message = await sent.then(
      () => 'it ran',
      (error: unknown) => (error as Error).message,
    )
    assert.match(message, REFUSED)
    return message.split(' ')[0] as string
  }

  async function contents(): Promise<string[]> {
    const both = await Promise.all(
      nodes.map(async (node) => {
        const keys = (await node.client.keys('*')).toSorted()
        // A node that a key has gone to already answers for it to those that ask.
        const values = await Promise.all(
          keys.map((key) => Promise.all([node.client.call('ASKING'), node.client.dumpBuffer(key)])),
        )
        return keys.map((key, i) => `${node.port} ${key} ${values[i]?.[1].toString('base64')}`)
      }),
    )
    return both.flat()
  }

  /** @param key one of the slot that moves */
  async function beginMove(key: string) {
    await nodesAgree(nodes)
    const isFirst = await ownsSlotOf(nodes[0].client, key)
    const [from, to] = isFirst ? nodes : ([nodes[1], nodes[0]] as const)
    return { from, to, ...(await beginSlotMove(from, to, key)) }
  }
})

async function faultOf(act: () => Promise<unknown>): Promise<unknown> {
  return act().then(
    () => null,
    (error: unknown) => error,
  )
}

test('a Cluster whose nodes announce addresses that nobody reaches is refused at the start', async () => {
  const redis = await startRedis({ cluster: true })
  await redis.client.config('SET', 'cluster-announce-port', String(await freePort()))
  const opened = faultOf(() => openConnection(redis.url, 1000))
  const error = await opened
  await redis.stop()
  expect(error).toBeInstanceOf(StartupError)
  expect(String(error)).toContain('cluster-announce-ip')
})

test('the password of the URL opens every node of a Cluster', async () => {
  const redis = await startRedis({ cluster: true })
  await redis.client.config('SET', 'requirepass', 'a secret')
  const url = redis.url.replace('//', '//:a%20secret@')
  const connection = await openConnection(url, 1000)
  await expect(connection.hset('punctual:test', 'a', '1')).resolves.toBe(1)
  connection.disconnect()
  await redis.stop()
})

test('a Cluster that is silent on the connections there are is reached by new ones', async () => {
  const redis = await startRedis({ cluster: true })
  const proxy = await startTcpProxy(redis.port)
  await redis.client.config('SET', 'cluster-announce-port', String(proxy.port))
  const connection = await openConnection(proxy.url, 500)
  await connection.hset('punctual:test', 'a', '1')
  proxy.forgetAll()
  const answer = () => connection.hget('punctual:test', 'a').catch(() => null)
  expect(await until('it answers again', answer)).toBe('1')
  connection.disconnect()
  await Promise.all([proxy.close(), redis.stop()])
})
