import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StartupError, StoreUnreachableError } from '../../../src/domain/errors.ts'
import { connectRedis } from '../../../src/redis/client/connection.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'
import { quietLogger } from '../../support/quiet.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'

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
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', path('cert.pem'), '--tls-key-file', path('key.pem')],
    ],
  })
})

afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
})

const connect = (redisCa: string | null) =>
  connectRedis({ url, redisCa, commandTimeoutMs: 2_000, name: 'test', logger: quietLogger })

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

test('a file that cannot be read is said to be so', async () => {
  const connecting = connect(path('missing.pem'))
  await expect(connecting).rejects.toThrow('PUNCTUAL_REDIS_CA cannot be read')
  await expect(connecting).rejects.not.toBeInstanceOf(StoreUnreachableError)
  await expect(connecting).rejects.toBeInstanceOf(StartupError)
})
