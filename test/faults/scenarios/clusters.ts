import { setTimeout as sleep } from 'node:timers/promises'
import { TOLD_OF_LOSS } from '../runner/play.ts'
import { scenariosOn, type Stage } from '../runner/scenario.ts'
import { startRedisCluster, type RedisCluster } from '../topologies/cluster.ts'
import type { Forgotten } from '../checker/judge.ts'

/** By how much a replica is behind, where it is. */
const BEHIND_MS = 500

const onCluster = scenariosOn(startRedisCluster)
/** What a replica had not received is lost when it takes over, and has to be told. */
const FAILOVER = {
  allowed: { moreCalls: 1 },
  isRepeatable: true,
  expectation: { errors: [TOLD_OF_LOSS] },
}

export const CLUSTER_SCENARIOS = [
  onCluster(
    'F11',
    'a primary of a Cluster hands over to its replica as planned',
    async (stage) =>
      losing(async () => {
        const { primary, replica } = await stage.redis.busiest()
        await replica.client.call('CLUSTER', 'FAILOVER')
        await stage.redis.replaced(primary)
      }),
    FAILOVER,
  ),
  onCluster(
    'F11',
    'a primary of a Cluster is killed, and its replica takes over',
    async (stage) =>
      losing(async () => {
        const { primary } = await stage.redis.busiest()
        await primary.kill()
        await stage.redis.replaced(primary)
        await primary.restart()
      }),
    FAILOVER,
  ),
  onCluster(
    'F11',
    'a primary of a Cluster is killed while its replica is half a second behind',
    async (stage) =>
      losing(async () => {
        const { primary, replica } = await stage.redis.busiest()
        await replica.kill()
        await sleep(BEHIND_MS)
        await primary.kill()
        await replica.restart()
        await stage.redis.replaced(primary)
        await primary.restart()
      }),
    FAILOVER,
  ),
  onCluster('F11', 'a slot of a Cluster moves to another primary', ({ redis }) => redis.moveSlot(), {
    isRepeatable: true,
  }),
  onCluster('F09', 'a primary of a Cluster and its replica are killed and started again', bounceShards, {
    allowed: { moreCalls: 1 },
    isRepeatable: true,
  }),
]

async function losing(strike: () => Promise<void>): Promise<Forgotten> {
  const fromMs = Date.now()
  await strike()
  return { fromMs, toMs: Date.now(), takesAccepted: true }
}

/** The replica first, or it would take over. */
async function bounceShards({ redis, load }: Stage<RedisCluster>): Promise<void> {
  const { primary, replica } = await redis.busiest()
  await replica.kill()
  await primary.kill()
  await load.fails()
  await primary.restart()
  await replica.restart()
}
