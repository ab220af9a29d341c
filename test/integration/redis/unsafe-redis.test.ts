/** A Redis that is set to lose jobs while the program runs. */
import { afterAll, expect, test } from 'vitest'
import { connectRedis } from '../../../src/redis/base/client/connection.ts'
import { readServers } from '../../../src/redis/base/installation/server-look.ts'
import { quietLogger } from '../../support/quiet.ts'
import { makeKeptFolder } from '../../support/engine/kept-folder.ts'
import { runProgram, stopProgram } from '../../support/servers/processes.ts'
import { startCluster } from '../../support/redis/redis-cluster.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'

const SETTINGS = {
  PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUNCTUAL_TOKEN: 'a-token-of-team-default',
  PUNCTUAL_PORT: '0',
}
const HEADERS = { Authorization: `Bearer ${SETTINGS.PUNCTUAL_TOKEN}`, 'Content-Type': 'application/json' }
const started: TestRedis[] = []
afterAll(() => Promise.all(started.map((redis) => redis.stop())))

async function look(url: string) {
  const connection = await connectRedis({
    url,
    commandTimeoutMs: 5_000,
    name: 'test',
    clock: systemClock,
    logger: quietLogger,
  })
  return { read: () => readServers(connection), close: () => connection.disconnect() }
}

test(
  'is told of by the API within a minute, which takes pushes and is ready',
  { timeout: 120_000 },
  async () => {
    const redis = await startRedis()
    started.push(redis)
    const port = await freePort()
    const env = { ...SETTINGS, PUNCTUAL_REDIS_URL: redis.url, PUNCTUAL_OPS_PORT: String(port) }
    const api = runProgram(['api'], { ...env, ...makeKeptFolder().env() })
    const { url } = (await api.logged('The API listens')) as unknown as { url: string }
    const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(await metrics()).toContain('punctual_redis_risks{risk="eviction"} 0')
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
    await redis.client.config('SET', 'appendonly', 'no')
    await until(
      'both are logged',
      async () => api.log.filter(({ msg }) => msg === 'Redis puts jobs at risk').length === 2,
      60_000,
    )
    expect(api.log.find(({ msg }) => msg === 'Redis puts jobs at risk')).toMatchObject({
      level: 'error',
      server: `127.0.0.1:${redis.port}`,
      problem: expect.stringContaining('maxmemory-policy is allkeys-lru'),
    })
    const body = JSON.stringify({ queue: 'q', url: 'https://target.example/' })
    const pushed = await fetch(`${url}/api/jobs`, { method: 'POST', headers: HEADERS, body })
    expect(pushed.status).toBe(201)
    const list = await fetch(`${url}/api/jobs?limit=1`, { headers: HEADERS })
    expect(list.status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    const text = await metrics()
    expect(text).toContain('punctual_redis_risks{risk="eviction"} 1')
    expect(text).toContain('punctual_redis_risks{risk="append_only_off"} 1')
    expect(text).toContain(`punctual_redis_aof_enabled{server="127.0.0.1:${redis.port}"} 0`)
    expect(text).toContain('punctual_http_requests_total{method="POST",route="/api/jobs",code="201"} 1')
    expect(text).toContain('punctual_http_requests_total{method="GET",route="/api/jobs",code="200"} 1')
    const told = expect.stringContaining('Redis puts jobs at risk') as string
    expect(await stopProgram(api)).toEqual([told, told])
  },
)

test('of a Cluster each primary is looked at, under its own address', async () => {
  const nodes = await startCluster()
  started.push(...nodes)
  const { read, close } = await look(nodes[0].url)
  await nodes[1].client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const servers = await read()
  const risks = new Map([...servers].map(([name, server]) => [name, server?.risks.map(({ risk }) => risk)]))
  expect(risks).toEqual(
    new Map(nodes.map(({ port }, i) => [`127.0.0.1:${port}`, i === 1 ? ['eviction'] : []])),
  )
  close()
})

test('one that is safe says what it uses, and when it was saved', async () => {
  const redis = await startRedis({ settings: ['--maxmemory', '100mb'] })
  started.push(redis)
  const { read, close } = await look(redis.url)
  const server = (await read()).get(`127.0.0.1:${redis.port}`)
  expect(server).toMatchObject({ maxBytes: 104_857_600, evictedKeys: 0, isAppendOnly: true, risks: [] })
  expect(server?.usedBytes).toBeGreaterThan(500_000)
  expect(server?.savedAtSeconds).toBeGreaterThan(1_700_000_000)
  close()
})
