import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import type { FolderChange } from '../../../src/folder-store/folder-snapshot.ts'
import { NO_REFUSALS } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import type { FolderStore } from '../../../src/folder-store/folder-store.ts'
import { problemText } from '../../../src/resources/resource.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'
import type { HandClock } from './hand-clock.ts'
import { editCron, editQueue, removeCron } from './folder-writes.ts'

/** Of an API group that is passed over. */
const FOREIGN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'
const FILES_MAX = 2_000
const FILE_BYTES_MAX = 1024 * 1024

let folder: string
let clock: HandClock
let store: FolderStore
let changes: FolderChange[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-bounds-'))
  clock = createHandClock()
  changes = []
})

afterEach(async () => {
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  store = await openFolderStore({
    folder,
    team: 'default',
    statePath: null,
    logger: quietLogger,
    clock,
    auditLog: new FakeAuditLog(),
  })
  await store.start(async (change) => {
    changes.push(change)
    return NO_REFUSALS
  })
  changes = []
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const cron = (name: string) =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpCron\nmetadata: { name: ${name} }\nspec: { url: "https://a.test", cronExpression: 0 8 * * * }\n`
const manifests = () => readdirSync(folder).filter((name) => !name.startsWith('.')).length
const daily = { team: 'default', name: 'daily' }
const make = (name: string, change = {}) =>
  editCron(store, { team: 'default', name, change: {}, current: cronSettings(change) })

describe('a folder with as many manifests as are allowed', () => {
  beforeEach(async () => {
    write('daily.yaml', cron('daily'))
    write('other.yaml', cron('other'))
    for (let index = 3; index <= FILES_MAX; index += 1) write(`map-${index}.yaml`, FOREIGN)
    await start()
  })

  it('gets no further one by an edit, and is else as any other', async () => {
    const full = 'The manifest folder holds 2000 manifests, the most allowed: remove one first.'
    expect(await make('new')).toEqual({ status: 'refused', reason: full })
    const queue = { team: 'default', name: 'mails', change: {}, current: DEFAULT_QUEUE_SETTINGS }
    expect(await editQueue(store, queue)).toEqual({ status: 'refused', reason: full })
    expect(manifests()).toBe(FILES_MAX)
    expect(store.problems()).toEqual([])
    const paused = await editCron(store, { ...daily, change: { isActive: false }, current: cronSettings() })
    expect(paused).toMatchObject({ status: 'edited' })
    expect(await removeCron(store, daily)).toEqual({ status: 'removed' })
    expect(await make('new')).toMatchObject({ status: 'edited' })
    expect(manifests()).toBe(FILES_MAX)
  })

  it('with one more changes nothing, until one is removed from here', async () => {
    write('one-more.yaml', cron('one-more'))
    const reason =
      'holds 2001 manifests; at most 2000 are allowed: nothing is changed until some are removed.'
    const overfull = { status: 'refused', reason: `The manifest folder ${reason}` }
    expect(await make('new')).toEqual(overfull)
    expect(await editCron(store, { ...daily, change: {}, current: cronSettings() })).toEqual(overfull)
    expect(store.problems().map(problemText)).toEqual([`${folder}: ${reason}`])
    // Its manifest is there, and not read yet.
    expect(await removeCron(store, { team: 'default', name: 'one-more' })).toEqual(overfull)
    // What was just written into a file is not lost with what is removed.
    const edited = `${cron('daily')}---\n${cron('beside')}`
    write('daily.yaml', edited)
    expect(await removeCron(store, daily)).toEqual({
      status: 'refused',
      reason: 'daily.yaml is being changed or is not valid: fix the file first.',
    })
    expect(readFileSync(join(folder, 'daily.yaml'), 'utf8')).toBe(edited)
    write('daily.yaml', cron('daily'))
    expect(changes).toEqual([])
    expect(await removeCron(store, daily)).toEqual({ status: 'removed' })
    expect(existsSync(join(folder, 'daily.yaml'))).toBe(false)
    expect(changes).toMatchObject([{ removedCrons: [daily], crons: [] }])
    await store.sync()
    clock.advance(250)
    await store.sync()
    expect(store.problems()).toEqual([])
    expect(store.snapshot().crons.map(({ name }) => name)).toEqual(['one-more', 'other'])
  })
})

describe('a manifest that would be too large to be read again', () => {
  const headers = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`X-${index}`, 'v'.repeat(8_000)]),
  )
  // Each line of it is indented in a manifest.
  const large = { headers, payload: 'a\n'.repeat(131_072) }

  it('is not written', async () => {
    await start()
    const result = await make('large', large)
    expect(result).toMatchObject({
      status: 'refused',
      reason: expect.stringMatching(
        new RegExp(`^large\\.yaml would have 1\\d{6} bytes; at most ${FILE_BYTES_MAX} are allowed\\.$`),
      ) as string,
    })
    expect(manifests()).toBe(0)
    expect(changes).toEqual([])
  })

  it('is not made of one that is there, which can be changed and removed as before', async () => {
    write('daily.yaml', cron('daily'))
    await start()
    const edit = (change: object) => editCron(store, { ...daily, change, current: cronSettings() })
    expect(await edit(large)).toMatchObject({ status: 'refused' })
    expect(readFileSync(join(folder, 'daily.yaml'), 'utf8')).toBe(cron('daily'))
    expect(await edit({ isActive: false })).toMatchObject({ status: 'edited' })
    expect(await removeCron(store, daily)).toEqual({ status: 'removed' })
  })
})
