/** Nothing starts on a Redis that is half restored, and a restore that was broken off is gone on with. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { takeTarget } from '../../../../src/redis/backup/restore/restore-target.ts'
import {
  backUp,
  contentsOf,
  createBackupWorld,
  putBack,
  refusal,
} from '../../../support/backup/backup-world.ts'
import { archiveOf, headerOf, INSTALLATION, rdbFile } from '../../../support/backup/rdb-bytes.ts'
import { type HeldRole, holdRole, runRole } from '../../../support/backup/role-runs.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { until } from '../../../support/until.ts'

const KEY = 'punctual:{h2-3v}:value'
const KEYS = 3_000
const world = createBackupWorld()
const file = world.path('backup')
const other = world.path('other')
let from: TestRedis
let bytes: Buffer

beforeAll(async () => {
  from = await world.installed()
  const values = Array.from({ length: KEYS }, (_, i) => [`${KEY}-${i}`, randomBytes(6_000)])
  await from.client.mset(...values.flat())
  await backUp(from.url, file)
  await backUp(from.url, other)
  bytes = readFileSync(file)
}, 60_000)
afterAll(() => world.close())

/** A restore that has written about half and waits for more. */
async function half(to: TestRedis): Promise<{ role: HeldRole; rest: Buffer }> {
  const role = holdRole(['restore', '-'], { PUNCTUAL_REDIS_URL: to.url })
  const middle = Math.floor(bytes.length / 2)
  await role.feed(bytes.subarray(0, middle))
  await until('some keys are there', async () => (await to.client.dbsize()) > KEYS / 5)
  return { role, rest: bytes.subarray(middle) }
}

describe('a restore that is killed', () => {
  let to: TestRedis
  const UNDER_WAY = 'A restore into this Redis is under way, or was broken off'
  beforeAll(async () => {
    to = await world.empty()
    const { role } = await half(to)
    await role.kill()
  }, 60_000)

  test.each([
    ['executor', {}],
    ['standalone', { PUNCTUAL_DATA_DIR: world.path('data') }],
    ['api', { PUNCTUAL_DATA_DIR: world.path('api'), PUNCTUAL_RESOURCES: world.path('resources') }],
  ])('leaves a Redis that role %s refuses', async (role, further) => {
    const env = {
      PUNCTUAL_REDIS_URL: to.url,
      PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      PUNCTUAL_PORT: '0',
      PUNCTUAL_OPS_PORT: '0',
      ...further,
    }
    const { code, err } = await runRole([role], env)
    expect([code, err]).toEqual([2, expect.stringContaining(UNDER_WAY)])
  })

  test('is found by the doctor', async () => {
    const env = { PUNCTUAL_REDIS_URL: to.url, PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64') }
    const { code, out } = await runRole(['doctor'], env)
    expect([code, out.toString()]).toEqual([1, expect.stringContaining(UNDER_WAY)])
    expect(out.toString()).toContain('Nothing starts on it until the restore is over')
  })

  test('is no source of a backup', async () => {
    const { code, err } = await runRole(['backup', world.path('half')], { PUNCTUAL_REDIS_URL: to.url })
    expect([code, err]).toEqual([1, expect.stringContaining(UNDER_WAY)])
  })

  test('is not gone on with by another backup', async () => {
    expect(await refusal(to.url, other)).toMatch(
      /^1: punctual: A restore of another backup is under way here, or was broken off: .*\(id [0-9a-f]{16}\), or take an empty Redis\.\n$/,
    )
  })

  test('is gone on with by the same, to the same end', async () => {
    await to.client.set(`${KEY}-0`, 'half of it')
    expect(await putBack(to.url, file)).toContain('over a restore that was broken off')
    expect(await contentsOf(to.client)).toEqual(await contentsOf(from.client))
    expect(await refusal(to.url, file)).toMatch(
      /^1: punctual: Redis holds the installation [0-9a-f]{12} with/,
    )
  })
})

test('of two restores at once the later one writes, and the earlier ends', async () => {
  const to = await world.empty()
  const { role, rest } = await half(to)
  await putBack(to.url, file)
  await to.client.mset(...Array.from({ length: KEYS }, (_, i) => [`${KEY}-${i}`, 'later']).flat())
  await role.feed(rest)
  const { code, err } = await role.finish()
  expect([code, err]).toEqual([1, expect.stringContaining('Another restore has begun in this Redis')])
  const values = await to.client.mget(Array.from({ length: KEYS }, (_, i) => `${KEY}-${i}`))
  expect(new Set(values)).toEqual(new Set(['later']))
})

test('of two restores of different backups one takes the Redis, however long its look takes', async () => {
  const to = await world.empty()
  const { promise: mayLook, resolve: letLook } = Promise.withResolvers<void>()
  const { promise: looks, resolve: noteLook } = Promise.withResolvers<void>()
  const first = to.client.duplicate()
  const scan = first.scan.bind(first) as (...words: unknown[]) => Promise<unknown>
  Object.assign(first, {
    scan: async (...words: unknown[]) => {
      noteLook()
      await mayLook
      return scan(...words)
    },
  })
  const taken = takeTarget(first, headerOf({ id: 'first' }), 'empty it')
  await looks
  const second = takeTarget(to.client, headerOf({ id: 'second' }), 'empty it')
  await expect(second).rejects.toThrow('A restore of another backup is under way here')
  letLook()
  await (await taken).check()
  expect((await taken).isContinued).toBe(false)
  expect((await takeTarget(to.client, headerOf({ id: 'first' }), 'empty it')).isContinued).toBe(true)
  first.disconnect()
})

test('a restore whose primary was replaced meanwhile ends, and is repeated', async () => {
  const to = await world.empty({ settings: ['--enable-debug-command', 'yes'] })
  const { role, rest } = await half(to)
  // What INFO says after a failover, or after a restart.
  await to.client.call('DEBUG', 'CHANGE-REPL-ID')
  await role.feed(rest)
  const { code, err } = await role.finish()
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/failed over meanwhile \(or was restarted\).*: run the restore once more\.\n$/),
  ])
  expect(await to.client.hget('punctual:meta', 'version')).toBe('restoring')
  await putBack(to.url, file)
  expect(await contentsOf(to.client)).toEqual(await contentsOf(from.client))
})

test('a primary that is replaced when all seems done leaves what nothing starts on', async () => {
  const to = await world.empty({ settings: ['--enable-debug-command', 'yes'] })
  const target = await takeTarget(to.client, headerOf(), 'empty it')
  const finished = target.finish(async () => {
    await to.client.hset('punctual:meta', { version: '3' })
    await to.client.call('DEBUG', 'CHANGE-REPL-ID')
  })
  await expect(finished).rejects.toThrow('failed over meanwhile')
  expect(await to.client.hget('punctual:meta', 'version')).toBe('restoring')
})

describe('what is damaged', () => {
  const damaged = (): Buffer => {
    const copy = Buffer.from(bytes)
    copy[Math.floor(copy.length * 0.9)]! ^= 1
    return copy
  }

  test('in a file is noticed before anything is written', async () => {
    const path = world.path('damaged')
    writeFileSync(path, damaged())
    const to = await world.empty()
    expect(await refusal(to.url, path)).toMatch(/^1: punctual: .*(?:damaged|checksum)/)
    expect(await to.client.dbsize()).toBe(0)
  })

  test('in a stream leaves what nothing starts on, until the restore is repeated', async () => {
    const to = await world.empty()
    const { code } = await runRole(['restore', '-'], { PUNCTUAL_REDIS_URL: to.url }, damaged())
    expect(code).toBe(1)
    expect(await to.client.hget('punctual:meta', 'version')).toBe('restoring')
    // As if a name had been damaged on its way.
    await to.client.set('punctual:{h0-6c}:nobodys', '1')
    await to.client.set('of-others', '1')
    const cut = await runRole(['restore', '-'], { PUNCTUAL_REDIS_URL: to.url }, bytes.subarray(0, -40))
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('The backup is not complete')])
    expect(await to.client.hget('punctual:meta', 'version')).toBe('restoring')
    await putBack(to.url, file)
    expect(await to.client.del('of-others')).toBe(1)
    expect(await contentsOf(to.client)).toEqual(await contentsOf(from.client))
  })
})

describe('a Redis that cannot take it', () => {
  test('because it holds keys without an installation', async () => {
    const to = await world.empty()
    await to.client.set('of somebody else', 'v')
    await to.client.set(KEY, 'v')
    expect(await refusal(to.url, file)).toBe(
      `1: punctual: Redis holds keys of Punctual (1), such as ${KEY}: take an empty Redis.\n`,
    )
    expect(await to.client.keys('punctual:*')).toEqual([KEY])
    await to.client.del(KEY)
    await putBack(to.url, file)
  })

  test('because it is full', async () => {
    const to = await world.empty({ settings: ['--maxmemory', '8mb'] })
    expect(await refusal(to.url, file)).toBe(
      '1: punctual: Redis is full: raise its maxmemory, then run the restore once more.\n',
    )
    await to.client.config('SET', 'maxmemory', '0')
    await putBack(to.url, file)
    expect(await contentsOf(to.client)).toEqual(await contentsOf(from.client))
  })

  test('because it is older than the values', async () => {
    const path = world.path('newer')
    const header = headerOf({ beganAt: new Date().toISOString() })
    writeFileSync(path, await archiveOf([rdbFile(INSTALLATION, { magic: 'REDIS0999' })], header))
    const to = await world.empty()
    expect(await refusal(to.url, path)).toContain('it is older than the Redis that they are from')
  })
})
