import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { NO_REFUSALS } from '../../../src/folder-store/folder-snapshot.ts'
import type { FolderChange, Refusals } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import type { FolderStore } from '../../../src/folder-store/folder-store.ts'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { problemText } from '../../../src/resources/resource.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'
import type { HandClock } from './hand-clock.ts'

let base: string
let folder: string
let clock: HandClock
let stores: FolderStore[]
let changes: FolderChange[]
/** What changes are answered with; null = they are taken. */
let fault: Error | null
let logged: string[]

const logger = {
  ...quietLogger,
  warn: (_message: string, fields?: Record<string, unknown>) => void logged.push(String(fields?.problem)),
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'punctual-folder-'))
  folder = join(base, 'resources')
  mkdirSync(folder)
  clock = createHandClock()
  stores = []
  changes = []
  fault = null
  logged = []
})

afterEach(async () => {
  for (const store of stores) await store.stop()
  rmSync(base, { recursive: true, force: true })
})

async function open(): Promise<FolderStore> {
  const store = await openFolderStore({
    folder,
    team: 'default',
    statePath: join(base, 'state.json'),
    logger,
    clock,
  })
  stores.push(store)
  return store
}

async function take(change: FolderChange): Promise<Refusals> {
  if (fault !== null) throw fault
  changes.push(change)
  return NO_REFUSALS
}

async function start(): Promise<FolderStore> {
  const store = await open()
  await store.start(take)
  changes = []
  return store
}

/** Sees what lies there now, and again when it has settled. */
async function settled(store: FolderStore, ms = 250): Promise<void> {
  await store.sync()
  clock.advance(ms)
  await store.sync()
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const queue = (name: string, spec = '{}') =>
  `apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: ${name} }\nspec: ${spec}\n`
const timeouts = (store: FolderStore) =>
  Object.fromEntries(store.snapshot().queues.map((one) => [one.name, one.settings.timeoutSeconds]))
const problems = (store: FolderStore) => store.problems().map(problemText)

describe('the start', () => {
  it('tells all there is, once', async () => {
    write('a.yaml', `${queue('a')}---\n${queue('b', '{ timeoutSeconds: 5 }')}`)
    write('c.yml', queue('c'))
    write(
      'd.json',
      JSON.stringify({
        apiVersion: 'punctual.dev/v1alpha1',
        kind: 'HttpQueue',
        metadata: { name: 'd' },
        spec: {},
      }),
    )
    write('notes.txt', 'not a manifest')
    write('.hidden.yaml', queue('hidden'))
    const store = await open()
    await store.start(take)
    expect(changes).toHaveLength(1)
    expect(changes[0]?.queues.map((one) => one.name)).toEqual(['a', 'b', 'c', 'd'])
    expect(changes[0]?.snapshot).toEqual(store.snapshot())
    expect(store.problems()).toEqual([])
  })

  it('tells also that there is nothing', async () => {
    const store = await open()
    await store.start(take)
    expect(changes).toMatchObject([{ queues: [], removedQueues: [], teams: [] }])
  })

  it('fails as the listener does', async () => {
    fault = new Error('no Redis')
    await expect((await open()).start(take)).rejects.toThrow('no Redis')
  })

  it('makes the folder when it is missing', async () => {
    folder = join(base, 'deep', 'resources')
    await start()
    expect(existsSync(folder)).toBe(true)
  })

  it.each(['file', 'file/below'])('refuses a folder that cannot be: %s', async (name) => {
    writeFileSync(join(base, 'file'), '')
    folder = join(base, name)
    await expect(open()).rejects.toThrow(/^The manifest folder .*file.* cannot be used .*PUNCTUAL_MANIFESTS/)
  })

  it('clears drafts that a killed process left', async () => {
    write('.a.yaml.0123456789abcdef.draft', 'half')
    await start()
    expect(readdirSync(folder)).toEqual(['.punctual-store'])
  })
})

describe('the store id', () => {
  it('is made once and lies in the folder', async () => {
    const { storeId } = await open()
    expect(storeId).toMatch(/^[0-9a-f]{32}$/)
    expect((await open()).storeId).toBe(storeId)
    folder = join(base, 'other')
    expect((await open()).storeId).not.toBe(storeId)
  })

  it('that is spoilt is refused', async () => {
    write('.punctual-store', 'what')
    await expect(open()).rejects.toThrow(/\.punctual-store does not hold a store id/)
  })

  it('that is gone, or another, stops every change: never a mass delete', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    const elsewhere = join(base, 'elsewhere')
    renameSync(folder, elsewhere)
    mkdirSync(folder)
    await settled(store, 10_000)
    expect(store.problems()).toMatchObject([{ code: 'FolderNotUsable' }])
    expect(timeouts(store)).toEqual({ a: 30 })
    write('.punctual-store', 'f'.repeat(32))
    await settled(store, 10_000)
    expect(timeouts(store)).toEqual({ a: 30 })
    rmSync(folder, { recursive: true })
    await settled(store, 10_000)
    expect(store.problems()).toMatchObject([{ code: 'FolderNotUsable' }])
    expect(await store.editQueue(edit('a', { timeoutSeconds: 1 }))).toMatchObject({ status: 'refused' })
    renameSync(elsewhere, folder)
    await settled(store)
    expect(store.problems()).toEqual([])
    expect(changes).toEqual([])
  })
})

describe('a change of a file', () => {
  it('is told when the file has been still', async () => {
    write('a.yaml', queue('a') + '---\n' + queue('b'))
    const store = await start()
    write('a.yaml', queue('a', '{ timeoutSeconds: 9 }') + '---\n' + queue('b'))
    await store.sync()
    expect(changes).toEqual([])
    clock.advance(250)
    await store.sync()
    expect(changes).toMatchObject([
      { queues: [{ name: 'a', settings: { timeoutSeconds: 9 } }], removedQueues: [] },
    ])
  })

  it('of the same length within one tick of the clock is seen', async () => {
    write('a.yaml', queue('a', '{ timeoutSeconds: 1 }'))
    const store = await start()
    const { atime, mtime } = statSync(join(folder, 'a.yaml'))
    write('a.yaml', queue('a', '{ timeoutSeconds: 2 }'))
    utimesSync(join(folder, 'a.yaml'), atime, mtime)
    await settled(store)
    expect(timeouts(store)).toEqual({ a: 2 })
  })

  it.each([
    ['emptied', ''],
    ['half-written', queue('a').slice(0, 40)],
    ['invalid', queue('a', '{ timeoutSeconds: 0 }')],
    ['not text', Buffer.from([0xff, 0xfe, 0x00])],
    ['too large', `# ${'x'.repeat(1024 * 1024)}\n${queue('a', '{ timeoutSeconds: 1 }')}`],
  ])('that leaves it %s leaves the last good version in force', async (_name, content) => {
    write('a.yaml', queue('a', '{ timeoutSeconds: 7 }'))
    const store = await start()
    writeFileSync(join(folder, 'a.yaml'), content)
    await settled(store, 60_000)
    await settled(store, 60_000)
    expect(timeouts(store)).toEqual({ a: 7 })
    expect(changes).toEqual([])
    expect(problems(store).length).toBeGreaterThan(0)
    expect(problems(store).every((text) => text.startsWith('a.yaml'))).toBe(true)
    expect(logged).toEqual(problems(store))
    write('a.yaml', queue('a', '{ timeoutSeconds: 8 }'))
    await settled(store)
    expect(timeouts(store)).toEqual({ a: 8 })
    expect(problems(store)).toEqual([])
  })

  it('into a pipe or a broken link is no reason to wait or to delete at once', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(folder, 'a.yaml'))
    execFileSync('mkfifo', [join(folder, 'a.yaml')])
    await settled(store, 10_000)
    expect(problems(store)).toEqual([expect.stringContaining('is not a regular file')])
    rmSync(join(folder, 'a.yaml'))
    symlinkSync('nowhere', join(folder, 'a.yaml'))
    await settled(store, 1999)
    expect(timeouts(store)).toEqual({ a: 30 })
  })

  it('that the listener does not take is told again until it is', async () => {
    const store = await start()
    write('a.yaml', queue('a'))
    await store.sync()
    clock.advance(250)
    fault = new Error('no Redis')
    await expect(store.sync()).rejects.toThrow('no Redis')
    await expect(store.sync()).rejects.toThrow('no Redis')
    fault = null
    await store.sync()
    await store.sync()
    expect(changes).toMatchObject([{ queues: [{ name: 'a' }] }])
  })

  it('that was not taken and is undone meanwhile is undone for the listener, too', async () => {
    const store = await start()
    write('a.yaml', queue('a'))
    await store.sync()
    clock.advance(250)
    fault = new Error('broke off half-way')
    await expect(store.sync()).rejects.toThrow('broke off')
    rmSync(join(folder, 'a.yaml'))
    await expect(store.sync()).rejects.toThrow('broke off')
    clock.advance(2000)
    await expect(store.sync()).rejects.toThrow('broke off')
    fault = null
    await store.sync()
    expect(changes).toMatchObject([{ queues: [], removedQueues: [{ team: 'default', name: 'a' }] }])
  })
})

describe('deletion', () => {
  it('is told after two seconds of absence, not before', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(folder, 'a.yaml'))
    await settled(store, 1999)
    expect(changes).toEqual([])
    clock.advance(1)
    await store.sync()
    expect(changes).toMatchObject([{ removedQueues: [{ team: 'default', name: 'a' }] }])
    expect(store.snapshot().queues).toEqual([])
  })

  it('is not told of a file that comes back', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(folder, 'a.yaml'))
    await settled(store, 1500)
    write('a.yaml', queue('a'))
    await settled(store, 1500)
    expect(changes).toEqual([])
  })

  it('is not told of a file that is renamed', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'))
    await settled(store)
    await settled(store, 5000)
    expect(changes).toEqual([])
    expect(timeouts(store)).toEqual({ a: 30 })
    expect(problems(store)).toEqual([])
  })

  it('while the program is down is told at the next start, after two seconds', async () => {
    write('a.yaml', queue('a'))
    write('b.yaml', queue('b'))
    await (await start()).stop()
    rmSync(join(folder, 'a.yaml'))
    const store = await open()
    const started = store.start(take)
    expect(await clock.waiting()).toBe(2000)
    clock.advance(2000)
    await started
    expect(changes).toMatchObject([
      { queues: [{ name: 'b' }], removedQueues: [{ team: 'default', name: 'a' }] },
    ])
  })

  it('is not told at all when nothing is known of an earlier start', async () => {
    write('a.yaml', queue('a'))
    await (await start()).stop()
    rmSync(join(folder, 'a.yaml'))
    writeFileSync(join(base, 'state.json'), '{"torn')
    await (await open()).start(take)
    expect(changes).toMatchObject([{ removedQueues: [] }])
  })
})

describe('from one start to the next', () => {
  it('a file spoilt while the program is down keeps its last good version', async () => {
    write('a.yaml', queue('a', '{ timeoutSeconds: 7 }'))
    await (await start()).stop()
    write('a.yaml', '')
    const store = await open()
    await store.start(take)
    expect(timeouts(store)).toEqual({ a: 7 })
    clock.advance(250)
    expect(problems(store)).toEqual(['a.yaml: has no resource: it is empty, or has only comments.'])
  })

  it('the older of two files stays the older one though it was written anew', async () => {
    write('old.yaml', queue('old', '{ queueName: mail, timeoutSeconds: 1 }'))
    const first = await start()
    write('new.yaml', queue('new', '{ queueName: mail, timeoutSeconds: 2 }'))
    await settled(first)
    expect(await first.editQueue(edit('mail', { timeoutSeconds: 3 }))).toMatchObject({ status: 'edited' })
    await first.stop()
    const store = await start()
    expect(timeouts(store)).toEqual({ mail: 3 })
    expect(store.problems()).toMatchObject([{ code: 'NameTaken', file: 'new.yaml' }])
  })

  it('what is kept is for this user only: it may hold secrets', async () => {
    write('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { a: topsecret }\n')
    await start()
    expect(statSync(join(base, 'state.json')).mode & 0o777).toBe(0o600)
  })
})

function edit(name: string, change: object) {
  return { team: 'default', name, change, current: DEFAULT_QUEUE_SETTINGS }
}

describe('an edit', () => {
  it('changes the manifest in place, keeps its comments and is in force when it is answered', async () => {
    const text = `# mine\n${queue('b')}---\n${queue('a', '\n  timeoutSeconds: 5 # short\n')}`
    write('a.yaml', text)
    chmodSync(join(folder, 'a.yaml'), 0o640)
    const store = await start()
    expect(await store.editQueue(edit('a', { timeoutSeconds: 6, isActive: false }))).toEqual({
      status: 'edited',
      settings: { ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds: 6, isActive: false },
    })
    expect(changes).toMatchObject([
      { queues: [{ name: 'a', settings: { timeoutSeconds: 6, isActive: false } }] },
    ])
    expect(read('a.yaml')).toContain('# mine\n')
    expect(read('a.yaml')).toContain('timeoutSeconds: 6 # short\n  active: false\n')
    expect(statSync(join(folder, 'a.yaml')).mode & 0o777).toBe(0o640)
    await settled(store, 5000)
    expect(changes).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual(['.punctual-store', 'a.yaml'])
  })

  it('of a pushed queue writes its first manifest', async () => {
    const store = await start()
    const current = { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: 3 }
    const result = await store.editQueue({ ...edit('Mails: out', { timeoutSeconds: 6 }), current })
    expect(result).toEqual({ status: 'edited', settings: { ...current, timeoutSeconds: 6 } })
    expect(read(`${nameOfPushedQueue('Mails: out')}.yaml`)).toContain('queueName: "Mails: out"\n')
    expect(store.snapshot().queues).toEqual([
      { team: 'default', name: 'Mails: out', settings: { ...current, timeoutSeconds: 6 } },
    ])
    expect(await store.editQueue({ ...edit('Mails: out', {}), team: 'other' })).toMatchObject({
      status: 'edited',
    })
    expect(read(`other_${nameOfPushedQueue('Mails: out')}.yaml`)).toContain('namespace: other\n')
  })

  it('goes through a link to the file behind it', async () => {
    writeFileSync(join(base, 'real.yaml'), queue('a'))
    symlinkSync(join(base, 'real.yaml'), join(folder, 'a.yaml'))
    const store = await start()
    await store.editQueue(edit('a', { timeoutSeconds: 6 }))
    expect(readFileSync(join(base, 'real.yaml'), 'utf8')).toContain('timeoutSeconds: 6')
    expect(timeouts(store)).toEqual({ a: 6 })
  })

  it('is refused while the file is not valid, and does not touch it', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    write('a.yaml', '# being written')
    expect(await store.editQueue(edit('a', { timeoutSeconds: 6 }))).toEqual({
      status: 'refused',
      reason: 'a.yaml is being changed or is not valid: fix the file first.',
    })
    expect(await store.removeQueue({ team: 'default', name: 'a' })).toMatchObject({ status: 'refused' })
    expect(read('a.yaml')).toBe('# being written')
    const taken = `${nameOfPushedQueue('b')}.yaml`
    write(taken, '# somebody wrote here')
    expect(await store.editQueue(edit('b', { timeoutSeconds: 6 }))).toMatchObject({ status: 'refused' })
    expect(read(taken)).toBe('# somebody wrote here')
  })

  it('is refused where it would change something else as well', async () => {
    const text = queue('a', '\n  maxParallelism: &n 4\n  timeoutSeconds: *n')
    write('a.yaml', text)
    const store = await start()
    expect(await store.editQueue(edit('a', { maxParallelism: 6 }))).toMatchObject({
      status: 'refused',
      reason: 'a.yaml is written in a way that the API cannot edit: change the file itself.',
    })
    expect(read('a.yaml')).toBe(text)
  })

  it('is refused with the reason when the file cannot be written', async () => {
    const store = await start()
    const name = 'x'.repeat(40)
    mkdirSync(join(folder, `${nameOfPushedQueue(name)}.yaml`))
    expect(await store.editQueue(edit(name, { timeoutSeconds: 6 }))).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('cannot be written') as string,
    })
  })

  it('that breaks off leaves the file as it was, and what may be in force is undone', async () => {
    write('a.yaml', queue('a'))
    const text = read('a.yaml')
    const store = await start()
    fault = new Error('no Redis')
    await expect(store.editQueue(edit('a', { timeoutSeconds: 6 }))).rejects.toThrow('no Redis')
    expect(read('a.yaml')).toBe(text)
    fault = null
    await store.sync()
    expect(changes).toMatchObject([{ queues: [{ settings: { timeoutSeconds: 30 } }] }])
  })

  it('waits for its turn: of a hundred at once none is lost', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    const fields = ['timeoutSeconds', 'maxParallelism'] as const
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        store.editQueue(edit('a', { [fields[index % 2] ?? 'timeoutSeconds']: 100 + index })),
      ),
    )
    expect(store.snapshot().queues).toMatchObject([
      { settings: { timeoutSeconds: 198, maxParallelism: 199 } },
    ])
    expect(read('a.yaml')).toContain('timeoutSeconds: 198')
  })
})

describe('removal of a queue', () => {
  it('removes its file and is told at once', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    expect(await store.removeQueue({ team: 'default', name: 'a' })).toEqual({ status: 'removed' })
    expect(changes).toMatchObject([{ removedQueues: [{ team: 'default', name: 'a' }] }])
    expect(readdirSync(folder)).toEqual(['.punctual-store'])
    expect(await store.removeQueue({ team: 'default', name: 'a' })).toEqual({ status: 'not_found' })
    await settled(store, 5000)
    expect(changes).toHaveLength(1)
  })

  it('takes one document out and leaves the others', async () => {
    write('a.yaml', `# a\n${queue('a')}---\n# b\n${queue('b')}`)
    const store = await start()
    await store.removeQueue({ team: 'default', name: 'a' })
    expect(read('a.yaml')).toContain('# b\n')
    expect(timeouts(store)).toEqual({ b: 30 })
  })

  it('takes those with it whose name was taken, so that none comes to life', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    write('b.yaml', queue('b', '{ queueName: a }'))
    await settled(store)
    await store.removeQueue({ team: 'default', name: 'a' })
    expect(store.snapshot().queues).toEqual([])
    expect(readdirSync(folder)).toEqual(['.punctual-store'])
  })
})

describe('a cron', () => {
  const daily = { team: 'default', name: 'daily-0a1b2c3d' }
  const cron = (name: string, spec = '{ url: "https://a.test", cronExpression: 0 8 * * * }') =>
    `apiVersion: punctual.dev/v1alpha1\nkind: HttpCron\nmetadata: { name: ${name} }\nspec: ${spec}\n`
  const current = cronSettings({ displayName: 'Daily', headers: { 'X-A': '1' } })

  it('made by the API gets a manifest and is in force when that is answered', async () => {
    const store = await start()
    expect(await store.editCron({ ...daily, change: {}, current })).toEqual({
      status: 'edited',
      settings: current,
    })
    expect(changes).toMatchObject([{ crons: [{ ...daily, settings: current }], queues: [] }])
    expect(read('daily-0a1b2c3d.yaml')).toBe(
      [
        'apiVersion: punctual.dev/v1alpha1',
        'kind: HttpCron',
        'metadata:',
        '  name: daily-0a1b2c3d',
        'spec:',
        '  displayName: Daily',
        '  url: http://target.test/',
        '  cronExpression: "* * * * *"',
        '  headers:',
        '    - name: X-A',
        '      value: "1"',
        '',
      ].join('\n'),
    )
    expect(await store.editCron({ ...daily, team: 'other', change: {}, current })).toMatchObject({
      status: 'edited',
    })
    expect(read('other_daily-0a1b2c3d.yaml')).toContain('namespace: other\n')
  })

  it('is changed in place; what is taken away is told as such', async () => {
    const spec = '\n  url: "https://a.test" # mine\n  cronExpression: 0 8 * * *\n  queue: mail # slow\n'
    write('a.yaml', `${cron('daily-0a1b2c3d', spec)}---\n${queue('a')}`)
    const store = await start()
    const change = { queue: null, timeZone: 'Europe/Berlin', isActive: false }
    expect(await store.editCron({ ...daily, change, current })).toMatchObject({
      status: 'edited',
      settings: { ...change, url: 'https://a.test' },
    })
    expect(changes).toMatchObject([{ crons: [{ ...daily, settings: change }], queues: [] }])
    expect(read('a.yaml')).toContain('url: "https://a.test" # mine\n')
    expect(read('a.yaml')).toContain('queue: null # slow\n  timeZone: Europe/Berlin\n  active: false\n')
  })

  it('is removed with those whose name was taken', async () => {
    write('a.yaml', cron('daily-0a1b2c3d'))
    const store = await start()
    write('b.yaml', `${cron('daily-0a1b2c3d')}---\n${queue('b')}`)
    await settled(store)
    changes = []
    expect(await store.removeCron(daily)).toEqual({ status: 'removed' })
    expect(changes).toMatchObject([{ removedCrons: [daily], removedQueues: [] }])
    expect(readdirSync(folder).sort()).toEqual(['.punctual-store', 'b.yaml'])
    expect(await store.removeCron(daily)).toEqual({ status: 'not_found' })
  })

  it('that never comes is a problem of its file, in the words of the API', async () => {
    write(
      'a.yaml',
      cron('daily', '{ url: "https://a.test", cronExpression: 0 0 31 2 *, timeZone: Mars/Base }'),
    )
    const store = await start()
    clock.advance(250)
    expect(problems(store)).toEqual([
      'a.yaml, document 1, line 4, spec.cronExpression: never comes: none of its months has a day 31.',
      'a.yaml, document 1, line 4, spec.timeZone: must be the IANA name of a time zone, such as Europe/Berlin or UTC; "Mars/Base" is none.',
    ])
    expect(store.snapshot().crons).toEqual([])
  })
})
