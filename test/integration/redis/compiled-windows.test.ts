import { loopsOf } from '../../support/loops.ts'
import { createSecretKey, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../../src/domain/windows/maintenance-window.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { CompiledWindows } from '../../../src/redis/control/compiled/compiled-windows.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../../src/redis/control/compiler/settings-compiler.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const KEY = 'punctual:windows'
let redis: TestRedis
let opened: TestEngine
let compiler: SettingsCompiler
let clock: FakeClock
let told: unknown[]
let reader: CompiledWindows

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
  compiler = createSettingsCompiler({
    engine: opened.engine,
    box: new SecretBox(createSecretKey(randomBytes(32))),
    epoch: null,
  })
})
afterAll(async () => {
  opened.close()
  await redis.stop()
})
beforeEach(async () => {
  await redis.client.del(KEY)
  clock = createFakeClock()
  told = []
  const error = (_message: string, fields: Record<string, unknown> = {}): void => void told.push(fields)
  reader = new CompiledWindows({
    runner: opened.engine.runner,
    clock,
    logger: { ...quietLogger, error },
    metrics: quietMetrics,
    loops: loopsOf({ clock: clock, logger: quietLogger }),
  })
  await reader.start()
  return () => reader.stop()
})

function window(name: string, change: Partial<MaintenanceWindow> = {}): MaintenanceWindow {
  return {
    team: 'shop',
    name,
    action: 'hold',
    resource: { kind: 'queue', name: 'mails "out"' },
    times: { kind: 'once', startMs: 1_000, endMs: 2_000 },
    reason: null,
    ...change,
  }
}
/** The next poll, to its end. */
async function poll(): Promise<void> {
  await clock.advance(800)
  await until('the next poll is planned', () => clock.timers > 0)
}

test('a window is in force from the next poll on, changed with the one after an edit, and gone after its removal', async () => {
  const schedule = { cronExpression: '0 3 * * *', timeZone: 'Europe/Berlin', durationSeconds: 3_600 }
  const night = window('night', { times: { kind: 'recurring', schedules: [schedule] }, reason: 'Backup “1”' })
  expect(await compiler.putWindow(window('move'))).toEqual({ status: 'applied' })
  await compiler.putWindow(night)
  expect(reader.holds(1_500)).toEqual([])
  await poll()
  const { resource } = window('move')
  expect(reader.holds(1_500)).toEqual([{ team: 'shop', resource, untilMs: 2_000 }])
  expect(reader.mutes('shop', 1_500)?.queues.get('mails "out"')).toBe('move')
  expect(await reader.get('shop', 'night')).toEqual(night)

  await compiler.putWindow(window('move', { times: { kind: 'once', startMs: 1_600, endMs: 2_000 } }))
  await poll()
  expect(reader.holds(1_500)).toEqual([])
  expect(reader.holds(1_600)).toHaveLength(1)

  expect(await compiler.removeWindow('shop', 'move')).toEqual({ status: 'removed' })
  await poll()
  expect(reader.holds(1_600)).toEqual([])
  expect(reader.mutes('shop', 1_600)).toBeNull()
})

test('what is applied already is not written again', async () => {
  await compiler.putWindow(window('move'))
  const before = await redis.client.dump(KEY)
  await compiler.putWindow(window('move'))
  expect(await redis.client.dump(KEY)).toBe(before)
  expect((await compiler.applied()).windows).toEqual([{ team: 'shop', name: 'move' }])
})

test('reads show what another process has changed a moment ago', async () => {
  await compiler.putWindow(window('move'))
  expect(await reader.get('shop', 'move')).toEqual(window('move'))
  expect(await reader.get('office', 'move')).toBeNull()
  await compiler.removeWindow('shop', 'move')
  expect(await reader.get('shop', 'move')).toBeNull()
})

test('a list has the windows of one team by name, page by page', async () => {
  for (const name of ['c', 'a', 'b']) await compiler.putWindow(window(name))
  await compiler.putWindow(window('d', { team: 'office' }))
  const names: string[] = []
  let cursor: string | null = null
  do {
    const page = await reader.list({ team: 'shop', limit: 2, cursor })
    if (page === 'bad_cursor') throw new Error(page)
    names.push(...page.windows.map(({ name }) => name), '|')
    cursor = page.nextCursor
    if (cursor !== null) expect(await reader.list({ team: 'office', limit: 2, cursor })).toBe('bad_cursor')
  } while (cursor !== null)
  expect(names).toEqual(['a', 'b', '|', 'c', '|'])
})

test('an entry that cannot be read is told once, and the others are in force', async () => {
  await compiler.putWindow(window('move'))
  await redis.client.hset(KEY, '["shop","bad"]', '9 {"action":"rest"}', '#v', '9')
  await poll()
  await compiler.putWindow(window('other'))
  await poll()
  expect(told).toEqual([{ field: '["shop","bad"]' }])
  expect(reader.holds(1_500)).toHaveLength(1)
})

test('windows stay in force when Redis has lost them, until they are applied again', async () => {
  await compiler.putWindow(window('move'))
  await poll()
  await redis.client.del(KEY)
  await poll()
  await poll()
  expect(reader.holds(1_500)).toHaveLength(1)
  await compiler.putWindow(window('other'))
  await poll()
  expect(reader.holds(1_500)).toHaveLength(1)
  expect(await reader.get('shop', 'move')).toBeNull()
})

test('windows stay in force while Redis does not answer', async () => {
  await compiler.putWindow(window('move'))
  await poll()
  const away = { read: () => Promise.reject(new Error('away')) }
  const runner = Object.create(opened.engine.runner, {})
  const cut = new CompiledWindows({
    runner,
    clock,
    logger: quietLogger,
    metrics: quietMetrics,
    loops: loopsOf({ clock: clock, logger: quietLogger }),
  })
  await cut.start()
  Object.assign(runner, away)
  await poll()
  expect(cut.holds(1_500)).toHaveLength(1)
  cut.stop()
})

test('a window of a zone that a version before took opens nothing, and one that cannot be read is left out', async () => {
  const schedule = { cronExpression: '* * * * *', timeZone: 'CST', durationSeconds: 3_600 }
  await compiler.putWindow(window('zone', { times: { kind: 'recurring', schedules: [schedule] } }))
  await compiler.putWindow(window('move'))
  const stored = await redis.client.hget(KEY, '["shop","zone"]')
  for (const [name, times] of Object.entries({
    noSchedule: { kind: 'recurring', schedules: [null] },
    noZone: { kind: 'recurring', schedules: [{ ...schedule, timeZone: undefined }] },
    noTime: { kind: 'once', startMs: 1e300, endMs: 2e300 },
  })) {
    const text = JSON.stringify({ action: 'hold', resource: null, times, reason: null })
    await redis.client.hset(KEY, `["shop","${name}"]`, `${stored?.split(' ')[0]} ${text}`)
  }
  await poll()
  expect(reader.holds(1_500)).toEqual([expect.objectContaining({ untilMs: 2_000 })])
  expect(reader.mutes('shop', 1_500)?.queues.get('mails "out"')).toBe('move')
  const { windows } = (await reader.list({ team: 'shop', limit: 10, cursor: null })) as {
    windows: readonly MaintenanceWindow[]
  }
  expect(windows.map(({ name }) => name)).toEqual(['move', 'zone'])
  expect(told).toHaveLength(3)
  expect(await compiler.removeWindow('shop', 'zone')).toEqual({ status: 'removed' })
})
