/** A primary, its replica and a real sentinel that fails over from one to the other. */
import { spawn, type ChildProcess } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StoreUnreachableError } from '../../../src/domain/errors.ts'
import { connectRedis } from '../../../src/redis/base/client/connection.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'

const PASSWORD = 'p@ss word'
const SENTINEL_PASSWORD = 'other'
/** Half of the time from the first word of a failover to the promotion. */
const AHEAD_NS = 50e6
const folder = mkdtempSync(join(tmpdir(), 'punctual-sentinel-'))
let primary: TestRedis
let replica: TestRedis
let sentinel: ChildProcess
let sentinelPort: number

beforeAll(async () => {
  primary = await startRedis({ password: PASSWORD, settings: ['--masterauth', PASSWORD] })
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
    clock: systemClock,
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

test('a primary that refuses leaves no connection to a sentinel behind', async () => {
  const connecting = connectRedis({
    url: 'redis://:wrong@Main/2',
    sentinels: [{ host: '127.0.0.1', port: sentinelPort }],
    sentinelPassword: SENTINEL_PASSWORD,
    commandTimeoutMs: 1_000,
    name: 'refused',
    clock: systemClock,
    logger: quietLogger,
  })
  await expect(connecting).rejects.toBeInstanceOf(StoreUnreachableError)
  const asked = new Redis(sentinelPort, '127.0.0.1', { password: SENTINEL_PASSWORD, protocol: 2 })
  await until('they have ended', async () => !String(await asked.client('LIST')).includes('name=refused'))
  asked.disconnect()
})

test('no write is answered by a primary that a planned failover deposes', { timeout: 60_000 }, async () => {
  const connection = await connect('Main')
  const asked = new Redis(sentinelPort, '127.0.0.1', { password: SENTINEL_PASSWORD, protocol: 2 })
  const answered: string[] = []
  let isOver = false
  const turns = monitorEventLoopDelay({ resolution: 5 })
  turns.enable()
  const writing = (async () => {
    for (let i = 0; !isOver; i += 1) {
      const wrote = await connection.hset('punctual:planned', String(i), '1').catch(() => null)
      if (wrote === null) await new Promise((resolve) => setTimeout(resolve, 5))
      else answered.push(String(i))
    }
  })()
  await until('writes are answered', () => answered.length > 100)
  await asked.call('SENTINEL', 'FAILOVER', 'Main')
  await until('the replica has taken over', async () =>
    (await replica.client.info('replication')).includes('role:master'),
  )
  const before = answered.length
  await until('writes are answered again', () => answered.length > before + 100)
  isOver = true
  await writing
  expect(await connection.info('server')).toContain(`tcp_port:${replica.port}`)
  await replica.client.select(2)
  const kept = new Set(await replica.client.hkeys('punctual:planned'))
  const lost = answered.filter((field) => !kept.has(field))
  // A process that stands still hears of the failover when it is too late.
  expect(turns.max < AHEAD_NS ? lost : []).toEqual([])
  connection.disconnect()
  asked.disconnect()
  // The sentinel would tell it so ten seconds later.
  await primary.client.call('REPLICAOF', '127.0.0.1', String(replica.port))
})

test('the primary is found by its name, and the next one after a failover', { timeout: 60_000 }, async () => {
  // The former primary takes itself for one for a while.
  const [first, second] = (await replica.client.info('replication')).includes('role:master')
    ? [replica, primary]
    : [primary, replica]
  await until('the other is its replica', async () =>
    (await second.client.info('replication')).includes('master_link_status:up'),
  )
  const connection = await connect('Main')
  expect(await connection.info('replication')).toContain('role:master')
  await connection.hset('punctual:a', 'before', '1')
  const before = await connection.info('server')
  expect(before).toContain(`tcp_port:${first.port}`)
  await until('the replica has it', async () => {
    await second.client.select(2)
    return (await second.client.hget('punctual:a', 'before')) === '1'
  })
  first.process.kill('SIGKILL')
  await until(
    'writes go to the former replica',
    () =>
      connection.hset('punctual:a', 'after', '1').then(
        () => true,
        () => false,
      ),
    30_000,
  )
  expect(await connection.info('server')).toContain(`tcp_port:${second.port}`)
  expect(await connection.hgetall('punctual:a')).toEqual({ before: '1', after: '1' })
  connection.disconnect()
})
