import { readdirSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
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

const item = (name: string, spec = ' {}', kind = 'HttpQueue') =>
  `- apiVersion: punctual.dev/v1alpha1\n  kind: ${kind}\n  metadata:\n    name: ${name}\n  spec:${spec}\n`
const list = (...items: readonly string[]) =>
  `# mine\napiVersion: v1\nitems:\n${items.join('')}kind: List\nmetadata:\n  resourceVersion: ""\n`
const CRON = '\n    url: https://a.test # theirs\n    cronExpression: 0 8 * * *'
const daily = { team: 'default', name: 'daily' }
const files = () => readdirSync(here.folder).filter((name) => !name.startsWith('.'))

describe('a list in the folder', () => {
  it('is applied, and each item is a resource with problems of its own', async () => {
    write('a.yaml', list(item('a', ' { timeoutSeconds: 5 }'), item('daily', CRON, 'HttpCron')))
    const store = await start()
    expect(timeouts(store)).toEqual({ a: 5 })
    expect(store.snapshot().crons).toMatchObject([{ name: 'daily', settings: { url: 'https://a.test' } }])
    write(
      'a.yaml',
      list(item('a', ' { timeoutSeconds: 0 }'), item('b'), item('c', ' { timeoutSeconds: 400 }')),
    )
    await settled(store)
    expect(problems(store)).toEqual([
      'a.yaml, document 1, item 1, line 8, spec.timeoutSeconds: 0 must be from 1 to 300.',
      'a.yaml, document 1, item 3, line 18, spec.timeoutSeconds: 400 must be from 1 to 300.',
    ])
    // The last good version of the whole file stays applied.
    expect(timeouts(store)).toEqual({ a: 5 })
  })

  it('has items whose names may be taken, as those of documents', async () => {
    write('a.yaml', `${queue('x')}---\n${list(item('a'), item('b', ' { queueName: x }'), item('a'))}`)
    const store = await start()
    const never = ' { successAssertions: [{ type: StatusCodeEquals, value: 404 }] }'
    write('b.yaml', list(item('c'), item('b', never), item('d', never)))
    await settled(store)
    expect(problems(store).toSorted()).toEqual([
      'a.yaml, document 1: The queue name "x" is taken by item 2 of document 2 of a.yaml, which is older: this one is not applied.',
      'a.yaml, document 2, item 3: The name of HttpQueue a is taken by item 1 of document 2 of a.yaml, which is older: this one is not applied.',
      'b.yaml, document 1, item 2: The name of HttpQueue b is taken by item 2 of document 2 of a.yaml, which is older: this one is not applied.',
      expect.stringContaining('b.yaml, document 1, item 3, spec.successAssertions[0]: '),
    ])
    expect(Object.keys(timeouts(store)).toSorted()).toEqual(['a', 'c', 'd', 'x'])
  })

  it('without one of its items loses that resource, after a while', async () => {
    write('a.yaml', list(item('a'), item('b')))
    const store = await start()
    write('a.yaml', list(item('b')))
    await settled(store)
    expect(Object.keys(timeouts(store))).toEqual(['a', 'b'])
    await settled(store, 2000)
    expect(here.changes).toMatchObject([{ removedQueues: [{ team: 'default', name: 'a' }] }])
    // Which may be half of a list.
    write('a.yaml', '# mine\napiVersion: v1\nitems:\n')
    await settled(store, 5000)
    expect(Object.keys(timeouts(store))).toEqual(['b'])
    write('a.yaml', 'apiVersion: v1\nitems: []\nkind: List\n')
    await settled(store, 2000)
    expect(timeouts(store)).toEqual({})
    expect(problems(store)).toEqual([])
  })
})

describe('an item', () => {
  const NEIGHBOUR = item('b', ' { timeoutSeconds:   0x7 }   # as it was')

  it('is edited in place, and all other text stays', async () => {
    const text = list(
      `# of a\n${item('a', '\n    timeoutSeconds: 5 # short')}# of b\n${NEIGHBOUR}`,
      item('daily', CRON, 'HttpCron'),
    )
    write('a.yaml', text)
    const store = await start()
    const made = statSync(`${here.folder}/a.yaml`).mode
    expect(await editQueue(store, edit('a', { timeoutSeconds: 6, isActive: false }))).toMatchObject({
      status: 'edited',
      settings: { timeoutSeconds: 6, isActive: false },
    })
    const edited = text.replace('5 # short\n', '6 # short\n    active: false\n')
    expect(read('a.yaml')).toBe(edited)
    expect(here.changes).toMatchObject([
      { queues: [{ name: 'a', settings: { timeoutSeconds: 6 } }], crons: [] },
    ])
    const change = { timeZone: 'Europe/Berlin' }
    expect(await editCron(store, { ...daily, change, current: cronSettings() })).toMatchObject({
      status: 'edited',
    })
    expect(read('a.yaml')).toBe(edited.replace('0 8 * * *\n', '0 8 * * *\n    timeZone: Europe/Berlin\n'))
    expect(statSync(`${here.folder}/a.yaml`).mode).toBe(made)
    await settled(store, 5000)
    expect(here.changes).toHaveLength(2)
    expect(files()).toEqual(['a.yaml'])
  })

  it('of a typed list is edited without what it leaves to the list', async () => {
    const text =
      'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueueList\nitems:\n- metadata:\n    name: a\n  spec:\n    timeoutSeconds: 5\n'
    write('a.yaml', text)
    const store = await start()
    expect(await editQueue(store, edit('a', { timeoutSeconds: 6 }))).toMatchObject({ status: 'edited' })
    expect(read('a.yaml')).toBe(text.replace('5', '6'))
  })

  it('is removed, the others stay, and with the last one the list goes as a document does', async () => {
    const text = list(`# of a\n${item('a')}# of b\n${NEIGHBOUR}`, item('daily', CRON, 'HttpCron'))
    write('a.yaml', text)
    const store = await start()
    expect(await removeQueue(store, { team: 'default', name: 'a' })).toEqual({ status: 'removed' })
    const rest = text.replace(`# of a\n${item('a')}`, '')
    expect(read('a.yaml')).toBe(rest)
    expect(here.changes).toMatchObject([{ removedQueues: [{ name: 'a' }], queues: [], crons: [] }])
    expect(await removeCron(store, daily)).toEqual({ status: 'removed' })
    expect(read('a.yaml')).toBe(rest.replace(item('daily', CRON, 'HttpCron'), ''))
    expect(timeouts(store)).toEqual({ b: 7 })
    expect(await removeQueue(store, { team: 'default', name: 'b' })).toEqual({ status: 'removed' })
    expect(files()).toEqual([])
    expect(await removeQueue(store, { team: 'default', name: 'b' })).toEqual({ status: 'not_found' })
  })

  it('of another API group keeps its list', async () => {
    const foreign = item('d', ' {}', 'Deployment').replace('punctual.dev/v1alpha1', 'apps/v1')
    write('a.yaml', list(foreign, item('a')))
    const store = await start()
    await removeQueue(store, { team: 'default', name: 'a' })
    expect(read('a.yaml')).toBe(list(foreign))
  })

  it('is removed with those whose name was taken, wherever they stand', async () => {
    write(
      'a.yaml',
      `${queue('x')}---\n${list(item('a'), item('b'), item('c', ' { queueName: a }'), item('a'))}`,
    )
    const store = await start()
    await removeQueue(store, { team: 'default', name: 'a' })
    expect(read('a.yaml')).toBe(`${queue('x')}---\n${list(item('b'))}`)
    expect(Object.keys(timeouts(store)).toSorted()).toEqual(['b', 'x'])
  })

  it('that others refer to is neither changed nor removed', async () => {
    const text = list(item('a', ' &s { timeoutSeconds: 5 }'), item('b', ' *s'))
    write('a.yaml', text)
    const store = await start()
    const refused = {
      status: 'refused',
      reason: 'a.yaml is written in a way that the API cannot edit: change the file itself.',
    }
    for (const name of ['a', 'b']) {
      expect(await editQueue(store, edit(name, { timeoutSeconds: 6 }))).toEqual(refused)
    }
    expect(await removeQueue(store, { team: 'default', name: 'a' })).toEqual(refused)
    expect(read('a.yaml')).toBe(text)
    expect(timeouts(store)).toEqual({ a: 5, b: 5 })
    expect(await removeQueue(store, { team: 'default', name: 'b' })).toEqual({ status: 'removed' })
    expect(read('a.yaml')).toBe(list(item('a', ' &s { timeoutSeconds: 5 }')))
  })

  it('is as it was when its edit breaks off', async () => {
    const text = list(item('a'), NEIGHBOUR)
    write('a.yaml', text)
    const store = await start()
    here.fault = new Error('no Redis')
    await expect(editQueue(store, edit('b', { timeoutSeconds: 6 }))).rejects.toThrow('no Redis')
    expect(read('a.yaml')).toBe(text)
  })

  it('is not made by the API, which writes a file', async () => {
    const text = list(item('a'))
    write('a.yaml', text)
    const store = await start()
    const current = cronSettings({ displayName: 'Daily' })
    expect(await editCron(store, { ...daily, change: {}, current })).toMatchObject({ status: 'edited' })
    expect(files().toSorted()).toEqual(['a.yaml', 'daily.yaml'])
    expect(read('a.yaml')).toBe(text)
  })
})
