import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  edit,
  here,
  open,
  problems,
  queue,
  settled,
  start,
  take,
  timeouts,
  useFolder,
  write,
} from './folder-fixture.ts'
import { editQueue } from './folder-writes.ts'

useFolder()

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
    expect(here.changes).toHaveLength(1)
    expect(here.changes[0]?.queues.map((one) => one.name)).toEqual(['a', 'b', 'c', 'd'])
    expect(here.changes[0]?.snapshot).toEqual(store.snapshot())
    expect(store.problems()).toEqual([])
  })

  it('tells also that there is nothing', async () => {
    const store = await open()
    await store.start(take)
    expect(here.changes).toMatchObject([{ queues: [], removedQueues: [], teams: [] }])
  })

  it('fails as the listener does', async () => {
    here.fault = new Error('no Redis')
    await expect((await open()).start(take)).rejects.toThrow('no Redis')
  })

  it('makes the folder when it is missing', async () => {
    here.folder = join(here.base, 'deep', 'resources')
    await start()
    expect(existsSync(here.folder)).toBe(true)
  })

  it.each(['file', 'file/below'])('refuses a folder that cannot be: %s', async (name) => {
    writeFileSync(join(here.base, 'file'), '')
    here.folder = join(here.base, name)
    await expect(open()).rejects.toThrow(/^The manifest folder .*file.* cannot be used .*PUNCTUAL_RESOURCES/)
  })

  it('clears drafts that a killed process left', async () => {
    write('.a.yaml.0123456789abcdef.draft', 'half')
    await start()
    expect(readdirSync(here.folder)).toEqual(['.punctual-store'])
  })
})

describe('the store id', () => {
  it('is made once and lies in the folder', async () => {
    const { storeId } = await open()
    expect(storeId).toMatch(/^[0-9a-f]{32}$/)
    expect((await open()).storeId).toBe(storeId)
    here.folder = join(here.base, 'other')
    expect((await open()).storeId).not.toBe(storeId)
  })

  it('that is spoilt is refused', async () => {
    write('.punctual-store', 'what')
    await expect(open()).rejects.toThrow(/\.punctual-store does not hold a store id/)
  })

  it('that is gone, or another, stops every change: never a mass delete', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    const elsewhere = join(here.base, 'elsewhere')
    renameSync(here.folder, elsewhere)
    mkdirSync(here.folder)
    await settled(store, 10_000)
    expect(store.problems()).toMatchObject([{ code: 'FolderNotUsable' }])
    expect(timeouts(store)).toEqual({ a: 30 })
    write('.punctual-store', 'f'.repeat(32))
    await settled(store, 10_000)
    expect(timeouts(store)).toEqual({ a: 30 })
    rmSync(here.folder, { recursive: true })
    await settled(store, 10_000)
    expect(store.problems()).toMatchObject([{ code: 'FolderNotUsable' }])
    expect(await editQueue(store, edit('a', { timeoutSeconds: 1 }))).toMatchObject({ status: 'refused' })
    renameSync(elsewhere, here.folder)
    await settled(store)
    expect(store.problems()).toEqual([])
    expect(here.changes).toEqual([])
  })
})

describe('a change of a file', () => {
  it('is told when the file has been still', async () => {
    write('a.yaml', queue('a') + '---\n' + queue('b'))
    const store = await start()
    write('a.yaml', queue('a', '{ timeoutSeconds: 9 }') + '---\n' + queue('b'))
    await store.sync()
    expect(here.changes).toEqual([])
    here.clock.advance(250)
    await store.sync()
    expect(here.changes).toMatchObject([
      { queues: [{ name: 'a', settings: { timeoutSeconds: 9 } }], removedQueues: [] },
    ])
  })

  it('of the same length within one tick of the clock is seen', async () => {
    write('a.yaml', queue('a', '{ timeoutSeconds: 1 }'))
    const store = await start()
    const { atime, mtime } = statSync(join(here.folder, 'a.yaml'))
    write('a.yaml', queue('a', '{ timeoutSeconds: 2 }'))
    utimesSync(join(here.folder, 'a.yaml'), atime, mtime)
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
    writeFileSync(join(here.folder, 'a.yaml'), content)
    await settled(store, 60_000)
    await settled(store, 60_000)
    expect(timeouts(store)).toEqual({ a: 7 })
    expect(here.changes).toEqual([])
    expect(problems(store).length).toBeGreaterThan(0)
    expect(problems(store).every((text) => text.startsWith('a.yaml'))).toBe(true)
    expect(here.logged).toEqual(problems(store))
    write('a.yaml', queue('a', '{ timeoutSeconds: 8 }'))
    await settled(store)
    expect(timeouts(store)).toEqual({ a: 8 })
    expect(problems(store)).toEqual([])
  })

  it('into a pipe or a broken link is no reason to wait or to delete at once', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(here.folder, 'a.yaml'))
    execFileSync('mkfifo', [join(here.folder, 'a.yaml')])
    await settled(store, 10_000)
    expect(problems(store)).toEqual([expect.stringContaining('is not a regular file')])
    rmSync(join(here.folder, 'a.yaml'))
    symlinkSync('nowhere', join(here.folder, 'a.yaml'))
    await settled(store, 1999)
    expect(timeouts(store)).toEqual({ a: 30 })
  })

  it('that the listener does not take is told again until it is', async () => {
    const store = await start()
    write('a.yaml', queue('a'))
    await store.sync()
    here.clock.advance(250)
    here.fault = new Error('no Redis')
    await expect(store.sync()).rejects.toThrow('no Redis')
    await expect(store.sync()).rejects.toThrow('no Redis')
    here.fault = null
    await store.sync()
    await store.sync()
    expect(here.changes).toMatchObject([{ queues: [{ name: 'a' }] }])
  })

  it('that was not taken and is undone meanwhile is undone for the listener, too', async () => {
    const store = await start()
    write('a.yaml', queue('a'))
    await store.sync()
    here.clock.advance(250)
    here.fault = new Error('broke off half-way')
    await expect(store.sync()).rejects.toThrow('broke off')
    rmSync(join(here.folder, 'a.yaml'))
    await expect(store.sync()).rejects.toThrow('broke off')
    here.clock.advance(2000)
    await expect(store.sync()).rejects.toThrow('broke off')
    here.fault = null
    await store.sync()
    expect(here.changes).toMatchObject([{ queues: [], removedQueues: [{ team: 'default', name: 'a' }] }])
  })
})

describe('deletion', () => {
  it('is told after two seconds of absence, not before', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(here.folder, 'a.yaml'))
    await settled(store, 1999)
    expect(here.changes).toEqual([])
    here.clock.advance(1)
    await store.sync()
    expect(here.changes).toMatchObject([{ removedQueues: [{ team: 'default', name: 'a' }] }])
    expect(store.snapshot().queues).toEqual([])
  })

  it('is not told of a file that comes back', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    rmSync(join(here.folder, 'a.yaml'))
    await settled(store, 1500)
    write('a.yaml', queue('a'))
    await settled(store, 1500)
    expect(here.changes).toEqual([])
  })

  it('is not told of a file that is renamed', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    renameSync(join(here.folder, 'a.yaml'), join(here.folder, 'b.yaml'))
    await settled(store)
    await settled(store, 5000)
    expect(here.changes).toEqual([])
    expect(timeouts(store)).toEqual({ a: 30 })
    expect(problems(store)).toEqual([])
  })

  it('while the program is down is told at the next start, after two seconds', async () => {
    write('a.yaml', queue('a'))
    write('b.yaml', queue('b'))
    await (await start()).stop()
    rmSync(join(here.folder, 'a.yaml'))
    const store = await open()
    const started = store.start(take)
    expect(await here.clock.waiting()).toBe(2000)
    here.clock.advance(2000)
    await started
    expect(here.changes).toMatchObject([
      { queues: [{ name: 'b' }], removedQueues: [{ team: 'default', name: 'a' }] },
    ])
  })

  it('is not told at all when nothing is known of an earlier start', async () => {
    write('a.yaml', queue('a'))
    await (await start()).stop()
    rmSync(join(here.folder, 'a.yaml'))
    writeFileSync(join(here.base, 'state.json'), '{"torn')
    await (await open()).start(take)
    expect(here.changes).toMatchObject([{ removedQueues: [] }])
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
    here.clock.advance(250)
    expect(problems(store)).toEqual(['a.yaml: has no resource: it is empty, or has only comments.'])
  })

  it('the older of two files stays the older one though it was written anew', async () => {
    write('old.yaml', queue('old', '{ queueName: mail, timeoutSeconds: 1 }'))
    // A file clock ticks in steps of milliseconds, so two files written at once may be of one age.
    const aMinuteAgo = new Date(Date.now() - 60_000)
    utimesSync(join(here.folder, 'old.yaml'), aMinuteAgo, aMinuteAgo)
    const first = await start()
    write('new.yaml', queue('new', '{ queueName: mail, timeoutSeconds: 2 }'))
    await settled(first)
    expect(await editQueue(first, edit('mail', { timeoutSeconds: 3 }))).toMatchObject({ status: 'edited' })
    await first.stop()
    const store = await start()
    expect(timeouts(store)).toEqual({ mail: 3 })
    expect(store.problems()).toMatchObject([{ code: 'NameTaken', file: 'new.yaml' }])
  })

  it('what is kept is for this user only: it may hold secrets', async () => {
    write('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { a: topsecret }\n')
    await start()
    expect(statSync(join(here.base, 'state.json')).mode & 0o777).toBe(0o600)
  })
})
