import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CREDENTIALS_ALONE, credentialsOf, usersFile } from '../../support/redis/redis-users.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'
import { startFaultyRedis, type FaultyRedis } from './faulty-redis.ts'
import type { Topology } from './topology.ts'

/** One server that roles reach by TLS, each as the user that docs/install.md gives to it. */
export interface SecuredRedis extends Topology, FaultyRedis {
  /** What Redis has denied to anyone. */
  denials(): Promise<readonly unknown[]>
}

export async function startSecuredRedis(): Promise<SecuredRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-secured-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const { key, cert } = selfSignedCertificate()
  const [keyFile, certFile] = [file('key.pem', key), file('cert.pem', cert)]
  const tlsPort = String(await freePort())
  const secured = ['--tls-port', tlsPort, '--tls-auth-clients', 'no', '--tls-cert-file', certFile]
  const redis = await startFaultyRedis({
    settings: [...secured, '--tls-key-file', keyFile, '--aclfile', file('users.acl', usersFile())],
  })
  const urlFor = (credentials: string) => `rediss://${credentials}127.0.0.1:${tlsPort}`
  return {
    ...redis,
    env: { PUNCTUAL_REDIS_URL: urlFor(credentialsOf('executor')), PUNCTUAL_REDIS_CA: certFile },
    apiEnv: { PUNCTUAL_REDIS_URL: urlFor(CREDENTIALS_ALONE) },
    executorEnv: {},
    // The test itself comes as nobody in particular, in the clear.
    engine: { url: `redis://127.0.0.1:${redis.port}` },
    primaries: async () => [redis.client],
    settled: async () => void (await redis.client.ping()),
    denials: async () => (await redis.client.call('ACL', 'LOG')) as unknown[],
  }
}
