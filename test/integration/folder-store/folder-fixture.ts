import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { type FolderChange, NO_REFUSALS, type Refusals } from '../../../src/folder-store/folder-snapshot.ts'
import { type FolderStore, openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { problemText } from '../../../src/resources/resource.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'

/** A folder made for each test, and what its stores apply and log. */
export const here = {
  base: '',
  folder: '',
  changes: [] as FolderChange[],
  logged: [] as string[],
  /** What was applied, and why what could not be. */
  applied: [] as string[],
  errors: [] as string[],
  auditLog: new FakeAuditLog(),
  clock: createHandClock(),
  /** What `take` rejects with; null = it accepts changes. */
  fault: null as Error | null,
}

let stores: FolderStore[] = []

export function useFolder(): void {
  beforeEach(() => {
    const base = mkdtempSync(join(tmpdir(), 'punctual-folder-'))
    const folder = join(base, 'resources')
    mkdirSync(folder)
    const fresh = {
      changes: [],
      logged: [],
      applied: [],
      errors: [],
      auditLog: new FakeAuditLog(),
      clock: createHandClock(),
      fault: null,
    }
    Object.assign(here, { base, folder, ...fresh })
    stores = []
  })
  afterEach(async () => {
    for (const store of stores) await store.stop()
    rmSync(here.base, { recursive: true, force: true })
  })
}

export async function open(): Promise<FolderStore> {
  const store = await openFolderStore({
    folder: here.folder,
    team: 'default',
    statePath: join(here.base, 'state.json'),
    logger: {
      ...quietLogger,
      warn: (_message, fields) => void here.logged.push(String(fields?.['problem'])),
      info: (_message, fields) => void here.applied.push(String(fields?.['what'])),
      error: (_message, fields) => void here.errors.push(String(fields?.['reason'])),
    },
    auditLog: here.auditLog,
    clock: here.clock,
  })
  stores.push(store)
  return store
}

export async function take(change: FolderChange): Promise<Refusals> {
  if (here.fault !== null) throw here.fault
  here.changes.push(change)
  return NO_REFUSALS
}

export async function start(): Promise<FolderStore> {
  const store = await open()
  await store.start(take)
  here.changes = []
  return store
}

/** Syncs now, and again when what was found has settled. */
export async function settled(store: FolderStore, ms = 250): Promise<void> {
  await store.sync()
  here.clock.advance(ms)
  await store.sync()
}

export const write = (name: string, text: string) => writeFileSync(join(here.folder, name), text)
export const read = (name: string) => readFileSync(join(here.folder, name), 'utf8')
export const queue = (name: string, spec = '{}') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: ${name} }\nspec: ${spec}\n`
export const timeouts = (store: FolderStore) =>
  Object.fromEntries(store.snapshot().queues.map((one) => [one.name, one.settings.timeoutSeconds]))
export const problems = (store: FolderStore) => store.problems().map(problemText)
export const edit = (name: string, change: object) => ({
  team: 'default',
  name,
  change,
  current: DEFAULT_QUEUE_SETTINGS,
})
