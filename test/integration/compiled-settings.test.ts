import { createSecretKey, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createCompiledSettings,
  createCompiledSettingsWriter,
  type CompiledSettings,
} from '../../src/redis/compiled-settings.ts'
import { createSecretBox } from '../../src/redis/secret-box.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openEngine, type TestEngine } from '../support/engine.ts'
import { quietLogger } from '../support/quiet.ts'
import { startRedis, type TestRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const box = createSecretBox(createSecretKey(randomBytes(32)))
let redis: TestRedis
let opened: TestEngine
let reader: CompiledSettings

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
  reader = createCompiledSettings({
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

const writer = () => createCompiledSettingsWriter(opened.connection, box)

test('a token names its team, and the one it replaces no longer does', async () => {
  await writer().putToken('first', 'token-one-0123456789', 'team-a')
  await writer().putToken('other', 'token-two-0123456789', 'team-b')
  await reader.refresh()
  expect(reader.teamOf('token-one-0123456789')).toBe('team-a')
  expect(reader.teamOf('token-two-0123456789')).toBe('team-b')
  expect(reader.teamOf('token-three-01234567')).toBeNull()

  await writer().putToken('first', 'token-new-0123456789', 'team-a')
  await reader.refresh()
  expect(reader.teamOf('token-new-0123456789')).toBe('team-a')
  expect(reader.teamOf('token-one-0123456789')).toBeNull()
  expect(reader.teamOf('token-two-0123456789')).toBe('team-b')
})

test('no token and no secret lies in Redis as text', async () => {
  await writer().putTeam('team-a', { egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_c2VjcmV0'] })
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
  await writer().putTeam('team-a', { egressAllow: [], signingSecrets: [] })
  await reader.refresh()
  expect(reader.of('team-a')).toMatchObject({ egressAllow: [], signingSecrets: [] })
  expect(reader.of('team-a').version).toBeGreaterThan(before.version)
  await writer().removeTeam('team-a')
  await reader.refresh()
  expect(reader.of('team-a').version).toBe(0)
})

test('a secret that another key has sealed is told in one sentence, and once while it lies there', async () => {
  const stranger = createSecretBox(createSecretKey(randomBytes(32)))
  const told: string[] = []
  const clock = createFakeClock()
  const other = createCompiledSettings({
    connection: opened.connection,
    box,
    clock,
    logger: { ...quietLogger, warn: (_message, fields) => told.push(String(fields?.['reason'])) },
  })
  await other.start()
  await createCompiledSettingsWriter(opened.connection, stranger).putTeam('team-c', {
    egressAllow: [],
    signingSecrets: ['whsec_c2VjcmV0'],
  })
  const sentence =
    'The signing secrets of team team-c in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key.'
  await expect(reader.refresh()).rejects.toThrow(sentence)
  for (let looks = 0; looks < 3; looks += 1) {
    await clock.advance(800)
    await until('the next look is planned', () => clock.timers > 0)
  }
  expect(told).toEqual([sentence])
  other.stop()
  await writer().removeTeam('team-c')
})
