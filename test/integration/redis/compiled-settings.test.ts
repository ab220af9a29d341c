import { loopsOf } from '../../support/loops.ts'
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NO_OWN_SECRETS } from '../../../src/ports/access/own-secrets.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { checkSecrets } from '../../../src/redis/upkeep/checks/secrets-check.ts'
import { CompiledSettings } from '../../../src/redis/control/compiled/compiled-settings.ts'
import { createSigningSecretRefs } from '../../../src/redis/control/compiled/stored-own-secrets.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { readOwnAddresses } from '../../../src/redis/control/compiled/own-addresses.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler, putOwnToken } from '../../../src/redis/control/compiler/settings-compiler.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { NO_TERMS, type TokenTerms } from '../../../src/domain/access/token-terms.ts'
import { putSetting } from '../../../src/redis/control/compiler/put-setting.ts'
import { TOKENS_KEY } from '../../../src/redis/base/layout/keys.ts'

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
    metrics: quietMetrics,
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
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
  expect(await putToken('team-b', 'stolen', 'token-new-0123456789')).toEqual({ status: 'taken' })
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
  const other = new CompiledSettings({
    connection,
    box,
    clock,
    logger: { ...quietLogger, error },
    metrics: quietMetrics,
    loops: loopsOf({ clock: clock, logger: quietLogger }),
  })
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

  expect(told).toEqual([
    { team: 'team-c', reason: expect.stringContaining('stored with another key') as string },
  ])
  expect(reads).toBe(2)
  expect(other.of('team-c')).toMatchObject({ egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'] })
  expect(other.of('team-e')).toMatchObject({ egressAllow: ['10.0.0.0/8'] })
  expect(other.principalOf('token-b-01234567890')).toBeNull()

  // Another change of another team: the settings of before are still there.
  await compiler.removeTeam('team-e')
  await look()
  expect(other.of('team-c').signingSecrets).toEqual(['whsec_c2VjcmV0'])
  expect(told).toHaveLength(1)

  // Without settings of before, this team alone makes no calls; what is no secret applies, changes included.
  const late = new CompiledSettings({
    connection,
    box,
    clock,
    logger: { ...quietLogger, error },
    metrics: quietMetrics,
    loops: loopsOf({ clock: clock, logger: quietLogger }),
  })
  await compiler.putTeam('team-e', { egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_b3RoZXI='] })
  await late.start()
  expect(told).toHaveLength(2)
  const unopened = { egressAllow: ['10.0.0.0/8'], signingSecrets: [], isSigningUnreadable: true }
  expect(late.of('team-c')).toMatchObject(unopened)
  expect(late.of('team-e')).toMatchObject({ signingSecrets: ['whsec_b3RoZXI='] })
  expect(late.of('team-e').isSigningUnreadable).toBeUndefined()
  await theirs.putTeam('team-c', { egressAllow: [], signingSecrets: ['whsec_b3RoZXI='] })
  await late.refresh()
  expect(late.of('team-c')).toMatchObject({ ...unopened, egressAllow: [] })
  expect(told).toHaveLength(2)
  late.stop()
  await compiler.removeTeam('team-e')

  // Sealed anew under our key.
  await compiler.putTeam('team-c', { egressAllow: [], signingSecrets: ['whsec_b3RoZXI='] })
  await look()
  expect(other.of('team-c').signingSecrets).toEqual(['whsec_b3RoZXI='])
  other.stop()
  await compiler.removeTeam('team-c')
})

describe('the keys of secrets', () => {
  const [former, next] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))]
  const policy = {
    egressAllow: [],
    signingSecrets: ['whsec_c2VjcmV0'],
    signingSecretIds: ['webhook-signing:secret'],
    channels: [
      { name: 'chat', type: 'slack', alertTypes: ['failure'], url: 'https://hooks.test/canary' },
    ] as const,
  }
  const stored = () => redis.client.hget('punctual:teams', 'team-k')
  const putWith = (keys: SecretBox) =>
    createSettingsCompiler({ engine: opened.engine, box: keys, epoch: null }).putTeam('team-k', policy)
  const readWith = async (keys: SecretBox | null): Promise<CompiledSettings> => {
    const { connection } = opened
    const compiled = new CompiledSettings({
      connection,
      box: keys,
      clock: createFakeClock(),
      logger: quietLogger,
      metrics: quietMetrics,
      loops: loopsOf({ clock: createFakeClock(), logger: quietLogger }),
    })
    await compiled.refresh()
    return compiled
  }
  const only = (key: typeof former) => new SecretBox(key)
  const UNREADABLE = { signingSecrets: [], isSigningUnreadable: true }

  beforeEach(async () => {
    await redis.client.del('punctual:teams')
    return async () => {
      await redis.client.del('punctual:teams')
      // Versions begin anew: it must not take the next one for that which it knows.
      await reader.refresh()
    }
  })

  test('are replaced in three steps, and at none of them a process reads what it cannot open', async () => {
    await putWith(only(former))
    // 1. Every process gets the next key beside the former.
    const first = new SecretBox(former, [next])
    await putWith(first)
    expect((await readWith(first)).of('team-k')).toMatchObject(policy)
    // 2. They change places: settings that did not change are sealed anew, and once.
    const second = new SecretBox(next, [former])
    expect((await readWith(second)).of('team-k')).toMatchObject(policy)
    await putWith(second)
    const sealed = await stored()
    await putWith(second)
    expect(await stored()).toBe(sealed)
    // Processes that are still at the first step, and those that have come to the third.
    expect((await readWith(first)).of('team-k')).toMatchObject(policy)
    expect((await readWith(only(next))).of('team-k')).toMatchObject(policy)
    expect((await readWith(only(former))).of('team-k')).toMatchObject(UNREADABLE)
  })

  test('the doctor names teams that still need the former key', async () => {
    await putWith(only(former))
    const both = new SecretBox(next, [former])
    const sealedText = 'Its secrets are sealed under a former key.'
    const messages = async () =>
      (await checkSecrets(opened.engine, both)).findings.map(({ message }) => message)
    expect(await messages()).toContain(sealedText)
    await putWith(both)
    expect(await messages()).not.toContain(sealedText)
  })

  test('the doctor names header secrets without a value, and no others', async () => {
    const box = only(former)
    const secret = (name: string, value: string | null) => ({ name, hosts: ['a.test'], value })
    const put = (headerSecrets: readonly ReturnType<typeof secret>[]) =>
      createSettingsCompiler({ engine: opened.engine, box, epoch: null }).putTeam('team-h', {
        egressAllow: [],
        signingSecrets: [],
        headerSecrets,
      })
    const ofTeam = async () =>
      (await checkSecrets(opened.engine, box)).findings.filter(({ subject }) => subject === 'team team-h')
    await put([secret('one', 'v'), secret('two', null), secret('three', null)])
    expect(await ofTeam()).toMatchObject([
      {
        severity: 'warning',
        message: 'These header secrets have no value, so calls that name them fail: two, three.',
      },
    ])
    await put([secret('one', 'v')])
    expect(await ofTeam()).toEqual([])
    await redis.client.hdel('punctual:teams', 'team-h')
  })

  describe('sealing anew', () => {
    const owner = { team: 'team-k', kind: 'cron', name: 'nightly' } as const
    const own = {
      signingSecrets: ['whsec_c2VjcmV0'],
      signingSecretRefs: [],
      headerValues: { 'partner/token': 'canary' },
    }
    const both = new SecretBox(next, [former])
    const compilerOf = (keys: SecretBox, engine = opened.engine, epoch: number | null = null) =>
      createSettingsCompiler({ engine, box: keys, epoch })

    beforeEach(() => async () => void (await redis.client.del('punctual:secrets')))

    test('takes what lies in Redis, so a rotation needs no Secret', async () => {
      await putWith(only(former))
      await compilerOf(only(former)).putOwnSecrets(owner, own)
      const executor = await readWith(only(next))
      expect(executor.ownSecretsOf(owner)).toBe('unreadable')
      expect(await compilerOf(both).sealAnew()).toEqual({ status: 'sealed', unopened: [] })
      await executor.refresh()
      expect(executor.of('team-k')).toMatchObject(policy)
      expect(executor.of('team-k').isSigningUnreadable).toBeUndefined()
      expect(executor.ownSecretsOf(owner)).toMatchObject(own)
      const doctor = await checkSecrets(opened.engine, both)
      expect(doctor).toEqual({ summary: '1 team, 1 queue or cron', findings: [] })
      // What is sealed under the first key stays as it is.
      const sealed = await stored()
      await compilerOf(both).sealAnew()
      expect(await stored()).toBe(sealed)
    })

    test('names what no key opens, and goes on', async () => {
      const stranger = only(createSecretKey(randomBytes(32)))
      await putWith(stranger)
      await compilerOf(stranger).putOwnSecrets({ ...owner, name: 'lost' }, own)
      await compilerOf(only(former)).putOwnSecrets(owner, own)
      await redis.client.hset('punctual:teams', 'team-torn', '7 {')
      const { unopened } = (await compilerOf(both).sealAnew()) as { unopened: readonly string[] }
      expect(unopened.toSorted()).toEqual(['cron lost of team team-k', 'team team-k', 'team team-torn'])
      expect((await readWith(only(next))).ownSecretsOf(owner)).toMatchObject(own)
    })

    test('leaves alone what changes meanwhile, and writes nothing under a former epoch', async () => {
      await putWith(only(former))
      const { runner } = opened.engine
      const changing = {
        ...opened.engine,
        runner: {
          ...runner,
          read: async (look: Parameters<typeof runner.read>[0]) => {
            const answer = await runner.read(look)
            if (typeof answer === 'string') await redis.client.hset('punctual:teams', 'team-k', '9 changed')
            return answer
          },
          run: (...run: Parameters<typeof runner.run>) => runner.run(...run),
        } as typeof runner,
      }
      await compilerOf(both, changing).sealAnew()
      expect(await stored()).toBe('9 changed')
      await redis.client.del('punctual:teams')
      await putWith(only(former))
      await redis.client.hset('punctual:teams', '#t', '8')
      const sealed = await stored()
      expect(await compilerOf(both, opened.engine, 7).sealAnew()).toEqual({ status: 'superseded' })
      expect(await stored()).toBe(sealed)
    })
  })

  test('without one a process knows all settings but the secrets', async () => {
    await putWith(only(former))
    const team = (await readWith(null)).of('team-k')
    expect(team.signingSecretIds).toEqual(['webhook-signing:secret'])
    expect(team.signingSecrets).toEqual([])
    expect(team.channels).toEqual([{ ...policy.channels[0], url: null }])
    const noKey = createSettingsCompiler({ engine: opened.engine, box: null, epoch: null })
    await expect(noKey.putTeam('team-k', policy)).rejects.toThrow('this process has no key')
  })

  test('do not open what was copied from another team, or to another channel', async () => {
    await putWith(only(former))
    const value = (await stored()) ?? ''
    await redis.client.hset('punctual:teams', 'team-l', value)
    expect((await readWith(only(former))).of('team-l')).toMatchObject(UNREADABLE)
    await redis.client.hdel('punctual:teams', 'team-l')
    await redis.client.hset('punctual:teams', 'team-k', value.replace('"chat"', '"other"'))
    expect((await readWith(only(former))).of('team-k')).toMatchObject(UNREADABLE)
  })

  test('do not open where a signing secret alone was copied', async () => {
    const keys = only(former)
    const { engine } = opened
    const writer = createSettingsCompiler({ engine, box: keys, epoch: null })
    await writer.putTeam('team-k', { egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'] })
    await redis.client.hset('punctual:teams', 'team-l', (await stored()) ?? '')
    expect((await readWith(keys)).of('team-l')).toMatchObject(UNREADABLE)
    await redis.client.hdel('punctual:teams', 'team-l')
    // Those of a queue, where another's would sign or be sent.
    const owner = (name: string) => ({ team: 'team-k', kind: 'queue', name }) as const
    const secrets = { signingSecrets: ['whsec_c2VjcmV0'], signingSecretRefs: [], headerValues: {} }
    await writer.putOwnSecrets(owner('a'), secrets)
    const held = await redis.client.hget('punctual:secrets', '["team-k","queue","a"]')
    await redis.client.hset('punctual:secrets', '["team-k","queue","b"]', held ?? '')
    const compiled = await readWith(keys)
    expect(compiled.ownSecretsOf(owner('a'))?.valueOf()).toMatchObject(secrets)
    expect(compiled.ownSecretsOf(owner('b'))).toBe('unreadable')
    await redis.client.del('punctual:secrets')
  })

  test('are sent to the origin alone that they were stored for', async () => {
    const keys = only(former)
    const writer = createSettingsCompiler({ engine: opened.engine, box: keys, epoch: null })
    const owner = { team: 'team-k', kind: 'cron', name: 'a' } as const
    const secrets = {
      signingSecrets: [],
      signingSecretRefs: [],
      headerValues: { 'x-key': 'v' },
      headerOrigin: 'https://a.test',
    }
    await writer.putOwnSecrets(owner, secrets)
    expect((await readWith(keys)).ownSecretsOf(owner)).toMatchObject(secrets)
    const field = '["team-k","cron","a"]'
    const held = (await redis.client.hget('punctual:secrets', field)) ?? ''
    await redis.client.hset('punctual:secrets', field, held.replace('https://a.test', 'https://b.test'))
    expect((await readWith(keys)).ownSecretsOf(owner)).toBe('unreadable')
    await writer.putOwnSecrets(owner, { ...secrets, headerOrigin: 'https://c.test' })
    expect((await readWith(keys)).ownSecretsOf(owner)).toMatchObject({ headerOrigin: 'https://c.test' })
    await redis.client.del('punctual:secrets')
  })

  test('that cannot be read yet are said to be there, and take the place of none', async () => {
    const keys = only(former)
    const writer = createSettingsCompiler({ engine: opened.engine, box: keys, epoch: null })
    const owner = { team: 'team-k', kind: 'queue', name: 'a' } as const
    const signingSecretRefs = [{ name: 'partner-signing', key: 'secret' }]
    const unread = { signingSecrets: [], signingSecretRefs, headerValues: {} }
    const read = { ...unread, signingSecrets: ['whsec_c2VjcmV0'] }
    expect(await writer.putOwnSecrets(owner, unread)).toEqual({ status: 'applied', mustBeReadFirst: false })
    expect((await readWith(keys)).ownSecretsOf(owner)).toMatchObject(unread)
    await writer.putOwnSecrets(owner, read)
    await writer.putOwnSecrets(owner, unread)
    const compiled = await readWith(keys)
    expect(compiled.ownSecretsOf(owner)).toMatchObject(read)
    // A Redis that has lost them has not taken them away.
    await redis.client.del('punctual:secrets')
    await compiled.refresh().catch(() => undefined)
    expect(compiled.ownSecretsOf(owner)).toMatchObject(read)
    await writer.putOwnSecrets(owner, NO_OWN_SECRETS)
    expect(await redis.client.hexists('punctual:secrets', '["team-k","queue","a"]')).toBe(0)
  })

  test('of a queue say where they lie to who opens none', async () => {
    const { engine } = opened
    const writer = createSettingsCompiler({ engine, box: only(former), epoch: null })
    const owner = { team: 'team-k', kind: 'queue', name: 'a' } as const
    const refs = createSigningSecretRefs(engine)
    expect(await refs.of(owner)).toEqual([])
    const signingSecretRefs = [{ name: 'partner-signing', key: 'secret' }]
    await writer.putOwnSecrets(owner, {
      signingSecrets: ['whsec_c2VjcmV0'],
      signingSecretRefs,
      headerValues: {},
    })
    expect(await refs.of(owner)).toEqual(signingSecretRefs)
    expect((await readWith(only(former))).ownSecretsOf(owner)).toMatchObject({ signingSecretRefs })
    await redis.client.del('punctual:secrets')
  })

  test('of headers are sealed with the hosts that they may go to, which everybody reads', async () => {
    const { engine } = opened
    const writer = createSettingsCompiler({ engine, box: only(former), epoch: null })
    const headerSecrets = [
      { name: 'partner', hosts: ['api.test'], value: 'Bearer canary' },
      { name: 'missing', hosts: ['*.test:8080'], value: null },
    ]
    const team = { egressAllow: [], signingSecrets: [], headerSecrets }
    await writer.putTeam('team-k', team)
    const held = (await stored()) ?? ''
    expect(held).not.toContain('canary')
    await writer.putTeam('team-k', team)
    expect(await stored()).toBe(held)
    expect((await readWith(only(former))).of('team-k').headerSecrets).toEqual(headerSecrets)
    expect((await readWith(null)).of('team-k').headerSecrets).toEqual(
      headerSecrets.map((secret) => ({ ...secret, value: null })),
    )
    // Another key: all of it is sealed anew.
    const keys = new SecretBox(next, [former])
    await createSettingsCompiler({ engine, box: keys, epoch: null }).putTeam('team-k', team)
    expect((await readWith(only(next))).of('team-k').headerSecrets).toEqual(headerSecrets)
    // Nobody opens them for other hosts.
    await redis.client.hset('punctual:teams', 'team-k', held.replace('"api.test"', '"evil.test"'))
    expect((await readWith(only(former))).of('team-k').headerSecrets).toEqual([
      { name: 'partner', hosts: ['evil.test'], value: null },
      { name: 'missing', hosts: ['*.test:8080'], value: null },
    ])
    await redis.client.hdel('punctual:teams', 'team-k')
  })
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
})

test('a token is as it was without terms, keeps those it has, and is refused with terms of a later version', async () => {
  const terms: TokenTerms = {
    scopes: ['push'],
    queues: ['a b', 'ü'],
    expiresAtMs: 1_800_000_000_000,
    rateLimit: { requestsPerSecond: 5, burst: 9 },
  }
  await putToken('team-t', 'free', 'token-free-0123456789')
  await putToken('team-t', 'bound', 'token-bound-0123456789', terms)
  const stored = async (name: string) =>
    (await opened.connection.hget(TOKENS_KEY, JSON.stringify(['team-t', name]))) ?? ''
  const hashOf = (token: string) => hash('sha256', token, 'base64url')
  expect((await stored('free')).split(/ (.*)/s)[1]).toBe(hashOf('token-free-0123456789'))
  expect((await stored('bound')).split(/ (.*)/s)[1]).not.toBe(hashOf('token-bound-0123456789'))
  await reader.refresh()
  expect(reader.principalOf('token-free-0123456789')).toMatchObject({ team: 'team-t', queues: null })
  const bound = reader.principalOf('token-bound-0123456789')
  expect(bound).toMatchObject({ subject: 'bound', terms, queues: new Set(['a b', 'ü']) })
  expect([...(bound?.permissions ?? [])]).toEqual(['push'])

  const text = `${hashOf('token-later-0123456789')} ${JSON.stringify({ ...terms, hours: [9, 17] })}`
  await putSetting(opened.engine, {
    hash: TOKENS_KEY,
    epoch: null,
    text,
    field: JSON.stringify(['team-t', 'later']),
  })
  await reader.refresh()
  expect(reader.principalOf('token-later-0123456789')).toBeNull()
  // Losing all its terms makes a token free again.
  await putToken('team-t', 'bound', 'token-bound-0123456789')
  await reader.refresh()
  expect(reader.principalOf('token-bound-0123456789')?.terms).toEqual(NO_TERMS)
})

test('our own addresses are told to API and executors, by the leader alone', async () => {
  const epochs = createLeaderEpochs(opened.engine, box)
  const { connection } = opened
  expect(await readOwnAddresses(connection)).toEqual([])
  const { compiler: former } = await epochs.begin()
  expect(await former.putOwnAddresses('pods', ['10.0.0.7', 'fd00::7'])).toEqual({ status: 'applied' })
  expect(await former.putOwnAddresses('apiServer', ['192.0.2.1'])).toEqual({ status: 'applied' })
  expect(await readOwnAddresses(connection)).toEqual(['192.0.2.1', '10.0.0.7', 'fd00::7'])
  const { compiler: leader } = await epochs.begin()
  expect(await former.putOwnAddresses('pods', [])).toEqual({ status: 'superseded' })
  await leader.putOwnAddresses('pods', ['10.0.0.8'])
  expect(await readOwnAddresses(connection)).toEqual(['192.0.2.1', '10.0.0.8'])
  await redis.client.hset('punctual:own-addresses', 'pods', '7 no list')
  expect(await readOwnAddresses(connection)).toEqual(['192.0.2.1'])
})
