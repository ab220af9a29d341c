/** Redis comes back with less than it had, for real: its processes are killed, their files cut, copied and taken over. */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import type { AlertList } from '../../../../clients/typescript/src/generated/wire.ts'
import { startInstallation } from '../../../support/engine/installation.ts'
import type { ApiClient } from '../../../support/servers/api-client.ts'
import type { Program } from '../../../support/servers/processes.ts'
import { freePort, startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { until } from '../../../support/until.ts'

const LOST = 'Redis came back with less than it had answered'
const TOLD = { errors: [LOST] }
const QUEUES = ['bills', 'emails']

const folders: string[] = []
const standalones = createStandaloneWorld()
afterAll(async () => {
  await standalones.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-loss-'))
  folders.push(folder)
  return folder
}

/** The part of the append-only file that grows. */
function growingFile(dataFolder: string): string {
  const folder = join(dataFolder, 'appendonlydir')
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.incr.aof'))
  return join(folder, file)
}

/** What was answered may wait for a flush of the file that is under way, for up to two seconds. */
async function fileIsWritten(client: Pick<TestRedis['client'], 'info'>): Promise<void> {
  await until('the file has all that was answered', async () =>
    /^aof_buffer_length:0\r?$/m.test(await client.info('persistence')),
  )
}

async function kill(redis: TestRedis): Promise<void> {
  const died = new Promise((resolve) => redis.process.once('exit', resolve))
  redis.process.kill('SIGKILL')
  await died
}

/** Pushes to both queues in turn, far ahead, so that no call changes what is counted. */
async function push(client: ApiClient, count: number): Promise<number[]> {
  const run_at = new Date(Date.now() + 86_400_000).toISOString()
  const pushes = Array.from({ length: count }, (_, i) =>
    client.push({ queue: QUEUES[i % 2] as string, url: 'http://127.0.0.1:9/', run_at }),
  )
  return (await Promise.all(pushes)).map(({ job_id: id }) => id)
}

/** As an outsider counts: the jobs that were answered 201 and that nobody finds. */
async function missing(client: ApiClient, ids: readonly number[]): Promise<number> {
  let count = 0
  for (const id of ids) if ((await client.send('GET', `/api/jobs/${id}`)).status === 404) count += 1
  return count
}

/** What the product says is lost is what an outsider counts, in the log, in alerts, and once. */
async function expectToldOnce(client: ApiClient, program: Program, ids: readonly number[]): Promise<number> {
  await until('the API is back', async () => (await client.send('GET', '/api/queues')).status === 200, 20_000)
  const line = await program.logged(LOST)
  const lost = await missing(client, ids)
  expect(line).toMatchObject({ jobs: lost, isAll: true, queues: 2, teams: 1 })
  const { body } = await client.send<AlertList>('GET', '/api/alerts?type=failure&reason=jobs_lost')
  const told = body.alerts.map(({ resource, count }) => [resource.kind, resource.name, count])
  expect(told.map(([kind, name]) => `${kind} ${name}`).toSorted()).toEqual(
    QUEUES.map((name) => `queue ${name}`),
  )
  expect(body.alerts.reduce((sum, { count }) => sum + count, 0)).toBe(lost)
  await push(client, 2)
  expect(program.log.filter(({ msg }) => msg === LOST)).toHaveLength(1)
  return lost
}

describe.concurrent('what Redis came back without is told, as many as an outsider counts', () => {
  test('after the tail of its file was cut; a restart without a loss tells nothing', async () => {
    const options = { port: await freePort(), dataFolder: newFolder() }
    const here = await startInstallation({ redis: options, executors: 0 })
    const ids = await push(here.client, 40)
    await fileIsWritten(here.redis.client)
    await kill(here.redis)
    const second = await startRedis(options)
    await until(
      'it is back',
      async () => (await here.client.send('GET', '/api/queues')).status === 200,
      20_000,
    )
    ids.push(...(await push(here.client, 40)))
    await fileIsWritten(second.client)
    const file = growingFile(options.dataFolder)
    const kept = statSync(file).size
    ids.push(...(await push(here.client, 60)))
    expect(here.api.program.log.filter(({ msg }) => msg === LOST)).toEqual([])
    await fileIsWritten(second.client)
    await kill(second)
    // In the middle of a step, of which nothing may stay.
    truncateSync(file, kept + 100)
    const third = await startRedis(options)
    expect(await expectToldOnce(here.client, here.api.program, ids)).toBe(60)
    await here.close(TOLD)
    await second.stop()
    await third.stop()
  })

  test('after an older copy of its files was put back', async () => {
    const options = { port: await freePort(), dataFolder: newFolder() }
    const here = await startInstallation({ redis: options, executors: 1 })
    const ids = await push(here.client, 30)
    await fileIsWritten(here.redis.client)
    const copy = newFolder()
    cpSync(options.dataFolder, copy, { recursive: true })
    ids.push(...(await push(here.client, 70)))
    await kill(here.redis)
    const second = await startRedis({ ...options, dataFolder: copy })
    expect(await expectToldOnce(here.client, here.api.program, ids)).toBe(70)
    await here.close(TOLD)
    await second.stop()
  })

  test('after a replica that lagged took its place, with executors at work', async () => {
    const options = { port: await freePort(), dataFolder: newFolder() }
    const here = await startInstallation({ redis: options, executors: 1 })
    const dataFolder = newFolder()
    const replica = await startRedis({ dataFolder })
    await replica.client.replicaof('127.0.0.1', options.port)
    const ids = await push(here.client, 30)
    const offset = async (redis: TestRedis) =>
      Number(/master_repl_offset:(\d+)/.exec(await redis.client.info('replication'))?.[1])
    await until('the replica has it', async () => {
      const has = await replica.client.hgetall('punctual:meta')
      return (
        has['installation'] !== undefined && (await offset(replica)) >= (await offset(here.redis)) - 1_000
      )
    })
    await replica.client.replicaof('NO', 'ONE')
    ids.push(...(await push(here.client, 50)))
    await kill(here.redis)
    await kill(replica)
    const second = await startRedis({ ...options, dataFolder })
    expect(await expectToldOnce(here.client, here.api.program, ids)).toBeGreaterThanOrEqual(50)
    await here.close(TOLD)
    await replica.stop()
    await second.stop()
  })

  test('in standalone', async () => {
    const options = { port: await freePort(), dataFolder: newFolder() }
    const first = await startRedis(options)
    const { program, client } = await standalones.start(newFolder(), { PUNCTUAL_REDIS_URL: first.url })
    const ids = await push(client, 20)
    await fileIsWritten(first.client)
    const kept = statSync(growingFile(options.dataFolder)).size
    ids.push(...(await push(client, 30)))
    await kill(first)
    truncateSync(growingFile(options.dataFolder), kept)
    const second = await startRedis(options)
    expect(await expectToldOnce(client, program, ids)).toBe(30)
    await first.stop()
    await second.stop()
  })

  test('in a standalone that is started again with an older copy of its own Redis', async () => {
    const folder = newFolder()
    const first = await standalones.start(folder)
    const ids = await push(first.client, 10)
    const redis = new Redis(join(folder, 'redis', 'redis.sock'), { protocol: 2 })
    await fileIsWritten(redis)
    redis.disconnect()
    const copy = newFolder()
    cpSync(join(folder, 'redis', 'appendonlydir'), copy, { recursive: true })
    ids.push(...(await push(first.client, 20)))
    first.program.signal('SIGTERM')
    await first.program.exited
    const again = await standalones.start(folder)
    again.program.signal('SIGTERM')
    await again.program.exited
    const older = 'Redis holds an older copy of its data'
    expect(again.program.log.filter(({ level }) => level === 'error')).toEqual([])
    rmSync(join(folder, 'redis', 'appendonlydir'), { recursive: true })
    cpSync(copy, join(folder, 'redis', 'appendonlydir'), { recursive: true })
    const { program, client } = await standalones.start(folder)
    await program.logged(older)
    expect(await missing(client, ids)).toBe(20)
    const { body } = await client.send<AlertList>('GET', '/api/alerts?type=failure&reason=jobs_lost')
    expect(body.alerts.map(({ resource, count }) => [resource.kind, resource.name, count])).toEqual([
      ['team', 'default', 1],
    ])
  })
})
