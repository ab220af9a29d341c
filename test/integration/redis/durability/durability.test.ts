/** What an API promises of the jobs it accepts, on a primary with and without a replica. */
import { afterAll, afterEach, expect, test } from 'vitest'
import { makeKeptFolder } from '../../../support/engine/kept-folder.ts'
import { runProgram, stopProgram } from '../../../support/servers/processes.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { until } from '../../../support/until.ts'

const TOKEN = 'a-token-of-team-default'
const SETTINGS = {
  PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUNCTUAL_TOKEN: TOKEN,
  PUNCTUAL_PORT: '0',
  PUNCTUAL_OPS_PORT: '0',
}
const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
const servers: TestRedis[] = []
const frozen = new Set<TestRedis>()
afterEach(() => {
  for (const redis of frozen) redis.process.kill('SIGCONT')
  frozen.clear()
})
afterAll(() => Promise.all(servers.map((redis) => redis.stop())))

async function start(settings: readonly string[] = []): Promise<TestRedis> {
  const redis = await startRedis({ settings })
  servers.push(redis)
  return redis
}

async function startReplica(primary: TestRedis): Promise<TestRedis> {
  const replica = await start(['--replicaof', '127.0.0.1', String(primary.port)])
  await until('the replica is in step', async () =>
    (await primary.client.info('replication')).includes('state=online'),
  )
  return replica
}

function runApi(redis: TestRedis, durability: string) {
  return runProgram(['api'], {
    ...SETTINGS,
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_REDIS_DURABILITY: durability,
    ...makeKeptFolder().env(),
  })
}

async function push(url: string, key: string): Promise<Response> {
  const body = JSON.stringify({ queue: 'q', url: 'https://target.example/' })
  return fetch(`${url}/api/jobs`, { method: 'POST', headers: { ...HEADERS, 'Idempotency-Key': key }, body })
}

test('replicated: a job is accepted once a replica has it, not by a repeat that writes nothing', async () => {
  const primary = await start()
  const replica = await startReplica(primary)
  const api = runApi(primary, 'replicated')
  const { url } = (await api.logged('The API listens')) as unknown as { url: string }
  expect((await push(url, 'first')).status).toBe(201)
  replica.process.kill('SIGSTOP')
  frozen.add(replica)
  const refused = await push(url, 'second')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('Retry-After')).not.toBeNull()
  // It is written by now, so a repeat finds it.
  expect((await push(url, 'second')).status).toBe(503)
  const list = await fetch(`${url}/api/jobs?limit=9`, { headers: HEADERS })
  expect(list.status).toBe(200)
  replica.process.kill('SIGCONT')
  frozen.delete(replica)
  await until('it is accepted', async () => (await push(url, 'second')).status < 300)
  await stopProgram(api)
})

test('fsync: a Redis that keeps writes for a second is refused with what mends it', async () => {
  const redis = await start()
  const refused = runApi(redis, 'fsync')
  expect(await refused.exited).toEqual({ code: 2, signal: null })
  expect(refused.errorLines).toEqual([
    expect.stringContaining(
      '(appendfsync is everysec), and PUNCTUAL_REDIS_DURABILITY is fsync: run "redis-cli',
    ),
  ])
  await redis.client.config('SET', 'appendfsync', 'always')
  const api = runApi(redis, 'fsync')
  await api.logged('The API listens')
  expect(await stopProgram(api)).toEqual([])
})

test('replicated: an API waits for a replica, and begins when there is one', async () => {
  const primary = await start()
  const api = runApi(primary, 'replicated')
  expect(await api.logged('Waiting for Redis')).toMatchObject({
    reason: expect.stringContaining('no replica that is in step'),
  })
  await startReplica(primary)
  await api.logged('The API listens')
  expect(await stopProgram(api)).toEqual([])
})
