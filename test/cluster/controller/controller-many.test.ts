import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { socketsTo } from '../../support/servers/process-sockets.ts'
import { until } from '../../support/until.ts'
import { API_VERSION, openControllerWorld, type ControllerWorld } from './controller-world.ts'

/** Enough that statuses take seconds; `npm run measure:controller` takes ten thousand. */
const QUEUES = 300
const MAKERS = 8
/** Four that all calls share, one for the Lease, one for each of five watches. */
const CONNECTIONS = 10
const TEST_TIMEOUT_MS = 180_000

let world: ControllerWorld

beforeAll(async () => {
  world = await openControllerWorld()
  await makeQueues()
})

afterAll(() => world.close())

const nameOf = (index: number) => `queue-${index}`
const path = () => `/apis/${API_VERSION}/namespaces/${world.namespace}/httpqueues`
const limitOf = async (name: string) =>
  (await createQueueStore(world.engine.engine).getByName(world.namespace, name))?.settings.maxParallelism

async function makeQueues(): Promise<void> {
  let next = 0
  const make = async (): Promise<void> => {
    for (let index = next++; index < QUEUES; index = next++) {
      const metadata = { name: nameOf(index) }
      const spec = { maxParallelism: 3 }
      await world.api.send('POST', path(), { apiVersion: API_VERSION, kind: 'HttpQueue', metadata, spec })
    }
  }
  await Promise.all(Array.from({ length: MAKERS }, make))
}

async function listed(): Promise<readonly AnyObject[]> {
  return ((await world.api.send('GET', path())) as unknown as { items: AnyObject[] }).items
}

async function roundsOf(opsUrl: string): Promise<number> {
  const page = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(/punctual_queue_count_rounds_total (\d+)/.exec(page)?.[1] ?? 0)
}

const isAnswered = ({ status }: AnyObject) => status?.['queueId'] !== undefined
const hasCounts = ({ status }: AnyObject) => status?.['counts'] !== undefined
const versions = (queues: readonly AnyObject[]) => queues.map(({ metadata }) => metadata.resourceVersion)

test(
  'many are applied before their statuses are written, an edit has priority, and then nothing is written',
  async () => {
    const controller = await world.start()
    const names = world.engine.engine.shards.map(({ queueIds: names }) => names)
    const applied = async () => {
      const counts = await Promise.all(names.map((key) => world.redis.client.hlen(key)))
      return counts.reduce((sum, count) => sum + count, 0)
    }
    await until('all are applied', async () => (await applied()) >= QUEUES, 60_000)
    const answered = (await listed()).filter(isAnswered)
    expect(answered.length).toBeLessThan(QUEUES / 2)

    const last = nameOf(QUEUES - 1)
    await world.apply('HttpQueue', last, { maxParallelism: 9 })
    await until('the edit is applied', async () => (await limitOf(last)) === 9)
    expect((await listed()).every(isAnswered)).toBe(false)

    await until('all have a status with counts', async () => (await listed()).every(hasCounts), 90_000)
    const port = Number(new URL(inject('clusterAccess').url).port)
    expect(socketsTo(controller.pid, port).length).toBeLessThanOrEqual(CONNECTIONS)

    const before = versions(await listed())
    const begun = await roundsOf(controller.opsUrl)
    await until(
      'two more syncs are over',
      async () => (await roundsOf(controller.opsUrl)) >= begun + 2,
      60_000,
    )
    expect(versions(await listed())).toEqual(before)
  },
  TEST_TIMEOUT_MS,
)
