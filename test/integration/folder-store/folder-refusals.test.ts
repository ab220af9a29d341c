import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StorageFullError } from '../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { cronKey, keysOf, queueKey } from '../../../src/folder-store/folder-snapshot.ts'
import type { FolderChange, Refusals } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import type { FolderStore } from '../../../src/folder-store/folder-store.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'
import { editCron, editQueue, removeQueue } from './folder-writes.ts'

/** An editor's file counts when it has been still for so long. */
const STILL_MS = 250

let folder: string
const clock = createHandClock()
let stores: FolderStore[]
let changes: FolderChange[]
/** Keys of what there is no room for. */
let refused: ReadonlySet<string>
const noRoom = new StorageFullError()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-folder-'))
  stores = []
  changes = []
  refused = new Set()
})

afterEach(async () => {
  for (const store of stores) await store.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function open(): Promise<FolderStore> {
  const store = await openFolderStore({
    folder,
    team: 'default',
    statePath: null,
    auditLog: new FakeAuditLog(),
    logger: quietLogger,
    clock,
  })
  stores.push(store)
  return store
}

async function take(change: FolderChange): Promise<Refusals> {
  changes.push(change)
  return new Map(keysOf(change).flatMap((key) => (refused.has(key) ? [[key, noRoom]] : [])))
}

async function start(): Promise<FolderStore> {
  const store = await open()
  await store.start(take)
  changes = []
  return store
}

async function settled(store: FolderStore): Promise<void> {
  await store.sync()
  clock.advance(STILL_MS)
  await store.sync()
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const queue = (name: string, spec = '{}') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: ${name} }\nspec: ${spec}\n`
const edit = (name: string, change: Partial<QueueSettings>) => ({
  team: 'default',
  name,
  change,
  current: DEFAULT_QUEUE_SETTINGS,
})

describe('an edit', () => {
  it('that there is no room for leaves no file, and stays out when there is room again', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    const files = readdirSync(folder)
    const cron = { team: 'default', name: 'daily' }
    refused = new Set([cronKey(cron), queueKey({ team: 'default', name: 'new' })])
    const make = editCron(store, { ...cron, change: {}, current: cronSettings() })
    await expect(make).rejects.toBe(noRoom)
    await expect(editQueue(store, edit('new', { timeoutSeconds: 6 }))).rejects.toBe(noRoom)
    expect(readdirSync(folder)).toEqual(files)
    refused = new Set()
    await store.sync()
    expect(store.snapshot()).toMatchObject({ queues: [{ name: 'a' }], crons: [] })
    expect(changes.at(-1)).toMatchObject({ crons: [], queues: [], removedQueues: [{ name: 'new' }] })
    expect(changes.flatMap(({ removedCrons }) => removedCrons)).toEqual([cron])
  })

  it('of one thing is not held up by another that there is no room for', async () => {
    write('a.yaml', queue('a'))
    write('b.yaml', queue('b'))
    const store = await start()
    write('c.yaml', queue('c'))
    refused = new Set([queueKey({ team: 'default', name: 'c' })])
    await settled(store)
    expect(await editQueue(store, edit('a', { timeoutSeconds: 6 }))).toMatchObject({ status: 'edited' })
    expect(await removeQueue(store, { team: 'default', name: 'b' })).toEqual({ status: 'removed' })
    expect(changes.at(-1)).toMatchObject({ queues: [{ name: 'c' }], removedQueues: [{ name: 'b' }] })
    refused = new Set()
    changes = []
    await store.sync()
    await store.sync()
    // It alone is told again, and once.
    expect(changes.map(keysOf)).toEqual([[queueKey({ team: 'default', name: 'c' })]])
  })

  it('does not take back what somebody else has written meanwhile', async () => {
    write('a.yaml', queue('a'))
    const store = await open()
    let other = ''
    await store.start(async (change) => {
      if (other !== '') write('a.yaml', other)
      return take(change)
    })
    other = queue('a', '{ timeoutSeconds: 77 }')
    refused = new Set([queueKey({ team: 'default', name: 'a' })])
    await expect(editQueue(store, edit('a', { timeoutSeconds: 6 }))).rejects.toBe(noRoom)
    expect(read('a.yaml')).toBe(other)
  })
})
