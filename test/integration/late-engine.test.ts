import { createSecretKey, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLateEngine } from '../../src/roles/late-engine.ts'
import { createLifecycle, type Lifecycle } from '../../src/roles/lifecycle.ts'
import { createTelemetry } from '../../src/roles/telemetry-part.ts'
import { quietLogger } from '../support/quiet.ts'
import { startRedis, type TestRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

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

function open(redisUrl: string) {
  const telemetry = { ...createTelemetry({ logLevel: 'error', logFormat: 'json' }), logger: quietLogger }
  const secretsKey = createSecretKey(randomBytes(32))
  return openLateEngine(
    { redisUrl, redisCa: null, shards: 2, allowUnsafeRedis: false, secretsKey },
    { name: 'punctual-controller', telemetry, lifecycle },
  )
}

async function connections(): Promise<readonly string[]> {
  const list = String(await redis.client.client('LIST'))
  return [...list.matchAll(/ name=(punctual-\S+)/g)].map(([, name = '']) => name)
}

test('an attempt that fails on its way leaves no connection behind', async () => {
  await redis.client.call('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '+@all', '-subscribe')
  const engine = await open(`redis://deaf:secret@127.0.0.1:${redis.port}`)
  await expect(engine.terms.facts()).rejects.toThrow('it has not answered yet')
  await until('all is closed', async () => (await connections()).length === 0)
})

test('it ends with the lifecycle', async () => {
  const engine = await open(redis.url)
  expect(await engine.terms.facts()).toMatchObject({ term: 0 })
  expect((await connections()).toSorted()).toEqual(['punctual-controller', 'punctual-hints'])
  await lifecycle.stop()
  await until('all is closed', async () => (await connections()).length === 0)
  expect(failures).toEqual([])
})
