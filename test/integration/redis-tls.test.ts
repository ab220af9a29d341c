import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { connectRedis, type RedisConnection } from '../../src/redis/connection.ts'
import { selfSignedCertificate } from '../support/certificates.ts'
import { quietLogger } from '../support/quiet.ts'
import { freePort, startRedis, type TestRedis } from '../support/redis-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'punctual-tls-'))
const ca = join(folder, 'ca.pem')
const keyFile = join(folder, 'key.pem')
const { key, cert } = selfSignedCertificate()
writeFileSync(ca, cert)
writeFileSync(keyFile, key)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened: Array<() => unknown> = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A Redis that is reached by TLS, and by this certificate alone. */
async function startTlsRedis(cluster: boolean): Promise<{ redis: TestRedis; url: string }> {
  const port = await freePort()
  const files = ['--tls-cert-file', ca, '--tls-key-file', keyFile, '--tls-ca-cert-file', ca]
  // With tls-cluster the nodes name each other's TLS ports.
  const mode = cluster ? ['--tls-cluster', 'yes'] : []
  const settings = ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no', ...mode]
  const redis = await startRedis({ cluster, settings })
  opened.push(() => redis.stop())
  return { redis, url: `rediss://127.0.0.1:${port}` }
}

async function connect(url: string, redisCa?: string): Promise<RedisConnection> {
  const options = { url, name: 'test', commandTimeoutMs: 2_000, logger: quietLogger }
  const connection = await connectRedis({ ...options, ...(redisCa === undefined ? {} : { redisCa }) })
  opened.push(() => connection.disconnect())
  return connection
}

test.each([
  ['server', false],
  ['Cluster', true],
])('a %s is verified by the authorities of a file', { timeout: 30_000 }, async (_, cluster) => {
  const { redis, url } = await startTlsRedis(cluster)
  const connection = await connect(url, ca)
  await connection.hset('punctual:tls', 'way', 'closed')
  expect(await redis.client.hget('punctual:tls', 'way')).toBe('closed')
})

test('a server that nobody vouches for is refused, and the reason told', { timeout: 30_000 }, async () => {
  const { url } = await startTlsRedis(false)
  await expect(connect(url)).rejects.toThrow(/Redis does not answer at rediss:.*self-signed certificate/)
})

test('a file that is not there is told by the name of its setting', async () => {
  await expect(connect('rediss://127.0.0.1:1', join(folder, 'none.pem'))).rejects.toThrow(
    /^PUNCTUAL_REDIS_CA cannot be read: ENOENT/,
  )
})

test('without TLS the file is not asked for', { timeout: 30_000 }, async () => {
  const { redis } = await startTlsRedis(false)
  const connection = await connect(redis.url, join(folder, 'none.pem'))
  expect(await connection.ping()).toBe('PONG')
})
