import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CronSchedule } from '../../../src/domain/crons/cron-schedule.ts'
import {
  cronKey,
  type FolderChange,
  keysOf,
  type Refusals,
} from '../../../src/folder-store/folder-snapshot.ts'
import { type FolderStore, openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { problemText } from '../../../src/resources/resource.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'

let base: string
let stores: FolderStore[]
let changes: FolderChange[]
let warned: string[]
/** Keys of what throws while it is applied. */
let broken: ReadonlySet<string>
let clock: ReturnType<typeof createHandClock>

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'punctual-folder-'))
  mkdirSync(join(base, 'resources'))
  stores = []
  changes = []
  warned = []
  broken = new Set()
  clock = createHandClock()
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const store of stores) await store.stop()
  rmSync(base, { recursive: true, force: true })
})

async function start(isTargetBlocked?: (url: URL) => boolean): Promise<FolderStore> {
  const store = await openFolderStore({
    folder: join(base, 'resources'),
    team: 'default',
    statePath: join(base, 'state.json'),
    ...(isTargetBlocked === undefined ? {} : { isTargetBlocked }),
    auditLog: new FakeAuditLog(),
    logger: { ...quietLogger, warn: (_message, fields) => void warned.push(String(fields?.['problem'])) },
    clock,
  })
  stores.push(store)
  await store.start(async (change): Promise<Refusals> => {
    changes.push(change)
    return new Map(
      keysOf(change).flatMap((key) => (broken.has(key) ? [[key, new RangeError('planted')]] : [])),
    )
  })
  return store
}

const write = (file: string, text: string) => writeFileSync(join(base, 'resources', file), text)
const manifest = (kind: string, name: string, spec: string) =>
  `apiVersion: punctual.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`
const cron = (name: string, zone: string, expression = '0 3 * * *') =>
  manifest(
    'HttpCron',
    name,
    `{ url: "https://a.test/${name}", cronExpression: ${expression}, timeZone: ${zone} }`,
  )
const crons = () => changes.flatMap((change) => change.crons.map(({ name }) => name))
const shown = (store: FolderStore) => store.problems().map(problemText)

test('a manifest of a zone that only ICU knows is set aside with file and field, and all others start', async () => {
  write('bad.yaml', cron('bad', 'CST'))
  write('good.yaml', cron('good', 'America/Chicago'))
  write(
    'window.yaml',
    manifest(
      'MaintenanceWindow',
      'night',
      '{ recurring: [{ cronExpression: 0 3 * * *, timeZone: IST, durationSeconds: 600 }] }',
    ),
  )
  const store = await start()
  expect(crons()).toEqual(['good'])
  const texts = [
    expect.stringMatching(
      /^bad\.yaml, document 1, line 4, spec\.timeZone: .*"CST" is none\. Use America\/Chicago/,
    ),
    expect.stringMatching(
      /^window\.yaml, document 1, line 4, spec\.recurring\[0\]\.timeZone: .*Use Asia\/Kolkata/,
    ),
  ]
  clock.advance(250)
  await store.sync()
  expect(shown(store)).toEqual(texts)
  expect(warned).toEqual(texts)
})

test('whatever throws while a manifest is evaluated sets aside that one', async () => {
  const { next } = CronSchedule.prototype
  vi.spyOn(CronSchedule.prototype, 'next').mockImplementation(function (this: CronSchedule, afterMs) {
    if (this.zone.name === 'Asia/Tokyo') throw new RangeError('planted')
    return next.call(this, afterMs)
  })
  write('bad.yaml', cron('bad', 'Asia/Tokyo'))
  write('good.yaml', cron('good', 'America/Chicago'))
  const store = await start()
  clock.advance(250)
  await store.sync()
  expect(crons()).toEqual(['good'])
  expect(shown(store)).toEqual([
    'bad.yaml, document 1, line 4, spec.cronExpression: cannot be evaluated: planted.',
  ])
})

test('whatever throws while resources are put together sets aside that one, and its last version stays', async () => {
  write('bad.yaml', cron('bad', 'UTC'))
  const first = await start()
  await first.stop()
  changes = []
  write('good.yaml', cron('good', 'UTC'))
  const store = await start((url) => {
    if (url.pathname === '/bad') throw new RangeError('planted')
    return false
  })
  expect([crons(), changes.flatMap(({ removedCrons }) => removedCrons)]).toEqual([['good'], []])
  expect(shown(store)).toEqual([
    'bad.yaml, document 1: HttpCron bad cannot be evaluated: planted. What was applied earlier stays.',
  ])
})

test('what throws while it is applied is a problem of its manifest, and is tried again after a while', async () => {
  broken = new Set([cronKey({ team: 'default', name: 'bad' })])
  write('bad.yaml', cron('bad', 'UTC'))
  write('good.yaml', cron('good', 'UTC'))
  const store = await start()
  const problem =
    'bad.yaml, document 1: HttpCron bad cannot be applied: planted. What was applied earlier stays.'
  expect(shown(store)).toEqual([problem])
  expect(warned).toEqual([problem])
  await store.sync()
  expect(changes).toHaveLength(1)
  broken = new Set()
  clock.advance(30_000)
  await store.sync()
  expect(changes.slice(1).map((change) => change.crons.map(({ name }) => name))).toEqual([['bad']])
  expect(shown(store)).toEqual([])
})

test('a removal that throws is made again', async () => {
  write('bad.yaml', cron('bad', 'UTC'))
  const store = await start()
  broken = new Set([cronKey({ team: 'default', name: 'bad' })])
  rmSync(join(base, 'resources', 'bad.yaml'))
  await store.sync()
  clock.advance(2_000)
  await store.sync()
  broken = new Set()
  clock.advance(30_000)
  await store.sync()
  expect(changes.slice(1).map(({ removedCrons }) => removedCrons.map(({ name }) => name))).toEqual([
    ['bad'],
    ['bad'],
  ])
  await store.sync()
  expect(changes).toHaveLength(3)
})
