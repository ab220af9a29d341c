/** A primary, its replica and a real sentinel that fails over from one to the other. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StoreUnreachableError } from '../../../src/domain/errors.ts'
import { connectRedis } from '../../../src/redis/client/connection.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'

const PASSWORD = 'p@ss word'
const SENTINEL_PASSWORD = 'other'
const folder = mkdtempSync(join(tmpdir(), 'punctual-sentinel-'))
let primary: TestRedis
let replica: TestRedis
let sentinel: ChildProcess
let sentinelPort: number

beforeAll(async () => {
  primary = await startRedis({ password: PASSWORD })
  replica = await startRedis({
    password: PASSWORD,
    settings: ['--replicaof', '127.0.0.1', String(primary.port), '--masterauth', PASSWORD],
  })
  sentinelPort = await freePort()
  const file = join(folder, 'sentinel.conf')
  writeFileSync(
    file,
    [
      `port ${sentinelPort}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `requirepass ${SENTINEL_PASSWORD}`,
      `sentinel monitor Main 127.0.0.1 ${primary.port} 1`,
      `sentinel auth-pass Main "${PASSWORD}"`,
      'sentinel down-after-milliseconds Main 300',
      'sentinel failover-timeout Main 2000',
    ].join('\n'),
  )
  sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const asked = new Redis(sentinelPort, '127.0.0.1', { password: SENTINEL_PASSWORD, protocol: 2 })
  asked.on('error', () => undefined)
  await until('the sentinel knows the replica', async () => {
    const found = await asked.call('SENTINEL', 'REPLICAS', 'Main').catch(() => [])
    return JSON.stringify(found).includes(String(replica.port))
  })
  asked.disconnect()
}, 60_000)

afterAll(async () => {
  const exited = new Promise((resolve) => sentinel.once('exit', resolve))
  sentinel.kill('SIGKILL')
  await exited
  await Promise.all([primary.stop(), replica.stop()])
  rmSync(folder, { recursive: true, force: true })
})

const urlOf = (name: string) => `redis://:${encodeURIComponent(PASSWORD)}@${name}/2`
const connect = (name: string, sentinelPassword: string | null = SENTINEL_PASSWORD) =>
  connectRedis({
    url: urlOf(name),
    sentinels: [{ host: '127.0.0.1', port: sentinelPort }],
    sentinelPassword,
    commandTimeoutMs: 1_000,
    name: 'test',
    logger: quietLogger,
  })

test.each([
  ['a name that they do not know', 'other', SENTINEL_PASSWORD],
  ['a wrong password', 'Main', 'wrong'],
])('with %s, the sentinels are named and the password is not', async (_what, name, password) => {
  const connecting = connect(name, password)
  await expect(connecting).rejects.toBeInstanceOf(StoreUnreachableError)
  await expect(connecting).rejects.toThrow(
    `No primary called ${name} is reached by the sentinels at 127.0.0.1:${sentinelPort}: `,
  )
  await expect(connecting).rejects.not.toThrow(/p(?:@|%40)ss|wrong/)
})

test('the primary is found by its name, and the next one after a failover', { timeout: 60_000 }, async () => {
  const connection = await connect('Main')
  expect(await connection.info('replication')).toContain('role:master')
  await connection.hset('punctual:a', 'before', '1')
  const before = await connection.info('server')
  expect(before).toContain(`tcp_port:${primary.port}`)
  await until('the replica has it', async () => {
    await replica.client.select(2)
    return (await replica.client.hget('punctual:a', 'before')) === '1'
  })
  primary.process.kill('SIGKILL')
  await until(
    'writes go to the former replica',
    () =>
      connection.hset('punctual:a', 'after', '1').then(
        () => true,
        () => false,
      ),
    30_000,
  )
  expect(await connection.info('server')).toContain(`tcp_port:${replica.port}`)
  expect(await connection.hgetall('punctual:a')).toEqual({ before: '1', after: '1' })
  connection.disconnect()
})
