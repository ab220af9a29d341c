/** A Redis Cluster of three primaries, each with a replica, as processes on loopback. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SHARD_TAGS } from '../../../src/redis/base/layout/shard-tags.ts'
import { beginSlotMove, equalSlots, joinNodes, nodesAgree } from '../../support/redis/redis-cluster.ts'
import { until } from '../../support/until.ts'
import { startFaultyRedis, type FaultyRedis } from './faulty-redis.ts'
import type { Topology } from './topology.ts'

const PRIMARIES = 3
/** As docs/install.md says. */
const SHARDS = SHARD_TAGS.length
const SETTINGS = [
  '--cluster-require-full-coverage',
  'no',
  // A primary that is silent for so long is replaced.
  '--cluster-node-timeout',
  '1500',
  // A replica that was just started may take over as well.
  '--cluster-replica-validity-factor',
  '0',
  '--repl-diskless-sync-delay',
  '0',
]
/** Elections and copies, on a machine that is busy otherwise. */
const SETTLED_MS = 60_000
/** A node that takes longer is away. */
const INFO_MS = 1_000
/** Keys of a moving slot are carried over in so many parts, with a pause after each. */
const MOVE = { parts: 8, pauseMs: 500 }

export interface RedisCluster extends Topology {
  /** The primary that holds most keys, and its replica. */
  busiest(): Promise<{ readonly primary: FaultyRedis; readonly replica: FaultyRedis }>
  /** Waits until another node is the primary of what this one had. */
  replaced(primary: FaultyRedis): Promise<void>
  /** Moves the slot with most keys from the busiest primary to another one, in parts. */
  moveSlot(): Promise<void>
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const primary = (slots: readonly [number, number]) =>
    startFaultyRedis({ cluster: true, slots, settings: SETTINGS })
  const replica = () => startFaultyRedis({ cluster: true, slots: null, settings: SETTINGS })
  const first: FaultyRedis[] = []
  for (const slots of equalSlots(PRIMARIES)) first.push(await primary(slots))
  const nodes = [...first]
  for (let i = 0; i < PRIMARIES; i += 1) nodes.push(await replica())
  await joinNodes(nodes)
  for (const [at, node] of nodes.slice(PRIMARIES).entries()) await follow(node, first[at] as FaultyRedis)

  const withRole = (role: string) => nodesThat(nodes, (info) => info.includes(`role:${role}`))
  const settled = () => clusterSettled(nodes)

  async function busiest() {
    const sizes = (await withRole('master')).map(async (node) => ({ node, size: await node.client.dbsize() }))
    const [most] = (await Promise.all(sizes)).toSorted((one, other) => other.size - one.size)
    if (most === undefined) throw new Error('no node of the Cluster is a primary')
    const port = `master_port:${most.node.port}\r`
    const [own] = await nodesThat(nodes, (info) => info.includes(port))
    if (own === undefined) throw new Error(`the primary ${most.node.port} has no replica`)
    return { primary: most.node, replica: own }
  }

  await settled()
  return {
    env: {
      PUNCTUAL_REDIS_URL: `redis://127.0.0.1:${first[0]?.port}`,
      PUNCTUAL_SHARDS: String(SHARDS),
    },
    apiEnv: {},
    executorEnv: {},
    engine: { url: `redis://127.0.0.1:${first[0]?.port}`, shards: SHARDS },
    primaries: async () => (await withRole('master')).map(({ client }) => client),
    settled,
    busiest,
    replaced: async ({ port }) => {
      await until(
        `another node has the place of ${port}`,
        async () => (await withRole('master')).filter((node) => node.port !== port).length === PRIMARIES,
        SETTLED_MS,
      )
    },
    moveSlot: async () => {
      await nodesAgree(nodes)
      const { primary: from } = await busiest()
      const to = (await withRole('master')).find((node) => node !== from) as FaultyRedis
      const key = await keyOfFullestSlot(from)
      const move = await beginSlotMove(from, to, key)
      for (let part = 0; part < MOVE.parts; part += 1) {
        await move.some((at) => at % MOVE.parts === part)
        await sleep(MOVE.pauseMs)
      }
      await move.finish()
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

async function follow(replica: FaultyRedis, { client }: FaultyRedis): Promise<void> {
  const id = await client.cluster('MYID')
  // It has to have heard of it.
  await until('it is a replica', () =>
    replica.client.call('CLUSTER', 'REPLICATE', id).then(
      () => true,
      () => false,
    ),
  )
}

/** Those that answer now, by what they say of replication. */
async function nodesThat(
  nodes: readonly FaultyRedis[],
  holds: (info: string) => boolean,
): Promise<FaultyRedis[]> {
  const infos = await Promise.all(nodes.map(async ({ client }) => infoOf(client)))
  return nodes.filter((_, at) => holds(infos[at] ?? ''))
}

/** '' = it is away: a command waits until it is back, also if the connection has not noticed yet. */
async function infoOf(client: FaultyRedis['client']): Promise<string> {
  if (client.status !== 'ready') return ''
  return Promise.race([client.info('replication').catch(() => ''), sleep(INFO_MS, '')])
}

async function clusterSettled(nodes: readonly FaultyRedis[]): Promise<void> {
  await until(
    'every primary has a replica that is in step',
    async () => {
      const whole = await nodesThat(
        nodes,
        (info) => info.includes('role:master') && info.includes('state=online'),
      )
      return whole.length === PRIMARIES
    },
    SETTLED_MS,
  )
  await nodesAgree(nodes)
}

async function keyOfFullestSlot({ client }: FaultyRedis): Promise<string> {
  const bySlot = Map.groupBy(await client.keys('punctual:*'), (key) => /\{.+?\}/.exec(key)?.[0] ?? '')
  bySlot.delete('')
  const [fullest] = [...bySlot.values()].toSorted((one, other) => other.length - one.length)
  if (fullest?.[0] === undefined) throw new Error('the primary has no slot with keys')
  return fullest[0]
}
