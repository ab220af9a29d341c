import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { LastUses } from '../../../src/redis/control/access/last-uses.ts'
import { createSettingsCompiler } from '../../../src/redis/control/compiler/settings-compiler.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createSecretKey, randomBytes } from 'node:crypto'
import { USED_KEY } from '../../../src/redis/base/layout/keys.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { aPrincipal } from '../../support/principals.ts'
import { quietLogger } from '../../support/quiet.ts'
import { commandsDuring } from '../../support/servers/command-counts.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

let redis: TestRedis
let opened: TestEngine

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
})
beforeEach(() => redis.client.del(USED_KEY))
afterAll(async () => {
  opened.close()
  await redis.stop()
})

function aProcess() {
  const clock = createFakeClock()
  const { runner } = opened.engine
  return { clock, uses: new LastUses({ runner, clock, logger: quietLogger }) }
}
const CI = aPrincipal('default', { subject: 'ci' })

test('a minute after the first use, and once, the last one is written', async () => {
  const { clock, uses } = aProcess()
  const other = aPrincipal('default', { subject: 'other' })
  const counts = await commandsDuring(redis.client, async () => {
    for (let atMs = 1; atMs <= 1_000; atMs += 1) uses.note(CI, atMs)
    uses.note(other, 7)
    await clock.advance(59_999)
    expect(await uses.lastUsed('default', ['ci'])).toEqual([null])
    await clock.advance(1)
    await until('it is written', async () => (await uses.lastUsed('default', ['ci']))[0] !== null)
  })
  expect(counts['hset']).toBe(1)
  expect(await uses.lastUsed('default', ['none', 'other', 'ci'])).toEqual([null, 7, 1_000])
  expect(await uses.lastUsed('others', ['ci'])).toEqual([null])
})

test('a process that comes later with an earlier use changes nothing', async () => {
  const [first, second] = [aProcess(), aProcess()]
  first.uses.note(CI, 1_000)
  second.uses.note(CI, 999)
  await first.uses.write()
  await second.uses.write()
  expect(await first.uses.lastUsed('default', ['ci'])).toEqual([1_000])
})

test('a stop writes what was noted; a token that is removed is forgotten', async () => {
  const { uses } = aProcess()
  uses.note(CI, 1_000)
  await uses.stop()
  expect(await uses.lastUsed('default', ['ci'])).toEqual([1_000])
  const box = new SecretBox(createSecretKey(randomBytes(32)))
  await createSettingsCompiler({ engine: opened.engine, box, epoch: null }).removeToken('default', 'ci')
  expect(await redis.client.exists(USED_KEY)).toBe(0)
})
