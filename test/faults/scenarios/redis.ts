import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInstalled } from '../../support/tools.ts'
import { TOLD_OF_LOSS } from '../runner/play.ts'
import { scenario, scenariosOn, type Stage } from '../runner/scenario.ts'
import type { FaultyRedis } from '../topologies/faulty-redis.ts'
import { startSecuredRedis } from '../topologies/secured-redis.ts'
import { startSingleRedis } from '../topologies/single-redis.ts'
import type { Topology } from '../topologies/topology.ts'

const CUTS = 12
const VALKEY = 'valkey-server'

const scenarioOnValkey = scenariosOn(() => startSingleRedis({ program: VALKEY }))
const scenarioSecured = scenariosOn(startSecuredRedis)

export const REDIS_SCENARIOS = [
  scenario('F09', 'Redis is killed under load and started again', bounce, {
    allowed: { moreCalls: 1 },
    isCheap: true,
    isRepeatable: true,
  }),
  scenarioSecured(
    'F09',
    'a Redis with TLS and a user for each role is killed and started again',
    async (stage) => {
      await bounce(stage)
      assert.deepEqual(await stage.redis.denials(), [])
    },
    { allowed: { moreCalls: 1 }, isCheap: true, isRepeatable: true },
  ),
  scenarioOnValkey('F09', 'Valkey is killed under load and started again', bounce, {
    allowed: { moreCalls: 1 },
    isRepeatable: true,
    obstacle: () => (isInstalled(VALKEY) ? null : `no ${VALKEY} on PATH`),
  }),
  scenario(
    'F10',
    'the machine of Redis loses power and the last half second',
    async ({ here, redis, load }) => {
      const { program } = here.api
      const lines = program.log.length
      const forgotten = await redis.cutPower(500)
      await load.fails()
      await redis.restart()
      await program.logged(TOLD_OF_LOSS, { after: lines })
      return forgotten
    },
    {
      allowed: { moreCalls: 1 },
      isRepeatable: true,
      expectation: { errors: [TOLD_OF_LOSS] },
    },
  ),
  scenario(
    'F13',
    'Redis has no memory left for a while',
    async (stage) => refuseWhile(stage, { setting: 'maxmemory', fault: '1mb', sound: '0' }),
    { isCheap: true, isRepeatable: true },
  ),
  scenario(
    'F15',
    'Redis answers and takes no writes for a while, as with a full disk',
    async (stage) => refuseWhile(stage, { setting: 'min-replicas-to-write', fault: '1', sound: '0' }),
    { isCheap: true, isRepeatable: true },
  ),
  scenario(
    'F16',
    'Redis stands still for three seconds',
    async ({ redis, load }) => {
      redis.pause()
      await load.fails()
      await sleep(3_000)
      redis.resume()
    },
    { isCheap: true, isRepeatable: true },
  ),
  scenario(
    'F16',
    'Redis is 200 ms away for a while',
    async ({ redis: { apiProxy, executorProxy } }) => {
      for (const proxy of [apiProxy, executorProxy]) proxy.delay(200)
      await sleep(5_000)
      for (const proxy of [apiProxy, executorProxy]) proxy.delay(0)
    },
    { isCheap: true, isRepeatable: true },
  ),
  scenario(
    'F35',
    'connections to Redis are slow and are cut in the middle of answers',
    async ({ redis: { apiProxy, executorProxy }, random }) => {
      for (let cut = 0; cut < CUTS; cut += 1) {
        const proxy = random.pick([apiProxy, executorProxy])
        proxy.delay(random.integer(0, 30))
        proxy.cutAfter(random.integer(1, 3_000))
        await sleep(random.integer(100, 500))
      }
      for (const proxy of [apiProxy, executorProxy]) proxy.delay(0)
    },
    { isCheap: true, isRepeatable: true },
  ),
]

async function bounce({ redis, load }: Stage<Topology & FaultyRedis>): Promise<void> {
  await redis.kill()
  await load.fails()
  await redis.restart()
}

interface Refusing {
  readonly setting: string
  readonly fault: string
  readonly sound: string
}

async function refuseWhile({ redis, load }: Stage, { setting, fault, sound }: Refusing): Promise<void> {
  await redis.client.config('SET', setting, fault)
  await load.fails()
  await sleep(2_000)
  await redis.client.config('SET', setting, sound)
}
