/** A backup that is put back into another server brings every value, as DUMP of Redis itself says. */
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { createLeaderEpochs } from '../../../../src/redis/control/leader-epochs.ts'
import { backUp, contentsOf, createBackupWorld, putBack } from '../../../support/backup/backup-world.ts'
import { archiveOf, headerOf, INSTALLATION, rdbFile } from '../../../support/backup/rdb-bytes.ts'
import { runRole } from '../../../support/backup/role-runs.ts'
import { openEngine } from '../../../support/engine/engine.ts'
import { runProgram } from '../../../support/servers/processes.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { until } from '../../../support/until.ts'

const TAG = 'punctual:{h0-6c}:'
const world = createBackupWorld()
afterAll(() => world.close())

/** Values of each form that the engine may come to, small ones and ones beyond what a listpack holds. */
async function fill(client: Redis): Promise<void> {
  const long = 'x'.repeat(100)
  const many = Array.from({ length: 2_000 }, (_, i) => `member ${i}`)
  await client.set(`${TAG}text`, 'v')
  await client.set(`${TAG}number`, '12345')
  await client.set(`${TAG}negative`, '-1')
  await client.set(`${TAG}packed`, long.repeat(100))
  await client.set(`${TAG}binary`, Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
  await client.set(Buffer.from([...Buffer.from(TAG), 0xff, 0xfe]).toString('latin1'), 'odd name')
  await client.sadd(`${TAG}intset`, 1, 2, 3, 70_000, '9000000000')
  await client.sadd(`${TAG}set`, 'a', 'b', long)
  await client.sadd(`${TAG}set-table`, ...many)
  await client.hset(`${TAG}hash`, { a: 'b', number: '7' })
  await client.hset(`${TAG}hash-table`, Object.fromEntries(many.map((each) => [each, each])))
  await client.hset(`${TAG}hash-long`, { a: long })
  await client.zadd(`${TAG}sorted`, 1.5, 'a', '-inf', 'b', 3, 'c')
  await client.zadd(`${TAG}sorted-list`, ...many.flatMap((each, i) => [i / 3, each]))
  await client.rpush(`${TAG}list`, 'a', '1', long)
  await client.rpush(`${TAG}list-long`, ...many, 'y'.repeat(20_000))
  for (let i = 0; i < 300; i += 1) await client.xadd(`${TAG}stream`, `${i + 1}-1`, 'field', `value ${i}`)
  await client.xdel(`${TAG}stream`, '5-1')
  await client.xgroup('CREATE', `${TAG}stream`, 'group', '0')
  await client.xreadgroup('GROUP', 'group', 'one', 'COUNT', 10, 'STREAMS', `${TAG}stream`, '>')
  await client.set(`${TAG}expiring`, 'v', 'PXAT', Date.now() + 3_600_000)
  await client.hset(`${TAG}expiring-hash`, { a: 'b' })
  await client.pexpireat(`${TAG}expiring-hash`, Date.now() + 7_200_000)
}

/** Values that come in pieces. */
async function fillLarge(client: Redis): Promise<void> {
  // Half of it is packed where it lies in the copy.
  const textOf = (n: number): string => `${'packed '.repeat(12)}${hash('sha512', String(n), 'base64')}`
  for (let i = 0; i < 20; i += 1) {
    const members = Array.from({ length: 2_500 }, (_, j) => i * 2_500 + j)
    await client.hset(`${TAG}large-hash`, ...members.flatMap((n) => [String(n), textOf(n)]))
    await client.sadd(`${TAG}large-set`, ...members.map((n) => (n % 9 === 0 ? String(n) : textOf(n))))
    const scored = members.flatMap((n) => [n / 7 - 1_000, textOf(n)])
    await client.zadd(`${TAG}large-sorted`, ...scored, '+inf', `above ${i}`, '-inf', `below ${i}`)
  }
  for (const kind of ['hash', 'set', 'sorted']) {
    expect((await client.dumpBuffer(`${TAG}large-${kind}`)).length).toBeGreaterThan(4.5 * 1024 ** 2)
  }
  await client.pexpireat(`${TAG}large-hash`, Date.now() + 3_600_000)
}

describe('every form of value', () => {
  let from: TestRedis
  let to: TestRedis
  const file = world.path('values')
  let said: string

  beforeAll(async () => {
    from = await world.installed()
    to = await world.empty()
    await fill(from.client)
    await fillLarge(from.client)
    await from.client.set('not ours', 'v')
    await from.client.set('punctual:{of-somebody}:session', 'sealed')
    await from.client.hset('punctual:tokens', { of: 'somebody' })
    await from.client.hset('punctual:{of-somebody}:code', { s: 'sealed' })
    said = await backUp(from.url, file)
    await putBack(to.url, file)
  }, 120_000)

  test('is as it was, with its expiry, and nothing else is there', async () => {
    const before = await contentsOf(from.client)
    const encodings = new Set(Object.values(before).map((each) => each.split(' ')[0]))
    expect([...encodings].toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
      'embstr',
      'hashtable',
      'int',
      'intset',
      'listpack',
      'quicklist',
      'raw',
      'skiplist',
      'stream',
    ])
    const { 'not ours': other, ...ours } = before
    expect(other).toBeDefined()
    const expected = Object.entries(ours).filter(([key]) => !/of-somebody|punctual:tokens$/.test(key))
    expect(await contentsOf(to.client)).toEqual(Object.fromEntries(expected))
  })

  test('the counters are far above what was given out', async () => {
    expect(await from.client.get('punctual:{h0-6c}:seq')).toBeNull()
    const counter = async (word: string): Promise<number> =>
      Number(await to.client.get(`punctual:{h3-l6}:${word}`))
    expect(await counter('seq')).toBeGreaterThan(2 * 2 ** 20)
    expect(await counter('qseq')).toBeGreaterThan(2 * 2 ** 20)
    expect(await counter('tok')).toBeGreaterThan(2 * 2 ** 30)
  })

  test('and the further above, the older the backup is', async () => {
    const header = headerOf({ beganAt: new Date(Date.now() - 30 * 86_400_000).toISOString() })
    const path = world.path('old')
    writeFileSync(path, await archiveOf([rdbFile(INSTALLATION)], header))
    const target = await world.empty()
    await putBack(target.url, path)
    expect(Number(await target.client.get('punctual:{h0-6c}:seq'))).toBeGreaterThan(30 * 86_400 * 200)
    expect(Number(await target.client.get('punctual:{h0-6c}:tok'))).toBeGreaterThan(30 * 86_400 * 50_000)
  })

  test('the file is for its owner alone, and the role says what it holds', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { installation } = await from.client.hgetall('punctual:meta')
    const keys = (await from.client.dbsize()) - 1 // not ours
    expect(said).toMatch(
      new RegExp(
        `^Backup of installation ${installation}, 4 shards: ${keys} keys, [\\d.]+ MiB in [\\d.]+ s, from 127.0.0.1:${from.port} \\([\\d.]+\\)\\.\nIt was read back`,
      ),
    )
    expect(said).toContain('neither the secrets key nor the resources')
  })

  test('goes by standard output and input as well', async () => {
    const env = { PUNCTUAL_REDIS_URL: from.url }
    const { out, err, code } = await runRole(['backup', '-'], env)
    expect([code, err]).toEqual([0, expect.stringContaining('Backup of installation')])
    const other = await world.empty()
    const restored = await runRole(['restore', '-'], { PUNCTUAL_REDIS_URL: other.url }, out)
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(await contentsOf(other.client)).toEqual(await contentsOf(to.client))
  })

  test('a copy whose length is said first is one, too', async () => {
    await from.client.config('SET', 'repl-diskless-sync', 'no')
    const other = world.path('counted')
    await backUp(from.url, other)
    const target = await world.empty()
    await putBack(target.url, other)
    expect(await contentsOf(target.client)).toEqual(await contentsOf(to.client))
  })

  test('a file that is there is not overwritten', async () => {
    const before = readFileSync(file)
    const { code, err } = await runRole(['backup', file], { PUNCTUAL_REDIS_URL: from.url })
    expect([code, err]).toEqual([2, `punctual: ${file} is there already: name another file.\n`])
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

test('a database beside others is copied alone', async () => {
  const from = await world.installed()
  const { client } = from
  await client.set('punctual:{h0-6c}:of-another', 'v')
  await client.call('SWAPDB', '0', '3')
  await client.set('punctual:{h0-6c}:not-ours', 'v')
  const file = world.path('database')
  await backUp(`${from.url}/3`, file)
  const to = await world.empty()
  await putBack(`${to.url}/5`, file)
  expect(await to.client.dbsize()).toBe(0)
  await to.client.select(5)
  expect(Object.keys(await contentsOf(to.client)).sort()).toEqual(
    [
      'punctual:meta',
      ...['0-6c', '1-27', '2-3v', '3-l6'].map((tag) => `punctual:{h${tag}}:mark`),
      'punctual:{h0-6c}:of-another',
    ].sort(),
  )
})

test('a controller finds that it is older, by its epoch, and goes on above what was given since', async () => {
  const from = await world.installed()
  const box = new SecretBox(createSecretKey(randomBytes(32)))
  const before = await openEngine(from.url)
  await createLeaderEpochs(before.engine, box).begin()
  const file = world.path('epochs')
  await backUp(from.url, file)
  const { facts: recorded } = await createLeaderEpochs(before.engine, box).begin()
  before.close()
  const to = await world.empty()
  await putBack(to.url, file)
  const after = await openEngine(to.url)
  const epochs = createLeaderEpochs(after.engine, box)
  const found = await epochs.facts()
  expect(found.installation).toBe(recorded.installation)
  expect(found.epoch).toBeLessThan(recorded.epoch)
  const { facts } = await epochs.begin(recorded)
  expect(facts.epoch).toBeGreaterThan(recorded.epoch)
  expect(facts.idFloor.jobBlock).toBeGreaterThan(recorded.idFloor.jobBlock)
  after.close()
})

test('a backup that is stopped leaves no file', async () => {
  const from = await world.installed({ settings: ['--repl-diskless-sync-delay', '600'] })
  const place = world.path('stopped')
  mkdirSync(place)
  const program = runProgram(['backup', join(place, 'backup')], { PUNCTUAL_REDIS_URL: from.url })
  await until('it waits for its copy', async () =>
    (await from.client.info('replication')).includes('connected_slaves:1'),
  )
  expect(readdirSync(place)).toEqual([expect.stringMatching(/^\.backup\.[0-9a-f]{16}\.draft$/)])
  program.signal('SIGTERM')
  expect(await program.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(readdirSync(place)).toEqual([])
})
