import { describe, expect, test } from 'vitest'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { newNamespace } from '../../support/cluster/kubernetes-api.ts'
import { newJob } from '../../support/engine/engine.ts'
import type { Program } from '../../support/servers/processes.ts'
import { freePort, startRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { API_VERSION, openControllerWorld, type ControllerWorld } from './controller-world.ts'

/** Each story waits a lot, so they run concurrently, each in its own world. */
async function inWorld(play: (world: ControllerWorld) => Promise<void>): Promise<void> {
  const world = await openControllerWorld()
  try {
    await play(world)
  } finally {
    await world.close()
  }
}

const inEngine = (world: ControllerWorld, name: string) =>
  createQueueStore(world.engine.engine).getByName(world.namespace, name)

async function makeQueues(world: ControllerWorld, ...names: readonly string[]): Promise<void> {
  for (const name of names) await world.apply('HttpQueue', name, {})
  for (const name of names) await world.reason('HttpQueue', name, 'Reconciled')
}

const versions = async (world: ControllerWorld, ...names: readonly string[]) =>
  Promise.all(names.map(async (name) => (await world.get('HttpQueue', name)).metadata.resourceVersion))

async function metrics(opsUrl: string): Promise<string> {
  return (await fetch(`${opsUrl}/metrics`)).text()
}

const pushLater = (world: ControllerWorld, queue: string) =>
  world.engine.intake.push(newJob({ team: world.namespace, queue, start: { delaySeconds: 3600 } }))

const QUOTA = new URL('../../../src/controller/crons/cron-quota.ts', import.meta.url).href
/** Loaded before the program: plans of crons named `bad` throw, as by a defect of ours. */
const PLANTED = `data:text/javascript,${encodeURIComponent(`
  import { CronQuota } from '${QUOTA}'
  const { obstacle } = CronQuota.prototype
  CronQuota.prototype.obstacle = function (cron) {
    if (cron.metadata.name === 'bad') throw new TypeError('planted')
    return obstacle.call(this, cron)
  }
`)}`

describe.concurrent('a controller', { timeout: 180_000 }, () => {
  test('counts are written when they change, and nothing when they do not', () =>
    inWorld(async (world) => {
      const { opsUrl } = await world.start()
      await makeQueues(world, 'steady', 'busy')
      await pushLater(world, 'busy')
      await until(
        'the delayed job is counted',
        async () => {
          const { status } = await world.get('HttpQueue', 'busy')
          return (status?.['counts'] as { delayed: number } | undefined)?.delayed === 1
        },
        30_000,
      )
      await until(
        'the other was counted too',
        async () => (await world.get('HttpQueue', 'steady')).status?.['counts'],
        30_000,
      )
      const before = await versions(world, 'steady', 'busy')
      // Two syncs later.
      const syncs = async () =>
        Number(/punctual_queue_count_rounds_total (\d+)/.exec(await metrics(opsUrl))?.[1] ?? 0)
      const begun = await syncs()
      await until('two more syncs are over', async () => (await syncs()) >= begun + 2, 60_000)
      expect(await versions(world, 'steady', 'busy')).toEqual(before)
    }))

  test('queues of resources that were deleted by force while nobody led are removed, but not the last ones', () =>
    inWorld(async (world) => {
      const forcedWhileNobodyLeads = async (name: string, leader: Program) => {
        leader.signal('SIGTERM')
        expect(await leader.exited).toMatchObject({ code: 0 })
        await world.force('HttpQueue', name)
        return world.start()
      }
      const first = await world.start()
      await makeQueues(world, 'stays', 'forced')
      const second = await forcedWhileNobodyLeads('forced', first)
      await until('its queue is removed', async () => (await inEngine(world, 'forced')) === null, 45_000)
      expect(await inEngine(world, 'stays')).not.toBeNull()
      // With no resource left, no queue is removed.
      const third = await forcedWhileNobodyLeads('stays', second)
      await third.logged('Queues without a resource are left alone', { timeoutMs: 45_000 })
      expect(await inEngine(world, 'stays')).not.toBeNull()
    }))

  test('when the leader is stopped the other takes the lease at once, and when it is killed the next goes on', ({
    annotate,
  }) =>
    inWorld(async (world) => {
      const first = await world.start()
      await first.logged('Became the leader')
      const second = await world.start()
      const stoppedMs = performance.now()
      first.signal('SIGTERM')
      await second.logged('Became the leader', { timeoutMs: 10_000 })
      expect(await first.exited).toMatchObject({ code: 0, signal: null })
      await annotate(`another leader took ${Math.round(performance.now() - stoppedMs)} ms after a stop`)

      const third = await world.start()
      await until('the standby is ready', async () => (await fetch(`${third.opsUrl}/readyz`)).ok)
      await makeQueues(world, 'before')
      const killedMs = performance.now()
      second.signal('SIGKILL')
      expect(await second.exited).toMatchObject({ code: null, signal: 'SIGKILL' })
      await world.apply('HttpQueue', 'after', {})
      await until('it is applied', async () => (await inEngine(world, 'after')) !== null, 40_000)
      await annotate(`another leader took ${Math.round(performance.now() - killedMs)} ms after a kill`)
    }))

  test('an emptied Redis is reported, and filled from the resources', () =>
    inWorld(async (world) => {
      const first = await world.start()
      await makeQueues(world, 'kept', 'other')
      await pushLater(world, 'kept')
      await world.redis.client.flushall()
      // It exits, because it has loaded names that no longer exist; the next one starts from the emptied Redis.
      await first.exited
      await world.start()
      const lost = await world.reason('HttpQueue', 'kept', 'EngineLost', 'JobsLost')
      expect(lost).toMatchObject({
        status: 'True',
        message: expect.stringContaining('jobs pushed before may be lost'),
      })
      expect(await world.condition('HttpQueue', 'kept', 'Ready')).toMatchObject({ status: 'True' })
      expect(await world.find('HttpQueue', 'other')).not.toBeNull()
    }))

  test('a resource over which it throws says so, once, and those of another team go on', () =>
    inWorld(async (world) => {
      const { namespace, api } = world
      const other = await newNamespace(api)
      const spec = { url: 'https://a.test', cronExpression: '0 3 * * *' }
      const good = { apiVersion: API_VERSION, kind: 'HttpCron', name: 'good', namespace: other }
      await world.apply('HttpCron', 'bad', spec)
      const watched = { PUNCTUAL_WATCH_NAMESPACES: `${namespace},${other}` }
      const broken = await world.start({
        ...watched,
        NODE_OPTIONS: `--import=${PLANTED}`,
      })
      expect(await world.reason('HttpCron', 'bad', 'ReconcileError')).toMatchObject({
        status: 'False',
        observedGeneration: 1,
        message: expect.stringContaining('TypeError: planted'),
      })
      const retries = (): number =>
        broken.log.filter(({ msg }) => msg === 'Reconciling a resource failed; retrying').length
      const { metadata } = await world.get('HttpCron', 'bad')
      const before = retries()
      const { apiVersion, kind, ...goodMetadata } = good
      await api.apply(JSON.stringify({ apiVersion, kind, metadata: goodMetadata, spec }))
      await until('that of the other team is applied', async () =>
        JSON.stringify((await api.get(good)).status ?? {}).includes('"Reconciled"'),
      )
      await until('it was tried twice more', () => Promise.resolve(retries() >= before + 2), 60_000)
      const { status, metadata: now } = await world.get('HttpCron', 'bad')
      expect(now.resourceVersion).toBe(metadata.resourceVersion)
      expect(status?.['conditions']).toMatchObject([{ type: 'Ready' }, { type: 'Stalled', status: 'True' }])
      broken.signal('SIGTERM')
      await broken.exited
      await world.start(watched)
      await world.reason('HttpCron', 'bad', 'Reconciled')
      expect(await world.condition('HttpCron', 'bad', 'Stalled')).toBeUndefined()
    }))

  test('without Redis it starts, reports what is missing, and goes on when Redis is back', () =>
    inWorld(async (world) => {
      const port = await freePort()
      await world.apply('HttpQueue', 'waits', {})
      const { opsUrl } = await world.start({ PUNCTUAL_REDIS_URL: `redis://127.0.0.1:${port}` })
      const unknown = await world.reason('HttpQueue', 'waits', 'BackendUnavailable')
      expect(unknown.status).toBe('Unknown')
      expect((await fetch(`${opsUrl}/readyz`)).status).toBe(503)
      expect((await fetch(`${opsUrl}/healthz`)).status).toBe(200)
      const late = await startRedis({ port })
      try {
        await world.reason('HttpQueue', 'waits', 'Reconciled', 'Ready', 45_000)
        expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200)
      } finally {
        await late.stop()
      }
    }))
})
