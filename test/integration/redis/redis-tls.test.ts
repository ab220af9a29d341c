import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StartupError, StoreUnreachableError } from '../../../src/domain/errors.ts'
import { connectRedis } from '../../../src/redis/base/client/connection.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'
import { quietLogger } from '../../support/quiet.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'punctual-tls-'))
const path = (name: string) => join(folder, name)

let redis: TestRedis
let url: string

beforeAll(async () => {
  const { key, cert } = selfSignedCertificate()
  writeFileSync(path('key.pem'), key)
  writeFileSync(path('cert.pem'), cert)
  writeFileSync(path('other.pem'), selfSignedCertificate('other').cert)
  const port = await freePort()
  url = `rediss://127.0.0.1:${port}`
  redis = await startRedis({
    settings: [
      '--tls-port',
      String(port),
      '--tls-auth-clients',
      'no',
      '--tls-cert-file',
      path('cert.pem'),
      '--tls-key-file',
      path('key.pem'),
    ],
  })
})

afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
})

const connect = (redisCa: string | null) =>
  connectRedis({
    url,
    redisCa,
    commandTimeoutMs: 2_000,
    name: 'test',
    clock: systemClock,
    logger: quietLogger,
  })

test('a server is verified by the authorities of the file', async () => {
  const connection = await connect(path('cert.pem'))
  expect(await connection.ping()).toBe('PONG')
  connection.disconnect()
})

test.each([
  ['no file', null],
  ['the file of another authority', path('other.pem')],
])('by %s it is not', async (_what, file) => {
  await expect(connect(file)).rejects.toBeInstanceOf(StoreUnreachableError)
})

describe('a server that asks for a certificate', () => {
  let strict: TestRedis
  let strictUrl: string

  beforeAll(async () => {
    const port = await freePort()
    strictUrl = `rediss://127.0.0.1:${port}`
    strict = await startRedis({
      settings: [
        '--tls-port',
        String(port),
        '--tls-auth-clients',
        'yes',
        '--tls-ca-cert-file',
        path('cert.pem'),
        '--tls-cert-file',
        path('cert.pem'),
        '--tls-key-file',
        path('key.pem'),
      ],
    })
  })
  afterAll(() => strict.stop())

  const options = {
    redisCa: path('cert.pem'),
    commandTimeoutMs: 2_000,
    name: 'test',
    clock: systemClock,
    logger: quietLogger,
  }

  test('gets the one of the files', async () => {
    const files = { redisCert: path('cert.pem'), redisKey: path('key.pem') }
    const connection = await connectRedis({ url: strictUrl, ...options, ...files })
    expect(await connection.ping()).toBe('PONG')
    connection.disconnect()
  })

  test('takes nobody without', async () => {
    await expect(connectRedis({ url: strictUrl, ...options })).rejects.toBeInstanceOf(StoreUnreachableError)
  })

  test('is not asked with files that cannot be read', async () => {
    const files = { redisCert: path('missing.pem'), redisKey: path('key.pem') }
    await expect(connectRedis({ url: strictUrl, ...options, ...files })).rejects.toThrow(
      'PUNCTUAL_REDIS_CERT cannot be read',
    )
  })
})

test('files that others replace count from the next connection on, once they fit together', async () => {
  const [first, second] = [selfSignedCertificate('first'), selfSignedCertificate('second')]
  for (const [name, { cert }] of Object.entries({ first, second })) writeFileSync(path(`${name}.pem`), cert)
  const files = { redisCa: path('cert.pem'), redisCert: path('client.pem'), redisKey: path('client-key.pem') }
  writeFileSync(files.redisCert, first.cert)
  writeFileSync(files.redisKey, first.key)
  const port = await freePort()
  const strict = await startRedis({
    settings: [
      '--tls-port',
      String(port),
      '--tls-auth-clients',
      'yes',
      '--tls-ca-cert-file',
      path('first.pem'),
      '--tls-cert-file',
      path('cert.pem'),
      '--tls-key-file',
      path('key.pem'),
    ],
  })
  const warnings: string[] = []
  const connection = await connectRedis({
    url: `rediss://127.0.0.1:${port}`,
    ...files,
    commandTimeoutMs: 2_000,
    name: 'test',
    clock: systemClock,
    logger: { ...quietLogger, warn: (message) => void warnings.push(message) },
  })
  const clientId = async () => String(await (connection as Redis).client('ID'))
  const again = async (): Promise<void> => {
    const former = await clientId()
    await strict.client.call('CLIENT', 'KILL', 'ID', former)
    await until('it is connected again', async () => (await clientId().catch(() => former)) !== former)
  }
  writeFileSync(files.redisCert, second.cert)
  await again()
  expect(warnings).toContain('Certificates for Redis cannot be replaced; those of before stay')
  await strict.client.call('CONFIG', 'SET', 'tls-ca-cert-file', path('second.pem'))
  writeFileSync(files.redisKey, second.key)
  await again()
  connection.disconnect()
  await strict.stop()
})

test('a file that cannot be read is said to be so', async () => {
  const connecting = connect(path('missing.pem'))
  await expect(connecting).rejects.toThrow('PUNCTUAL_REDIS_CA cannot be read')
  await expect(connecting).rejects.not.toBeInstanceOf(StoreUnreachableError)
  await expect(connecting).rejects.toBeInstanceOf(StartupError)
})
