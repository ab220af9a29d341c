import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { nameOfPushedQueue } from '../../../../src/resources/manifests/queue-manifest.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import {
  edit,
  here,
  problems,
  queue,
  read,
  settled,
  start,
  timeouts,
  useFolder,
  write,
} from '../folder-fixture.ts'
import { editCron, editQueue, removeCron, removeQueue } from '../folder-writes.ts'

useFolder()

describe('an edit', () => {
  it('changes the manifest in place, keeps its comments and is in force when it is answered', async () => {
    const text = `# mine\n${queue('b')}---\n${queue('a', '\n  timeoutSeconds: 5 # short\n')}`
    write('a.yaml', text)
    chmodSync(join(here.folder, 'a.yaml'), 0o640)
    const store = await start()
    expect(await editQueue(store, edit('a', { timeoutSeconds: 6, isActive: false }))).toEqual({
      status: 'edited',
      settings: { ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds: 6, isActive: false },
    })
    expect(here.changes).toMatchObject([
      { queues: [{ name: 'a', settings: { timeoutSeconds: 6, isActive: false } }] },
    ])
    expect(read('a.yaml')).toContain('# mine\n')
    expect(read('a.yaml')).toContain('timeoutSeconds: 6 # short\n  active: false\n')
    expect(statSync(join(here.folder, 'a.yaml')).mode & 0o777).toBe(0o640)
    await settled(store, 5000)
    expect(here.changes).toHaveLength(1)
    expect(readdirSync(here.folder).sort()).toEqual(['.punctual-store', 'a.yaml'])
  })

  it('of a pushed queue writes its first manifest', async () => {
    const store = await start()
    const current = { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: 3 }
    const result = await editQueue(store, { ...edit('Mails: out', { timeoutSeconds: 6 }), current })
    expect(result).toEqual({ status: 'edited', settings: { ...current, timeoutSeconds: 6 } })
    expect(read(`${nameOfPushedQueue('Mails: out')}.yaml`)).toContain('queueName: "Mails: out"\n')
    expect(store.snapshot().queues).toEqual([
      { team: 'default', name: 'Mails: out', settings: { ...current, timeoutSeconds: 6 } },
    ])
    expect(await editQueue(store, { ...edit('Mails: out', {}), team: 'other' })).toMatchObject({
      status: 'edited',
    })
    expect(read(`other_${nameOfPushedQueue('Mails: out')}.yaml`)).toContain('namespace: other\n')
  })

  it('goes through a link to the file behind it', async () => {
    writeFileSync(join(here.base, 'real.yaml'), queue('a'))
    symlinkSync(join(here.base, 'real.yaml'), join(here.folder, 'a.yaml'))
    const store = await start()
    await editQueue(store, edit('a', { timeoutSeconds: 6 }))
    expect(readFileSync(join(here.base, 'real.yaml'), 'utf8')).toContain('timeoutSeconds: 6')
    expect(timeouts(store)).toEqual({ a: 6 })
  })

  it('is refused while the file is not valid, and does not touch it', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    write('a.yaml', '# being written')
    expect(await editQueue(store, edit('a', { timeoutSeconds: 6 }))).toEqual({
      status: 'refused',
      reason: 'a.yaml is being changed or is not valid: fix the file first.',
    })
    expect(await removeQueue(store, { team: 'default', name: 'a' })).toMatchObject({ status: 'refused' })
    expect(read('a.yaml')).toBe('# being written')
    const taken = `${nameOfPushedQueue('b')}.yaml`
    write(taken, '# somebody wrote here')
    expect(await editQueue(store, edit('b', { timeoutSeconds: 6 }))).toMatchObject({ status: 'refused' })
    expect(read(taken)).toBe('# somebody wrote here')
  })

  it('is refused where it would change something else as well', async () => {
    const text = queue('a', '\n  maxParallelism: &n 4\n  timeoutSeconds: *n')
    write('a.yaml', text)
    const store = await start()
    expect(await editQueue(store, edit('a', { maxParallelism: 6 }))).toMatchObject({
      status: 'refused',
      reason: 'a.yaml is written in a way that the API cannot edit: change the file itself.',
    })
    expect(read('a.yaml')).toBe(text)
  })

  it('is refused with the reason when the file cannot be written', async () => {
    const store = await start()
    const name = 'x'.repeat(40)
    mkdirSync(join(here.folder, `${nameOfPushedQueue(name)}.yaml`))
    expect(await editQueue(store, edit(name, { timeoutSeconds: 6 }))).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('cannot be written') as string,
    })
  })

  it('that breaks off leaves the file as it was, and what may be in force is undone', async () => {
    write('a.yaml', queue('a'))
    const text = read('a.yaml')
    const store = await start()
    here.fault = new Error('no Redis')
    await expect(editQueue(store, edit('a', { timeoutSeconds: 6 }))).rejects.toThrow('no Redis')
    expect(read('a.yaml')).toBe(text)
    here.fault = null
    await store.sync()
    expect(here.changes).toMatchObject([{ queues: [{ settings: { timeoutSeconds: 30 } }] }])
  })

  it('waits for its turn: of a hundred at once none is lost', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    const fields = ['timeoutSeconds', 'maxParallelism'] as const
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        editQueue(store, edit('a', { [fields[index % 2] ?? 'timeoutSeconds']: 100 + index })),
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
    expect(await removeQueue(store, { team: 'default', name: 'a' })).toEqual({ status: 'removed' })
    expect(here.changes).toMatchObject([{ removedQueues: [{ team: 'default', name: 'a' }] }])
    expect(readdirSync(here.folder)).toEqual(['.punctual-store'])
    expect(await removeQueue(store, { team: 'default', name: 'a' })).toEqual({ status: 'not_found' })
    await settled(store, 5000)
    expect(here.changes).toHaveLength(1)
  })

  it('takes one document out and leaves the others', async () => {
    write('a.yaml', `# a\n${queue('a')}---\n# b\n${queue('b')}`)
    const store = await start()
    await removeQueue(store, { team: 'default', name: 'a' })
    expect(read('a.yaml')).toContain('# b\n')
    expect(timeouts(store)).toEqual({ b: 30 })
  })

  it('takes those with it whose name was taken, so that none comes to life', async () => {
    write('a.yaml', queue('a'))
    const store = await start()
    write('b.yaml', queue('b', '{ queueName: a }'))
    await settled(store)
    await removeQueue(store, { team: 'default', name: 'a' })
    expect(store.snapshot().queues).toEqual([])
    expect(readdirSync(here.folder)).toEqual(['.punctual-store'])
  })
})

describe('a cron', () => {
  const daily = { team: 'default', name: 'daily-0a1b2c3d' }
  const cron = (name: string, spec = '{ url: "https://a.test", cronExpression: 0 8 * * * }') =>
    `apiVersion: punctual.dev/v1alpha1\nkind: HttpCron\nmetadata: { name: ${name} }\nspec: ${spec}\n`
  const current = cronSettings({ displayName: 'Daily', headers: { 'X-A': '1' } })

  it('made by the API gets a manifest and is in force when that is answered', async () => {
    const store = await start()
    expect(await editCron(store, { ...daily, change: {}, current })).toEqual({
      status: 'edited',
      settings: current,
    })
    expect(here.changes).toMatchObject([{ crons: [{ ...daily, settings: current }], queues: [] }])
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
    expect(await editCron(store, { ...daily, team: 'other', change: {}, current })).toMatchObject({
      status: 'edited',
    })
    expect(read('other_daily-0a1b2c3d.yaml')).toContain('namespace: other\n')
  })

  it('is changed in place; what is taken away is told as such', async () => {
    const spec = '\n  url: "https://a.test" # mine\n  cronExpression: 0 8 * * *\n  queue: mail # slow\n'
    write('a.yaml', `${cron('daily-0a1b2c3d', spec)}---\n${queue('a')}`)
    const store = await start()
    const change = { queue: null, timeZone: 'Europe/Berlin', isActive: false }
    expect(await editCron(store, { ...daily, change, current })).toMatchObject({
      status: 'edited',
      settings: { ...change, url: 'https://a.test' },
    })
    expect(here.changes).toMatchObject([{ crons: [{ ...daily, settings: change }], queues: [] }])
    expect(read('a.yaml')).toContain('url: "https://a.test" # mine\n')
    expect(read('a.yaml')).toContain('queue: null # slow\n  timeZone: Europe/Berlin\n  active: false\n')
  })

  it('is removed with those whose name was taken', async () => {
    write('a.yaml', cron('daily-0a1b2c3d'))
    const store = await start()
    write('b.yaml', `${cron('daily-0a1b2c3d')}---\n${queue('b')}`)
    await settled(store)
    here.changes = []
    expect(await removeCron(store, daily)).toEqual({ status: 'removed' })
    expect(here.changes).toMatchObject([{ removedCrons: [daily], removedQueues: [] }])
    expect(readdirSync(here.folder).sort()).toEqual(['.punctual-store', 'b.yaml'])
    expect(await removeCron(store, daily)).toEqual({ status: 'not_found' })
  })

  it('that never comes is a problem of its file, in the words of the API', async () => {
    write(
      'a.yaml',
      cron('daily', '{ url: "https://a.test", cronExpression: 0 0 31 2 *, timeZone: Mars/Base }'),
    )
    const store = await start()
    here.clock.advance(250)
    expect(problems(store)).toEqual([
      'a.yaml, document 1, line 4, spec.cronExpression: never comes: none of its months has a day 31.',
      'a.yaml, document 1, line 4, spec.timeZone: must be the IANA name of a time zone, such as Europe/Berlin or UTC; "Mars/Base" is none.',
    ])
    expect(store.snapshot().crons).toEqual([])
  })
})
