import { expect, test } from 'vitest'
import { denyOwnRedis, RedisAddresses } from '../../../../src/roles/startup/own-redis.ts'

const NAMES = new Map<string, readonly string[]>([
  ['localhost', ['127.0.0.1']],
  ['here.test', ['127.0.0.1', '::1']],
])
const resolve = async (name: string): Promise<readonly string[]> =>
  NAMES.get(name) ?? Promise.reject(new Error(`${name} is unknown`))

function addresses(own: { redisUrl: string; redisSentinels?: { host: string }[] }, names = new Map(NAMES)) {
  const warnings: unknown[] = []
  const servers: string[] = []
  const source = new RedisAddresses({
    own,
    servers: () => servers,
    resolve: async (name) => names.get(name) ?? Promise.reject(new Error(`${name} is unknown`)),
    logger: { warn: (_message, fields) => void warnings.push(fields) },
  })
  return { source, names, servers, warnings }
}

test.each([
  ['/run/redis.sock', []],
  ['redis://127.0.0.1:6379', []],
  ['redis://localhost:6379', []],
  ['redis://[::1]:6379', []],
  ['redis://10.1.2.3:6379', []],
  ['redis://here.test:6379', []],
  ['redis://user:secret@redis.invalid:6379/0', ['redis.invalid']],
])('%s adds %j', async (url, entries) => {
  expect(await denyOwnRedis({ redisUrl: url }, resolve)).toEqual(entries)
})

test.each<[string, string[], string[]]>([
  ['/run/redis.sock', [], []],
  ['redis://user:secret@10.1.2.3:6379/0', [], ['10.1.2.3']],
  ['rediss://[fd00::7]:6379', ['fd00::7', '10.1.2.4'], ['fd00::7', '10.1.2.4']],
  ['redis://localhost:6379', ['10.1.2.5'], ['127.0.0.1', '10.1.2.5']],
])('%s and the servers %j are at %j', async (url, connected, expected) => {
  const { source, servers } = addresses({ redisUrl: url })
  servers.push(...connected)
  expect(new Set(await source.read())).toEqual(new Set(expected))
})

test('a name that is away keeps its addresses, and no other name waits for it', async () => {
  const { source, names, servers, warnings } = addresses({ redisUrl: 'redis://a.test:6379' })
  names.set('a.test', ['10.0.0.1']).set('b.test', ['10.0.0.2'])
  servers.push('b.test')
  expect(await source.read()).toEqual(['10.0.0.1', '10.0.0.2'])
  names.delete('a.test')
  names.set('b.test', ['10.0.0.3'])
  servers.push('10.0.0.4')
  expect(await source.read()).toEqual(['10.0.0.1', '10.0.0.3', '10.0.0.4'])
  await source.read()
  expect(warnings).toEqual([{ host: 'a.test', reason: 'a.test is unknown' }])
  names.set('a.test', ['10.0.0.5'])
  servers.length = 0
  expect(await source.read()).toEqual(['10.0.0.5'])
  names.delete('a.test')
  await source.read()
  expect(warnings).toHaveLength(2)
})

test('with sentinels these are ours, and the name of the primary is no host', async () => {
  const own = {
    redisUrl: 'redis://mymaster',
    redisSentinels: [{ host: 'sentinel.invalid' }, { host: '10.1.2.4' }],
  }
  expect(await denyOwnRedis(own, resolve)).toEqual(['sentinel.invalid'])
  const { source, servers } = addresses(own)
  servers.push('10.1.2.5')
  expect(await source.read()).toEqual(['10.1.2.4', '10.1.2.5'])
})
