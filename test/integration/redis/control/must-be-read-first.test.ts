import { createSecretKey, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { NO_OWN_SECRETS, type OwnSecrets } from '../../../../src/ports/access/own-secrets.ts'
import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { decodeOwnSecrets } from '../../../../src/redis/control/compiled/stored-own-secrets.ts'
import { SECRETS_KEY } from '../../../../src/redis/base/layout/keys.ts'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { openEngine, type TestEngine } from '../../../support/engine/engine.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'

const box = new SecretBox(createSecretKey(randomBytes(32)))
const owner = { team: 'one', kind: 'cron', name: 'nightly' } as const
const SIGNING = {
  signingSecrets: ['whsec_c2VjcmV0'],
  signingSecretRefs: [{ name: 'partner', key: 'secret' }],
}
const SIGNED: OwnSecrets = { ...NO_OWN_SECRETS, ...SIGNING }
const HEADERS = { ...NO_OWN_SECRETS, headerValues: { 'x-key': 'v' }, headerOrigin: 'https://a.test' }
let redis: TestRedis
let opened: TestEngine

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
})
afterEach(() => redis.client.del(SECRETS_KEY))
afterAll(async () => {
  opened.close()
  await redis.stop()
})

const newCompiler = (keys = box) => createSettingsCompiler({ engine: opened.engine, box: keys, epoch: null })

describe('executors must read before the settings', () => {
  it.each<[string, OwnSecrets, OwnSecrets]>([
    ['the first header', NO_OWN_SECRETS, HEADERS],
    ['another header', HEADERS, { ...HEADERS, headerValues: { 'x-key': 'v', 'x-other': 'v' } }],
    ['another header in its place', HEADERS, { ...HEADERS, headerValues: { 'x-other': 'v' } }],
    ['another origin', HEADERS, { ...HEADERS, headerOrigin: 'https://b.test' }],
    ['the first signing secret', NO_OWN_SECRETS, SIGNED],
    ['the first signing secret beside a header', HEADERS, { ...HEADERS, ...SIGNING }],
    ['a signing secret that could not be read', { ...SIGNING, signingSecrets: [], headerValues: {} }, SIGNED],
  ])('%s', async (_what, former, secrets) => {
    const compiler = newCompiler()
    await compiler.putOwnSecrets(owner, former)
    expect(await compiler.putOwnSecrets(owner, secrets)).toMatchObject({ mustBeReadFirst: true })
    expect(await compiler.putOwnSecrets(owner, secrets)).toMatchObject({ mustBeReadFirst: false })
  })

  it('what takes the place of secrets that no key opens', async () => {
    await newCompiler(new SecretBox(createSecretKey(randomBytes(32)))).putOwnSecrets(owner, HEADERS)
    expect(await newCompiler().putOwnSecrets(owner, HEADERS)).toMatchObject({ mustBeReadFirst: true })
  })

  it('what a write has stored that seemed to fail', async () => {
    const { runner } = opened.engine
    let isLost = false
    const run: typeof runner.run = async (...args) => {
      const answer = await runner.run(...args)
      if (isLost) throw new StoreUnavailableError('the answer was lost')
      return answer
    }
    const engine = { ...opened.engine, runner: { run, read: runner.read.bind(runner) } as typeof runner }
    const compiler = createSettingsCompiler({ engine, box, epoch: null })
    await compiler.putOwnSecrets(owner, HEADERS)
    const moved = { ...HEADERS, headerOrigin: 'https://b.test' }
    isLost = true
    await expect(compiler.putOwnSecrets(owner, moved)).rejects.toThrow('lost')
    isLost = false
    expect(await compiler.putOwnSecrets(owner, moved)).toMatchObject({ mustBeReadFirst: true })
    expect(await compiler.putOwnSecrets(owner, moved)).toMatchObject({ mustBeReadFirst: false })
    // Also the first ones, and they can be removed.
    await compiler.putOwnSecrets(owner, NO_OWN_SECRETS)
    isLost = true
    await expect(compiler.putOwnSecrets(owner, moved)).rejects.toThrow('lost')
    isLost = false
    await compiler.putOwnSecrets(owner, NO_OWN_SECRETS)
    expect(await redis.client.hexists(SECRETS_KEY, JSON.stringify(Object.values(owner)))).toBe(0)
  })
})

describe('executors need not read before the settings', () => {
  it.each<[string, OwnSecrets, OwnSecrets]>([
    ['another value', HEADERS, { ...HEADERS, headerValues: { 'x-key': 'w' } }],
    ['another signing secret', SIGNED, { ...SIGNED, signingSecrets: ['whsec_b3RoZXI='] }],
    ['fewer', { ...HEADERS, ...SIGNING }, HEADERS],
    ['none', HEADERS, NO_OWN_SECRETS],
  ])('%s', async (_what, former, secrets) => {
    const compiler = newCompiler()
    await compiler.putOwnSecrets(owner, former)
    const end = await compiler.putOwnSecrets(owner, secrets)
    expect(end).not.toMatchObject({ mustBeReadFirst: true })
  })
})

it('header values are withdrawn, those alone that may not go on being sent where they went', async () => {
  const compiler = newCompiler()
  const { signingSecrets } = SIGNED
  const field = '["one","cron","nightly"]'
  const stored = async () =>
    decodeOwnSecrets(box, field, (await redis.client.hget(SECRETS_KEY, field)) ?? expect.fail('it is there'))
  const values = async () => ({ ...(await stored()).headerValues })
  await compiler.putOwnSecrets(owner, {
    ...SIGNED,
    ...HEADERS,
    ...SIGNING,
    headerValues: { 'x-key': 'v', 'x-other': 'w' },
  })
  const asked: string[][] = []
  const keeping = (kept: readonly string[]) =>
    compiler.withdrawHeaderValues(owner, (header, origin) => {
      asked.push([header, origin])
      return kept.includes(header)
    })
  await keeping(['x-key', 'x-other'])
  expect(await values()).toEqual({ 'x-key': 'v', 'x-other': 'w' })
  expect(await keeping(['x-other'])).toMatchObject({ status: 'applied' })
  expect(asked).toContainEqual(['x-key', 'https://a.test'])
  expect(await values()).toEqual({ 'x-other': 'w' })
  // Another controller, which has not written them.
  await newCompiler().withdrawHeaderValues(owner, () => false)
  expect(await values()).toEqual({})
  expect(await stored()).toMatchObject({ signingSecrets })
  const none = { ...owner, name: 'none' }
  expect(await compiler.withdrawHeaderValues(none, () => false)).toEqual({ status: 'applied' })
})
