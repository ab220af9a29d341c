import { afterAll, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { StoreAwayError } from '../../../src/redis/base/client/circuit.ts'
import { shardOfQueue } from '../../../src/redis/base/engine/engine.ts'
import type { ApiAnswer, ApiClient } from '../../support/servers/api-client.ts'
import { newJob, openEngine } from '../../support/engine/engine.ts'
import { startInstallation } from '../../support/engine/installation.ts'
import { startCluster } from '../../support/redis/redis-cluster.ts'
import { freePort, startRedis } from '../../support/servers/redis-server.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Below the 1.5 s and more that each would wait if Redis were not known to be away, beyond what requests that need no Redis
 * take meanwhile: that is the machine's share.
 */
const AT_ONCE_MS = 1_400
const CONTROLS = 32
/** A look a second, and a connection that is made again within one. */
const BACK_MS = 10_000

const PUSH = { queue: 'work', url: 'http://127.0.0.1:9/' }

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-away-'))
  folders.push(folder)
  return folder
}

/** The slower half does not count: it is the machine that is measured then. */
function medianMs(answers: readonly ApiAnswer[]): number {
  return (
    answers.map((answer) => answer.tookMs).sort((a, b) => a - b)[Math.floor(answers.length / 2)] ?? Infinity
  )
}

/** 64 at once on as many connections, of known and new queues, and what else an API answers. */
async function expectAtOnce(client: ApiClient): Promise<void> {
  const asking = Promise.all([
    ...Array.from({ length: 64 }, (_, i) => client.send('POST', '/api/jobs', { ...PUSH, queue: `q-${i}` })),
    client.send('POST', '/api/jobs', PUSH),
    client.send('GET', '/api/jobs'),
    client.send('GET', '/api/jobs/16'),
    client.send('DELETE', '/api/jobs/16'),
    client.send('GET', '/api/queues'),
    client.send('PATCH', '/api/queues/4', { timeout_seconds: 5 }),
    client.send('DELETE', '/api/queues/4'),
    client.send('GET', '/api/crons'),
  ])
  const controlling = Promise.all(
    Array.from({ length: CONTROLS }, () => client.send('GET', '/api/there-is-no-such-path')),
  )
  const [answers, controls] = await Promise.all([asking, controlling])
  expect(controls.map(({ status }) => status)).toEqual(controls.map(() => 404))
  for (const answer of answers) {
    expect(answer).toMatchObject({
      status: 503,
      body: { error: 'The job store is unavailable, try again' },
    })
    expect(answer.headers.get('retry-after')).toBe('2')
  }
  expect(medianMs(answers) - medianMs(controls)).toBeLessThan(AT_ONCE_MS)
}

/** The first pushes find it out. */
async function findOut(client: ApiClient): Promise<void> {
  await until('it is known', async () => {
    const answer = await client.send('POST', '/api/jobs', PUSH)
    return answer.status === 503 && answer.tookMs < AT_ONCE_MS
  })
}

/** The first push that succeeds again. */
async function pushOnceBack(client: ApiClient): Promise<ApiAnswer> {
  let answer = await client.send('POST', '/api/jobs', PUSH)
  const push = async (): Promise<boolean> => {
    answer = await client.send('POST', '/api/jobs', PUSH)
    return answer.status === 201
  }
  await until('pushes succeed', push, BACK_MS)
  return answer
}

describe.concurrent('once Redis is known to be away, every request is a 503 at once, and it is found again', () => {
  test('when it stands still', async () => {
    const here = await startInstallation({ executors: 0 })
    await here.client.push(PUSH)
    here.redis.process.kill('SIGSTOP')
    await findOut(here.client)
    await expectAtOnce(here.client)
    here.redis.process.kill('SIGCONT')
    expect(await pushOnceBack(here.client)).toMatchObject({ status: 201 })
    expect(here.api.program.log.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'Redis does not answer: what needs it is refused until it does',
        'Redis answers again',
      ]),
    )
    await here.close()
  })

  test('when it was killed, and is started again', async () => {
    const options = { port: await freePort(), dataFolder: newFolder() }
    const here = await startInstallation({ redis: options, executors: 0 })
    await here.client.push(PUSH)
    // Redis puts off a write to its file, by up to two seconds, while the disk is busy with an earlier one.
    await until('Redis has written all to its file', async () =>
      (await here.redis.client.info('persistence')).includes('aof_buffer_length:0\r'),
    )
    const died = new Promise((resolve) => here.redis.process.once('exit', resolve))
    here.redis.process.kill('SIGKILL')
    await died
    await findOut(here.client)
    await expectAtOnce(here.client)
    const second = await startRedis(options)
    expect(await pushOnceBack(here.client)).toMatchObject({ status: 201 })
    await here.close()
    await second.stop()
  })

  test('when nothing passes on the way to it', async () => {
    const here = await startInstallation({ executors: 0 })
    const proxy = await startTcpProxy(here.redis.port)
    const { client } = await here.startApi({ PUNCTUAL_REDIS_URL: proxy.url })
    await client.push(PUSH)
    proxy.blackHole()
    await findOut(client)
    await expectAtOnce(client)
    proxy.heal()
    expect(await pushOnceBack(client)).toMatchObject({ status: 201 })
    await here.close()
    await proxy.close()
  })
})

test('an API stops while Redis is known to be away', async () => {
  const here = await startInstallation({ executors: 0 })
  await here.client.push(PUSH)
  here.redis.process.kill('SIGSTOP')
  await findOut(here.client)
  here.api.program.signal('SIGTERM')
  expect(await here.api.program.exited).toEqual({ code: 0, signal: null })
  here.redis.process.kill('SIGCONT')
  await here.close()
})

test('a Redis that answers and takes no writes is away until it takes some', async () => {
  const redis = await startRedis()
  const { intake, close } = await openEngine(redis.url, { isGuarded: true })
  const push = () =>
    intake.push(newJob()).then(
      () => 'created',
      (error: unknown) => (error instanceof StoreAwayError ? 'away' : String(error)),
    )
  expect(await push()).toBe('created')
  await redis.client.config('SET', 'min-replicas-to-write', '1')
  await until('it is known', async () => (await push()) === 'away')
  // Reads would go through: were a look one of them, it would be found out anew after each.
  const knownAtMs = Date.now()
  await until('looks have been refused', async () => {
    expect(await push()).toBe('away')
    return Date.now() > knownAtMs + 2_500
  })
  await redis.client.config('SET', 'min-replicas-to-write', '0')
  await until('it is back', async () => (await push()) === 'created', BACK_MS)
  close()
  await redis.stop()
})

test('a node of a Cluster that is away closes only its own shards', async () => {
  const nodes = await startCluster(['--appendonly', 'no', '--cluster-require-full-coverage', 'no'])
  const { engine, intake, close } = await openEngine(nodes[0].url, {
    shards: 4,
    commandTimeoutMs: 1_500,
    isGuarded: true,
  })
  const queues = Array.from({ length: 40 }, (_, i) => `q-${i}`)
  const pushTo = (queue: string) =>
    intake.push(newJob({ queue })).then(
      () => 'created',
      (error: unknown) => {
        if (error instanceof StoreAwayError) return 'away'
        return error instanceof StoreUnavailableError ? 'fault' : String(error)
      },
    )
  for (const queue of queues) expect(await pushTo(queue)).toBe('created')
  // Which shards are where is what the node that stands still tells by its silence.
  nodes[1].process.kill('SIGSTOP')
  const byShard = Map.groupBy(queues, (queue) => shardOfQueue(engine, 'default', queue).shard)
  expect(byShard.size).toBe(4)
  const first = await Promise.all(
    [...byShard].map(async ([shard, [queue = '']]) => [shard, await pushTo(queue)] as const),
  )
  const healthy = first.filter(([, end]) => end === 'created').map(([shard]) => shard)
  expect(healthy).toHaveLength(2)
  for (const [shard, ofShard] of byShard) {
    for (const queue of ofShard)
      expect([shard, await pushTo(queue)]).toEqual([shard, healthy.includes(shard) ? 'created' : 'away'])
  }
  nodes[1].process.kill('SIGCONT')
  await until(
    'every shard is served',
    async () => (await Promise.all(queues.map(pushTo))).every((end) => end === 'created'),
    BACK_MS,
  )
  close()
  await Promise.all(nodes.map((node) => node.stop()))
})
