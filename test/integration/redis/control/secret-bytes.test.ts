import { loopsOf } from '../../../support/loops.ts'
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { NO_TERMS } from '../../../../src/domain/access/token-terms.ts'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { SECRET_BYTES_PER_OWNER_MAX, SECRET_BYTES_PER_TEAM_MAX } from '../../../../src/domain/limits.ts'
import {
  NO_OWN_SECRETS,
  type OwnSecrets,
  type SecretOwner,
} from '../../../../src/ports/access/own-secrets.ts'
import { CompiledSettings } from '../../../../src/redis/control/compiled/compiled-settings.ts'
import { createLeaderEpochs } from '../../../../src/redis/control/leader-epochs.ts'
import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { SECRETS_KEY } from '../../../../src/redis/base/layout/keys.ts'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { openEngine, type TestEngine } from '../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'

const key = createSecretKey(randomBytes(32))
const box = new SecretBox(key)
const applied = { status: 'applied' }
let redis: TestRedis
let opened: TestEngine

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
})
afterEach(async () => {
  await redis.client.config('SET', 'maxmemory', '0')
  await redis.client.del(SECRETS_KEY)
})
afterAll(async () => {
  opened.close()
  await redis.stop()
})

const newCompiler = () => createSettingsCompiler({ engine: opened.engine, box, epoch: null })
const cron = (name: string, team = 'one'): SecretOwner => ({ team, kind: 'cron', name })
/** One value of so many bytes. */
const values = (bytes: number): OwnSecrets => ({
  signingSecrets: [],
  signingSecretRefs: [],
  headerValues: { 'x-key': 'v'.repeat(bytes) },
  headerOrigin: 'https://a.test',
})
const newReader = (connection = opened.connection, keys = box) =>
  new CompiledSettings({
    connection,
    box: keys,
    clock: systemClock,
    logger: quietLogger,
    metrics: quietMetrics,
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
  })

async function storedBytes(team: string): Promise<number> {
  const entries = Object.entries(await redis.client.hgetall(SECRETS_KEY))
  return entries.reduce((sum, [field, value]) => sum + (field.startsWith(`["${team}"`) ? value.length : 0), 0)
}

test('one cron has so many bytes of values, in all its headers', async () => {
  const compiler = newCompiler()
  const half = 'v'.repeat(SECRET_BYTES_PER_OWNER_MAX / 2)
  const full = { ...values(0), headerValues: { a: half, b: half } }
  expect(await compiler.putOwnSecrets(cron('nightly'), full)).toMatchObject(applied)
  for (const more of [
    { ...full, headerValues: { a: half, b: half, c: 'v' } },
    { ...full, signingSecrets: ['whsec_c2VjcmV0'] },
  ]) {
    expect(await compiler.putOwnSecrets(cron('nightly'), more)).toEqual({ status: 'too_large', of: 'owner' })
  }
  const reader = newReader()
  await reader.refresh()
  expect(reader.ownSecretsOf(cron('nightly'))).toMatchObject(full)
})

test('one team has so many bytes, whoever asks at once, and none of another', async () => {
  const compiler = newCompiler()
  const names = Array.from({ length: 40 }, (_, i) => `c${i}`)
  const put = (name: string, team?: string) => compiler.putOwnSecrets(cron(name, team), values(30_000))
  const ends = await Promise.all(names.map((name) => put(name)))
  const refused = names.filter((_, i) => ends[i]?.status === 'too_large')
  expect(refused.length).toBeGreaterThan(0)
  expect(ends.find(({ status }) => status === 'too_large')).toEqual({ status: 'too_large', of: 'team' })
  const [last = ''] = refused
  const bytes = await storedBytes('one')
  expect(bytes).toBeLessThanOrEqual(SECRET_BYTES_PER_TEAM_MAX)
  expect(bytes).toBeGreaterThan(SECRET_BYTES_PER_TEAM_MAX - 45_000)
  expect(await put('any', 'two')).toMatchObject(applied)
  // What is there may change, and make room for others; another leader counts the same.
  const [first = ''] = names
  const next = newCompiler()
  expect(await next.putOwnSecrets(cron(last), values(30_000))).toEqual({ status: 'too_large', of: 'team' })
  expect(await next.putOwnSecrets(cron(first), values(29_999))).toMatchObject(applied)
  await next.putOwnSecrets(cron(first), NO_OWN_SECRETS)
  expect(await next.putOwnSecrets(cron(last), values(30_000))).toMatchObject(applied)
  expect(await next.putOwnSecrets(cron(first), values(30_000))).toMatchObject({ status: 'too_large' })
})

test('two teams that fill theirs at once have the same room, as if each were alone', async () => {
  const compiler = newCompiler()
  const names = Array.from({ length: 40 }, (_, i) => `c${i}`)
  const ends = await Promise.all(
    names.flatMap((name) =>
      ['one', 'two'].map(async (team) => {
        const { status } = await compiler.putOwnSecrets(cron(name, team), values(30_000))
        return [team, status] as const
      }),
    ),
  )
  const takenBy = (team: string) => ends.filter(([of, status]) => of === team && status === 'applied').length
  const bytes = [await storedBytes('one'), await storedBytes('two')]
  expect(takenBy('one')).toBe(takenBy('two'))
  for (const each of bytes) {
    expect(each).toBeLessThanOrEqual(SECRET_BYTES_PER_TEAM_MAX)
    expect(each).toBeGreaterThan(SECRET_BYTES_PER_TEAM_MAX - 45_000)
  }
})

test('whose first signing secrets are refused is not signed for by the team', async () => {
  const compiler = newCompiler()
  const signingSecretRefs = [{ name: 'partner', key: 'secret' }]
  const secrets = {
    ...values(SECRET_BYTES_PER_OWNER_MAX),
    signingSecrets: ['whsec_c2VjcmV0'],
    signingSecretRefs,
  }
  const end = { status: 'too_large', of: 'owner' }
  expect(await compiler.putOwnSecrets(cron('nightly'), secrets)).toEqual(end)
  const reader = newReader()
  await reader.refresh()
  expect(reader.ownSecretsOf(cron('nightly'))).toMatchObject({ signingSecrets: [], signingSecretRefs })
  // Those of before stay.
  const small = { ...secrets, ...values(10), signingSecrets: ['whsec_c2VjcmV0'] }
  await compiler.putOwnSecrets(cron('nightly'), small)
  expect(await compiler.putOwnSecrets(cron('nightly'), secrets)).toEqual(end)
  await reader.refresh()
  expect(reader.ownSecretsOf(cron('nightly'))).toMatchObject({ signingSecrets: ['whsec_c2VjcmV0'] })
})

test('a full Redis takes none, lets go of those it has, and takes what else is applied', async () => {
  const compiler = newCompiler()
  await compiler.putOwnSecrets(cron('nightly'), values(10))
  await redis.client.config('SET', 'maxmemory', '1')
  await expect(compiler.putOwnSecrets(cron('other'), values(10))).rejects.toThrow(StorageFullError)
  await expect(compiler.putOwnSecrets(cron('nightly'), values(20))).rejects.toThrow(StorageFullError)
  expect(await compiler.putTeam('one', { egressAllow: [], signingSecrets: [] })).toEqual(applied)
  expect(await compiler.putOwnSecrets(cron('nightly'), NO_OWN_SECRETS)).toMatchObject(applied)
  expect(await storedBytes('one')).toBe(0)
  await redis.client.config('SET', 'maxmemory', '0')
  // What was refused takes no room.
  expect(await compiler.putOwnSecrets(cron('other'), values(10))).toMatchObject(applied)
})

test('a former leader stores none', async () => {
  const epochs = createLeaderEpochs(opened.engine, box)
  const { compiler: former } = await epochs.begin()
  await former.putOwnSecrets(cron('nightly'), values(9))
  const { compiler } = await epochs.begin()
  expect(await former.putOwnSecrets(cron('nightly'), values(10))).toEqual({ status: 'superseded' })
  expect(await compiler.putOwnSecrets(cron('nightly'), values(10))).toMatchObject(applied)
  expect(await former.putOwnSecrets(cron('nightly'), NO_OWN_SECRETS)).toEqual({ status: 'superseded' })
})

test('a token is revoked at an executor that cannot read the secrets', async () => {
  const compiler = newCompiler()
  const sha256Hex = hash('sha256', 'a-token-of-more-than-sixteen', 'hex')
  await compiler.putToken({ team: 'one', name: 'ci', sha256Hex, terms: NO_TERMS })
  await compiler.putOwnSecrets(cron('nightly'), values(10))
  let isAway = false
  const { connection } = opened
  const unlessAway =
    <Args extends readonly unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    (...args: Args) =>
      isAway && args[0] === SECRETS_KEY ? Promise.reject(new Error('Command timed out')) : call(...args)
  const reader = newReader({
    ...connection,
    hget: unlessAway(connection.hget.bind(connection)),
    hgetall: connection.hgetall.bind(connection),
    hscan: connection.hscan.bind(connection),
  })
  await reader.refresh()
  expect(reader.principalOf('a-token-of-more-than-sixteen')?.team).toBe('one')
  isAway = true
  await compiler.removeToken('one', 'ci')
  await compiler.putOwnSecrets(cron('nightly'), values(20))
  await expect(reader.refresh()).rejects.toThrow('timed out')
  expect(reader.principalOf('a-token-of-more-than-sixteen')).toBeNull()
  expect(reader.ownSecretsOf(cron('nightly'))).toMatchObject(values(10))
  isAway = false
  await reader.refresh()
  expect(reader.ownSecretsOf(cron('nightly'))).toMatchObject(values(20))
})

test('only what has changed is opened again, in however many pages', async () => {
  const compiler = newCompiler()
  const names = Array.from({ length: 250 }, (_, i) => `c${i}`)
  await Promise.all(names.map((name) => compiler.putOwnSecrets(cron(name), values(100))))
  const ofReader = new SecretBox(key)
  const opens = vi.spyOn(ofReader, 'open')
  const reader = newReader(opened.connection, ofReader)
  await reader.refresh()
  expect(opens).toHaveBeenCalledTimes(names.length)
  await compiler.putOwnSecrets(cron('c7'), values(101))
  await compiler.putOwnSecrets(cron('c8'), NO_OWN_SECRETS)
  await reader.refresh()
  expect(opens).toHaveBeenCalledTimes(names.length + 1)
  expect(reader.ownSecretsOf(cron('c7'))).toMatchObject(values(101))
  expect(reader.ownSecretsOf(cron('c8'))).toBeNull()
  expect(reader.ownSecretsOf(cron('c249'))).toMatchObject(values(100))
})
