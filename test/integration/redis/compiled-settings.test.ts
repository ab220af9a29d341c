import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { CompiledSettings } from '../../../src/redis/control/compiled-settings.ts'
import { SecretBox } from '../../../src/redis/control/secret-box.ts'
import { createSettingsCompiler, putOwnToken } from '../../../src/redis/control/settings-compiler.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { quietLogger } from '../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { NO_TERMS, type TokenTerms } from '../../../src/domain/access/token-terms.ts'
import { putSetting } from '../../../src/redis/control/put-setting.ts'
import { TOKENS_KEY } from '../../../src/redis/layout/keys.ts'

const box = new SecretBox(createSecretKey(randomBytes(32)))
let redis: TestRedis
let opened: TestEngine
let reader: CompiledSettings
let compiler: SettingsCompiler

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
  compiler = createSettingsCompiler({ engine: opened.engine, box, epoch: null })
  reader = new CompiledSettings({
    connection: opened.connection,
    box,
    clock: systemClock,
    logger: quietLogger,
  })
  await reader.start()
})

afterAll(async () => {
  reader.stop()
  opened.close()
  await redis.stop()
})

const putToken = (team: string, name: string, token: string, terms = NO_TERMS) =>
  compiler.putToken({ team, name, sha256Hex: hash('sha256', token, 'hex'), terms })

test('whether there is any token is known from the first one on', async () => {
  expect(reader.hasTokens()).toBe(false)
  await putToken('team-a', 'any', 'token-any-0123456789')
  await reader.refresh()
  expect(reader.hasTokens()).toBe(true)
  await compiler.removeToken('team-a', 'any')
  await reader.refresh()
  expect(reader.hasTokens()).toBe(false)
})

test('a token names its team, and the one it replaces no longer does', async () => {
  await putToken('team-a', 'first', 'token-one-0123456789')
  await putToken('team-b', 'other', 'token-two-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-one-0123456789')?.team).toBe('team-a')
  expect(reader.principalOf('token-two-0123456789')?.team).toBe('team-b')
  expect(reader.principalOf('token-three-01234567')).toBeNull()

  await putToken('team-a', 'first', 'token-new-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-new-0123456789')?.team).toBe('team-a')
  expect(reader.principalOf('token-one-0123456789')).toBeNull()
  expect(reader.principalOf('token-two-0123456789')?.team).toBe('team-b')

  await compiler.removeToken('team-b', 'other')
  await reader.refresh()
  expect(reader.principalOf('token-two-0123456789')).toBeNull()
})

test('names of tokens are each team’s own, and a token belongs to whom it came from first', async () => {
  await putToken('team-b', 'first', 'token-b-01234567890')
  await putToken('team-b', 'stolen', 'token-new-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-b-01234567890')?.team).toBe('team-b')
  expect(reader.principalOf('token-new-0123456789')?.team).toBe('team-a')
  await putToken('team-a', 'first', 'token-new-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-new-0123456789')?.team).toBe('team-a')
})

test('what is in force is told, without the token that a process was given', async () => {
  await putOwnToken(compiler, 'default', 'token-own-0123456789')
  await compiler.putTeam('team-d', { egressAllow: [], signingSecrets: [] })
  await reader.refresh()
  expect(reader.principalOf('token-own-0123456789')?.team).toBe('default')
  const { teams, tokens } = await compiler.applied()
  expect(teams).toEqual(['team-d'])
  expect(tokens.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { team: 'team-a', name: 'first' },
    { team: 'team-b', name: 'first' },
    { team: 'team-b', name: 'stolen' },
  ])
})

test('no token and no secret lies in Redis as text', async () => {
  await compiler.putTeam('team-a', { egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_c2VjcmV0'] })
  const values = [
    ...Object.values(await redis.client.hgetall('punctual:teams')),
    ...Object.entries(await redis.client.hgetall('punctual:tokens')).flat(),
  ].join(' ')
  expect(values).toContain('10.0.0.0/8')
  expect(values).not.toContain('c2VjcmV0')
  expect(values).not.toContain('token-new')
})

test('a change of a team is seen, under a higher version, and its removal too', async () => {
  await reader.refresh()
  const before = reader.of('team-a')
  expect(before).toMatchObject({ egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_c2VjcmV0'] })
  await compiler.putTeam('team-a', { egressAllow: [], signingSecrets: [] })
  await reader.refresh()
  expect(reader.of('team-a')).toMatchObject({ egressAllow: [], signingSecrets: [] })
  expect(reader.of('team-a').version).toBeGreaterThan(before.version)
  await compiler.removeTeam('team-a')
  await reader.refresh()
  expect(reader.of('team-a').version).toBe(0)
})

test('a secret that another key has sealed stops only that change of that team, and is told once', async () => {
  const stranger = new SecretBox(createSecretKey(randomBytes(32)))
  const told: unknown[] = []
  const clock = createFakeClock()
  let reads = 0
  const connection = Object.create(opened.connection, {
    hgetall: { value: (key: string) => ((reads += 1), opened.connection.hgetall(key)) },
  }) as typeof opened.connection
  const error = (_message: string, fields: Record<string, unknown> = {}): void => void told.push(fields)
  const other = new CompiledSettings({ connection, box, clock, logger: { ...quietLogger, error } })
  const look = async (): Promise<void> => {
    await clock.advance(800)
    await until('the next look is planned', () => clock.timers > 0)
  }
  await compiler.putTeam('team-c', { egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'] })
  await other.start()
  const theirs = createSettingsCompiler({ engine: opened.engine, box: stranger, epoch: null })
  await theirs.putTeam('team-c', { egressAllow: ['10.0.0.0/8'], signingSecrets: [] })
  await theirs.putTeam('team-c', { egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_b3RoZXI='] })
  await compiler.putTeam('team-e', { egressAllow: ['10.0.0.0/8'], signingSecrets: [] })
  await compiler.removeToken('team-b', 'first')
  reads = 0
  for (let looks = 0; looks < 4; looks += 1) await look()

  const reason =
    'The secrets of team team-c in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key.'
  expect(told).toEqual([{ team: 'team-c', reason }])
  expect(reads).toBe(2)
  expect(other.of('team-c')).toMatchObject({ egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'] })
  expect(other.of('team-e')).toMatchObject({ egressAllow: ['10.0.0.0/8'] })
  expect(other.principalOf('token-b-01234567890')).toBeNull()

  // Another change of another team: the settings of before are still there.
  await compiler.removeTeam('team-e')
  await look()
  expect(other.of('team-c').signingSecrets).toEqual(['whsec_c2VjcmV0'])
  expect(told).toHaveLength(1)

  const late = new CompiledSettings({ connection, box, clock, logger: quietLogger })
  await expect(late.start()).rejects.toThrow(reason)

  // Sealed anew under our key.
  await compiler.putTeam('team-c', { egressAllow: [], signingSecrets: ['whsec_b3RoZXI='] })
  await look()
  expect(other.of('team-c').signingSecrets).toEqual(['whsec_b3RoZXI='])
  other.stop()
  await compiler.removeTeam('team-c')
})

describe('channels and members', () => {
  const URL = 'https://hooks.slack.com/services/T1/B2/canary'
  const POLICY = {
    egressAllow: [],
    signingSecrets: [],
    channels: [
      { name: 'mail', type: 'email', alertTypes: ['failure'], url: null },
      { name: 'chat', type: 'slack', alertTypes: ['failure', 'recovery'], url: URL },
    ],
    members: [{ name: 'Ada', email: 'ada@a.test' }],
  } as const

  test('come back as they were put, and Redis holds no URL that can be read', async () => {
    await compiler.putTeam('team-n', POLICY)
    await reader.refresh()
    expect(reader.of('team-n')).toMatchObject(POLICY)
    const held = await Promise.all(
      (await redis.client.keys('*')).map(async (key) => {
        const type = await redis.client.type(key)
        return type === 'hash' ? JSON.stringify(await redis.client.hgetall(key)) : redis.client.dump(key)
      }),
    )
    expect(held.join()).toContain('"chat')
    expect(held.join()).not.toContain('canary')
  })

  test('that are already applied cause no write, and each change causes one', async () => {
    const stored = () => redis.client.hget('punctual:teams', 'team-n')
    await compiler.putTeam('team-n', POLICY)
    let before = await stored()
    await compiler.putTeam('team-n', structuredClone(POLICY))
    expect(await stored()).toBe(before)
    const [mail, chat] = POLICY.channels
    const changes = [
      { ...POLICY, channels: [mail, { ...chat, url: `${URL}2` }] },
      { ...POLICY, channels: [mail, { ...chat, alertTypes: ['warning'] as const }] },
      { ...POLICY, channels: [mail] },
      { ...POLICY, members: [{ name: 'Bob', email: 'ada@a.test' }] },
    ]
    for (const change of changes) {
      await compiler.putTeam('team-n', change)
      expect(await stored()).not.toBe(before)
      before = await stored()
    }
  })

  test('are none of a team that an earlier version has stored', async () => {
    const text = JSON.stringify({ egressAllow: ['a.b'], signingSecrets: [], quotas: {} })
    await redis.client.hset('punctual:teams', { 'team-o': `1 ${text}`, '#v': '999' })
    await reader.refresh()
    expect(reader.of('team-o')).toMatchObject({ egressAllow: ['a.b'], channels: [], members: [] })
    await redis.client.hdel('punctual:teams', 'team-o')
  })
})

test('a token is as it was without terms, keeps those it has, and is refused with terms of a later version', async () => {
  const terms: TokenTerms = {
    ...{ scopes: ['push'], queues: ['a b', 'ü'], expiresAtMs: 1_800_000_000_000 },
    rateLimit: { requestsPerSecond: 5, burst: 9 },
  }
  await putToken('team-t', 'free', 'token-free-0123456789')
  await putToken('team-t', 'bound', 'token-bound-0123456789', terms)
  const stored = async (name: string) =>
    (await opened.connection.hget(TOKENS_KEY, JSON.stringify(['team-t', name]))) ?? ''
  const hashOf = (token: string) => hash('sha256', token, 'base64url')
  // A former version takes all behind the first blank for the hash.
  expect((await stored('free')).split(/ (.*)/s)[1]).toBe(hashOf('token-free-0123456789'))
  expect((await stored('bound')).split(/ (.*)/s)[1]).not.toBe(hashOf('token-bound-0123456789'))
  await reader.refresh()
  expect(reader.principalOf('token-free-0123456789')).toMatchObject({ team: 'team-t', queues: null })
  const bound = reader.principalOf('token-bound-0123456789')
  expect(bound).toMatchObject({ subject: 'bound', terms, queues: new Set(['a b', 'ü']) })
  expect([...(bound?.permissions ?? [])]).toEqual(['push'])

  const text = `${hashOf('token-later-0123456789')} ${JSON.stringify({ ...terms, hours: [9, 17] })}`
  await putSetting(opened.engine, {
    ...{ hash: TOKENS_KEY, epoch: null, text },
    field: JSON.stringify(['team-t', 'later']),
  })
  await reader.refresh()
  expect(reader.principalOf('token-later-0123456789')).toBeNull()
  // Losing all its terms makes a token free again.
  await putToken('team-t', 'bound', 'token-bound-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-bound-0123456789')?.terms).toEqual(NO_TERMS)
})
