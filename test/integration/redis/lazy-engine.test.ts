import { createSecretKey, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { openLazyEngine } from '../../../src/roles/parts/lazy-engine.ts'
import { createLifecycle, type Lifecycle } from '../../../src/roles/startup/lifecycle.ts'
import { createTelemetry } from '../../../src/roles/parts/telemetry-part.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { quietLogger } from '../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

let redis: TestRedis
let lifecycle: Lifecycle
const failures: string[] = []

beforeEach(async () => {
  redis = await startRedis()
  lifecycle = createLifecycle(quietLogger, {
    signal: new AbortController().signal,
    fail: ({ message }) => void failures.push(message),
  })
})

afterEach(async () => {
  await lifecycle.stop()
  await redis.stop()
})

const clock = createFakeClock()
const errors: string[] = []
const warnings: string[] = []

function open(redisUrl: string) {
  const logger = {
    ...quietLogger,
    error: (_message: string, fields?: object) => void errors.push(JSON.stringify(fields)),
    warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  }
  const telemetry = { ...createTelemetry({ logLevel: 'error', logFormat: 'json' }), logger }
  const secretsKey = createSecretKey(randomBytes(32))
  return openLazyEngine(
    { redisUrl, redisCa: null, shards: 2, allowUnsafeRedis: false, secretsKey, otherSecretsKeys: [] },
    { name: 'punctual-controller', telemetry, lifecycle, clock },
  )
}

async function connections(): Promise<readonly string[]> {
  const list = String(await redis.client.client('LIST'))
  return [...list.matchAll(/ name=(punctual-\S+)/g)].map(([, name = '']) => name)
}

test('an attempt that fails on its way leaves no connection behind', async () => {
  await redis.client.call('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '+@all', '-subscribe')
  const engine = await open(`redis://deaf:secret@127.0.0.1:${redis.port}`)
  await expect(engine.epochs.facts()).rejects.toThrow('Redis cannot be used')
  expect(warnings).toEqual([
    expect.stringMatching(/^Redis cannot be used yet; trying again .*NOPERM.*subscribe/),
  ])
  await until('all is closed', async () => (await connections()).length === 0)
})

test('it ends with the lifecycle', async () => {
  const engine = await open(redis.url)
  expect(await engine.epochs.facts()).toMatchObject({ epoch: 0 })
  expect((await connections()).toSorted()).toEqual(['punctual-controller', 'punctual-hints'])
  await lifecycle.stop()
  await until('all is closed', async () => (await connections()).length === 0)
  expect(failures).toEqual([])
})

test('a Redis that comes late and evicts keys is told once a minute, and to whoever asks for the engine', async () => {
  const { port } = redis
  await redis.stop()
  const engine = await open(`redis://127.0.0.1:${port}`)
  redis = await startRedis({ port, settings: ['--maxmemory-policy', 'allkeys-lru'] })
  const attempt = async (): Promise<void> => {
    await clock.advance(2_000)
    await until('the next attempt is planned', () => clock.timers > 0)
  }
  for (let attempts = 0; attempts < 30; attempts += 1) await attempt()
  expect(errors).toEqual([expect.stringContaining('evict')])
  const facts = engine.epochs.facts()
  await expect(facts).rejects.toBeInstanceOf(StoreUnavailableError)
  await expect(facts).rejects.toMatchObject({ cause: { message: expect.stringContaining('evict') } })
  await attempt()
  expect(errors).toHaveLength(2)
})
