/** A backup that is taken while jobs come and run is the state of one moment, and work goes on from it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { AT_ONCE, backUp, createBackupWorld, putBack } from '../../../support/backup/backup-world.ts'
import { runRole } from '../../../support/backup/role-runs.ts'
import { openEngine } from '../../../support/engine/engine.ts'
import { type Installation, startInstallation } from '../../../support/engine/installation.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { latch } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

const QUEUES = 8
const PUSHERS = 4
const world = createBackupWorld()
let here: Installation
let restored: TestRedis
/** Ids of all jobs that were ever accepted before the restore. */
const ids: number[] = []
/** Of a job that is in flight while the backup is taken. */
let held = 0
const slow = latch()

beforeAll(async () => {
  here = await startInstallation({ executors: 2, redis: { settings: AT_ONCE } })
  here.target.route('/failing', () => ({ status: 500 }))
  for (let at = 0; at < QUEUES; at += 1) {
    await here.client.makeQueue(`load-${at}`, { max_parallelism: 1 + (at % 3), retry_delays: [1, 3600] })
  }
  here.target.route('/held', slow.answering)
  held = (await here.client.push({ queue: 'held', url: `${here.target.url}/held` })).job_id
  await here.target.arrived('/held')
  const signal = { isOver: false }
  const working = Array.from({ length: PUSHERS }, (_, pusher) => work(signal, pusher))
  await until('jobs run', () => here.target.arrivals().length > 100)
  const file = world.path('backup')
  await backUp(here.redis.url, file)
  const atBackup = here.target.arrivals().length
  await until('jobs go on', () => here.target.arrivals().length > atBackup + 20)
  signal.isOver = true
  await Promise.all(working)
  slow.open()
  await here.client.ended(held)
  restored = await world.empty()
  await putBack(restored.url, file)
}, 240_000)
afterAll(async () => {
  await here.close()
  await world.close()
}, 120_000)

async function work(signal: { isOver: boolean }, pusher: number): Promise<void> {
  for (let at = pusher; !signal.isOver; at += PUSHERS) {
    const path = `/${at % 5 === 0 ? 'failing' : 'fine'}/${at}`
    const isLater = at % 7 === 0
    const { status, body } = await here.client.send<{ job_id: number }>('POST', '/api/jobs', {
      queue: `load-${at % QUEUES}`,
      url: here.target.url + path,
      payload: { at },
      ...(isLater && { delay: 3600 }),
    })
    // On a machine that is busier than Redis may be slow, a push is refused now and then.
    if (status !== 201) continue
    ids.push(body.job_id)
    if (!isLater) await here.target.arrived(path)
  }
}

test('the inspection of the engine finds nothing in it, and neither does the doctor', async () => {
  const { engine, close } = await openEngine(restored.url)
  expect(await inspect(engine)).toEqual([])
  close()
  const { out } = await runRole(['doctor', '--only', 'data'], {
    ...here.env,
    PUNCTUAL_REDIS_URL: restored.url,
  })
  expect(out.toString()).toMatch(/^ok +data +\d+ queues in 4 shards\n$/)
})

test('what was in flight is called again, all goes on, and no id is given twice', async () => {
  const env = { PUNCTUAL_REDIS_URL: restored.url }
  const inFlight = async (): Promise<number> => {
    const keys = await restored.client.keys('punctual:*:a:*')
    return (await Promise.all(keys.map((key) => restored.client.zcard(key)))).reduce((sum, n) => sum + n, 0)
  }
  const ready = async (): Promise<number> => {
    const keys = await restored.client.keys('punctual:*:r:*')
    return (await Promise.all(keys.map((key) => restored.client.llen(key)))).reduce((sum, n) => sum + n, 0)
  }
  expect(await inFlight()).toBeGreaterThan(0)
  await here.startExecutor({ ...env, PUNCTUAL_POD_NAME: 'after-restore' })
  // Its executor is gone, and so is its lease, as nobody renews it.
  const [before, after] = await here.target.arrived('/held', 2, 90_000)
  expect(after).toMatchObject({ jobId: held, webhookId: before?.webhookId, attempt: before?.attempt })
  await until('all that was due has ended', async () => (await inFlight()) + (await ready()) === 0, 90_000)
  const api = await here.startApi(env)
  const { job_id: id } = await api.client.push({ queue: 'load-0', url: `${here.target.url}/after` })
  await here.target.arrived('/after')
  expect(id).toBeGreaterThan(Math.max(...ids))
  const tokens = await Promise.all(
    [0, 1, 2, 3].map((shard) => restored.client.get(createShardKeys(shard).fencingToken)),
  )
  expect(Math.min(...tokens.map(Number))).toBeGreaterThanOrEqual(2 ** 31)
  await until('it has ended', async () => (await inFlight()) === 0)
  const { engine, close } = await openEngine(restored.url)
  expect(await inspect(engine)).toEqual([])
  close()
}, 180_000)
