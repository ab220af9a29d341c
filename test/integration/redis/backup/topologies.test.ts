/** Backups of servers of every kind, into servers of every other. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  AT_ONCE,
  backUp,
  contentsOf,
  createBackupWorld,
  putBack,
  refusal,
} from '../../../support/backup/backup-world.ts'
import { runRole } from '../../../support/backup/role-runs.ts'
import { openEngine } from '../../../support/engine/engine.ts'
import { startCluster } from '../../../support/redis/redis-cluster.ts'
import { freePort, type TestRedis } from '../../../support/servers/redis-server.ts'
import { selfSignedCertificate } from '../../../support/targets/certificates.ts'

const world = createBackupWorld()
const folder = mkdtempSync(join(tmpdir(), 'punctual-topologies-'))
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The users that the page gives to the two roles. */
const USERS =
  readFileSync(new URL('../../../../docs/reference/backup.md', import.meta.url), 'utf8').match(
    /^user .+$/gm,
  ) ?? []
test('the page has a user for each role', () => {
  expect(USERS.map((rule) => rule.split(' ')[1])).toEqual(['punctual-backup', 'punctual-restore'])
})

const TAGS = ['h0-6c', 'h1-27', 'h2-3v', 'h3-l6']
/** Keys in each shard, and in one a value that comes in pieces. */
async function fill(client: TestRedis['client'] | Cluster): Promise<void> {
  const fields = Array.from({ length: 25_000 }, (_, i) => [`field ${i}`, randomBytes(200)])
  await client.hset(`punctual:{${TAGS[1]}}:large`, ...fields.flat())
  for (const tag of TAGS) {
    await client.set(`punctual:{${tag}}:text`, tag)
    await client.rpush(`punctual:{${tag}}:list`, 'a', 'b')
  }
}

describe('a Cluster', () => {
  let nodes: [TestRedis, TestRedis]
  let cluster: Cluster
  beforeAll(async () => {
    nodes = await startCluster(AT_ONCE)
    cluster = new Cluster([{ host: '127.0.0.1', port: nodes[0].port }])
    for (const { client } of nodes) {
      for (const rule of USERS) await client.call('ACL', 'SETUSER', ...rule.split(' ').slice(1))
    }
  })
  const urlOf = (place: 0 | 1, user: string): string => `redis://${user}@127.0.0.1:${nodes[place].port}`
  afterAll(async () => {
    cluster.disconnect()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  test('takes the backup of a single server, and the other way round', async () => {
    const from = await world.installed()
    await fill(from.client)
    await backUp(from.url, world.path('single'))
    await putBack(urlOf(0, 'punctual-restore:fifth'), world.path('single'))
    expect(await contentsOf(cluster)).toEqual(await contentsOf(from.client))
    expect(await refusal(nodes[1].url, world.path('single'))).toContain('Redis holds the installation')
    const said = await backUp(urlOf(1, 'punctual-backup:fourth'), world.path('cluster'))
    for (const { port } of nodes) expect(said).toContain(`127.0.0.1:${port} (`)
    const back = await world.empty()
    await putBack(back.url, world.path('cluster'))
    expect(await contentsOf(back.client)).toEqual(await contentsOf(from.client))
    const { engine, close } = await openEngine(back.url)
    expect(engine.shards).toHaveLength(4)
    close()
  }, 120_000)

  test('of which one node is away gives no backup', async () => {
    // Known to be away, or silent: one primary does not answer.
    nodes[1].process.kill('SIGKILL')
    const { code, err } = await runRole(['backup', world.path('half')], { PUNCTUAL_REDIS_URL: nodes[0].url })
    expect(code).not.toBe(0)
    expect(err).toMatch(/^punctual: .+\n$/)
  }, 60_000)
})

describe('a server with TLS and users', () => {
  const path = (name: string): string => join(folder, name)
  const tls = { PUNCTUAL_REDIS_CA: path('cert.pem') }
  const BLIND = 'user blind on >third ~punctual:* resetchannels +@all -psync -sync -restore'
  let servers: TestRedis[]
  let ports: number[]
  const urlOf = (place: number, user: string): string => `rediss://${user}@127.0.0.1:${ports[place]}`

  beforeAll(async () => {
    const { key, cert } = selfSignedCertificate()
    writeFileSync(path('key.pem'), key)
    writeFileSync(path('cert.pem'), cert)
    writeFileSync(path('users.acl'), [...USERS, BLIND, ''].join('\n'))
    ports = [await freePort(), await freePort()]
    const settings = (port: number): string[] => [
      '--tls-port',
      String(port),
      '--tls-auth-clients',
      'no',
      '--tls-cert-file',
      path('cert.pem'),
      '--tls-key-file',
      path('key.pem'),
      '--aclfile',
      path('users.acl'),
    ]
    servers = [
      await world.installed({ settings: settings(ports[0]!) }),
      await world.empty({ settings: settings(ports[1]!) }),
    ]
    await fill(servers[0]!.client)
  })

  test('is copied and filled by users with no other right', async () => {
    const file = world.path('tls')
    await backUp(urlOf(0, 'punctual-backup:fourth'), file, tls)
    await putBack(urlOf(1, 'punctual-restore:fifth'), file, tls)
    expect(await contentsOf(servers[1]!.client)).toEqual(await contentsOf(servers[0]!.client))
  }, 60_000)

  test('says which rights are missing, and leaves no file', async () => {
    const file = world.path('refused')
    const env = { PUNCTUAL_REDIS_URL: urlOf(0, 'blind:third'), ...tls }
    const { code, err } = await runRole(['backup', file], env)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^punctual: 127.0.0.1:\d+ sends no copy of its data: it answers "-NOPERM .+"\. Its user needs \+psync and \+replconf; where a provider allows neither, use the snapshots of the provider\.\n$/,
      ),
    ])
    expect(readdirSync(dirname(file)).filter((name) => name.includes('refused'))).toEqual([])
    await servers[1]!.client.flushall()
    await backUp(urlOf(0, 'punctual-backup:fourth'), file, tls)
    expect(await refusal(urlOf(1, 'blind:third'), file, tls)).toMatch(
      /^1: punctual: Redis refuses a command of the restore: NOPERM .* See "Rights" in docs\/reference\/backup.md\.\n$/,
    )
  }, 60_000)

  test('whose authority is not known is not spoken to', async () => {
    const { code, err } = await runRole(['backup', world.path('strange')], {
      PUNCTUAL_REDIS_URL: urlOf(0, 'punctual-backup:fourth'),
    })
    expect([code, err]).toEqual([2, expect.stringContaining('Redis does not answer')])
  })
})

test('the primary that sentinels name is copied and filled', async () => {
  const [from, to] = [await world.installed(), await world.empty()]
  await fill(from.client)
  const port = await freePort()
  const config = join(folder, 'sentinel.conf')
  const monitors = [
    `sentinel monitor From 127.0.0.1 ${from.port} 1`,
    `sentinel monitor To 127.0.0.1 ${to.port} 1`,
  ]
  writeFileSync(config, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...monitors].join('\n'))
  const sentinel = spawn('redis-server', [config, '--sentinel'], { stdio: 'ignore' })
  const exited = new Promise((resolve) => sentinel.once('exit', resolve))
  try {
    const env = { PUNCTUAL_REDIS_SENTINELS: `127.0.0.1:${port}` }
    const said = await backUp('redis://From', world.path('sentinel'), env)
    expect(said).toContain(`127.0.0.1:${from.port} (`)
    await putBack('redis://To', world.path('sentinel'), env)
    expect(await contentsOf(to.client)).toEqual(await contentsOf(from.client))
  } finally {
    sentinel.kill('SIGKILL')
    await exited
  }
}, 60_000)
