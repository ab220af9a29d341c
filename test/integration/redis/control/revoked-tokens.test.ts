import { hash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { NO_TERMS, type TokenTerms } from '../../../../src/domain/access/token-terms.ts'
import type { SettingsCompiler } from '../../../../src/ports/settings.ts'
import {
  createSettingsCompiler,
  putOwnToken,
} from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { REVOKED_PER_TEAM_MAX } from '../../../../src/redis/control/compiler/token-writer.ts'
import { tokensOf } from '../../../../src/redis/control/compiled/stored-settings.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { HASH_TEAMS_KEY, revokedKey, TOKENS_KEY } from '../../../../src/redis/base/layout/keys.ts'
import { openEngine, type TestEngine } from '../../../support/engine/engine.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'

let redis: TestRedis
let opened: TestEngine
let compiler: SettingsCompiler

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
  compiler = createSettingsCompiler({ engine: opened.engine, box: null, epoch: null })
})
beforeEach(async () => {
  const { client } = redis
  await client.del(TOKENS_KEY, HASH_TEAMS_KEY, ...['one', 'two'].map(revokedKey))
})
afterAll(async () => {
  opened.close()
  await redis.stop()
})

const hexOf = (text: string) => hash('sha256', text, 'hex')
const putToken = (team: string, name: string, text: string, terms: TokenTerms = NO_TERMS) =>
  compiler.putToken({ team, name, sha256Hex: hexOf(text), terms })
const holders = async () =>
  tokensOf(await redis.client.hgetall(TOKENS_KEY)).map(({ team, name }) => `${team}/${name}`)
const taken = { status: 'taken' }
const applied = { status: 'applied' }

test('a hash stays with its team while its token is revoked, whoever comes first', async () => {
  for (let round = 0; round < 20; round += 1) {
    const text = `token ${round}`
    await putToken('one', 'ci', text)
    const removal = () => compiler.removeToken('one', 'ci')
    const theft = () => putToken('two', 'stolen', text)
    const [first, second] = round % 2 === 0 ? [removal, theft] : [theft, removal]
    const ends = await Promise.all([first(), second()])
    expect(ends).toContainEqual(taken)
    expect(await holders()).toEqual([])
    expect(await theft()).toEqual(taken)
  }
  expect(await inspect(opened.engine)).toEqual([])
})

test('it comes to life again for its own team alone', async () => {
  await putToken('one', 'ci', 'a')
  await compiler.removeToken('one', 'ci')
  expect(await putToken('two', 'ci', 'a')).toEqual(taken)
  expect(await putToken('one', 'again', 'a')).toEqual(applied)
  await putToken('one', 'again', 'b')
  expect(await putToken('two', 'ci', 'a')).toEqual(taken)
  expect(await holders()).toEqual(['one/again'])
})

test('who claims a hash of another team has no token of that name any more, and revokes the hash it had', async () => {
  await putToken('one', 'ci', 'a')
  await putToken('two', 'ci', 'mine')
  expect(await putToken('two', 'ci', 'a')).toEqual(taken)
  expect(await holders()).toEqual(['one/ci'])
  expect(await putToken('one', 'theft', 'mine')).toEqual(taken)
  expect(await putToken('two', 'ci', 'mine')).toEqual(applied)
})

test('a hash that nobody had is only for who may claim it', async () => {
  const token = { team: 'one', name: 'ci', sha256Hex: hexOf('a'), terms: NO_TERMS }
  expect(await compiler.putToken(token, 'none')).toEqual(taken)
  expect(await compiler.putToken(token)).toEqual(applied)
  await compiler.removeToken('one', 'ci')
  expect(await compiler.putToken(token, 'none')).toEqual(applied)
})

test('each team has so many revoked hashes, and its own oldest goes', async () => {
  await putToken('two', 'ci', 'of two')
  await compiler.removeToken('two', 'ci')
  // It has the first hash twice, and revokes it once.
  await putToken('one', 'kept', 'of one 0')
  const numbers = Array.from({ length: REVOKED_PER_TEAM_MAX + 2 }, (_, i) => i)
  await Promise.all(numbers.map((i) => putToken('one', `ci ${i}`, `of one ${i}`)))
  const revoke = (i: number) => compiler.removeToken('one', `ci ${i}`)
  for (const i of numbers.slice(0, 3)) await revoke(i)
  await Promise.all(numbers.slice(3).map(revoke))
  expect(await redis.client.zcard(revokedKey('one'))).toBe(REVOKED_PER_TEAM_MAX)
  expect(await redis.client.hlen(HASH_TEAMS_KEY)).toBe(1 + 1 + REVOKED_PER_TEAM_MAX)
  expect(await putToken('two', 'theft', 'of one 1')).toEqual(applied)
  for (const text of ['of one 0', 'of one 2', `of one ${REVOKED_PER_TEAM_MAX + 1}`]) {
    expect(await putToken('two', 'theft', text)).toEqual(taken)
  }
  expect(await putToken('one', 'theft', 'of two')).toEqual(taken)
})

test('a hash that lives again is not among the revoked', async () => {
  await putToken('one', 'ci', 'a')
  await compiler.removeToken('one', 'ci')
  await putToken('one', 'ci', 'a')
  expect(await redis.client.zcard(revokedKey('one'))).toBe(0)
  expect(await putToken('one', 'ci', 'a', { ...NO_TERMS, scopes: ['read'] })).toEqual(applied)
  expect(await redis.client.zcard(revokedKey('one'))).toBe(0)
  await compiler.removeToken('one', 'ci')
  expect(await redis.client.zcard(revokedKey('one'))).toBe(1)
})

test('a token is revoked, and its hash remembered, when Redis is full', async () => {
  await putToken('one', 'ci', 'a')
  await redis.client.config('SET', 'maxmemory', '1')
  try {
    expect(await compiler.removeToken('one', 'ci')).toEqual({ status: 'removed' })
    expect(await putToken('two', 'ci', 'a')).toEqual(taken)
  } finally {
    await redis.client.config('SET', 'maxmemory', '0')
  }
})

test('PUNCTUAL_TOKEN must not be a token of another team', async () => {
  await putToken('one', 'ci', 'a-token-of-more-than-sixteen')
  await expect(putOwnToken(compiler, 'default', 'a-token-of-more-than-sixteen')).rejects.toThrow(
    'The token in PUNCTUAL_TOKEN belongs to another team',
  )
})
