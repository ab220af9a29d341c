import { expect, it } from 'vitest'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { StorageFullError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { queueKey } from '../../../src/folder-store/folder-snapshot.ts'
import { anApiToken } from '../../support/principals.ts'
import { edit, here, open, queue, read, settled, start, take, useFolder, write } from './folder-fixture.ts'
import { createToken, editQueue, removeQueue, removeToken } from './folder-writes.ts'

useFolder()

const SOMEBODY = { kind: 'user', name: 'unknown', via: 'folder', address: null }

/** What the audit log was told: team, action, name, and the fields before and after. */
const noted = () =>
  here.auditLog.ended.map((end) => {
    expect(end?.entry.actor).toEqual(SOMEBODY)
    expect(end?.outcome).toBe('done')
    return [end?.entry.action, end?.entry.resource.kind, end?.entry.resource.name]
  })

it('an edit of a file is noted once it is applied, with the fields that differ', async () => {
  write('a.yaml', queue('a', '{ timeoutSeconds: 30 }'))
  const store = await start()
  write('a.yaml', queue('a', '{ timeoutSeconds: 5 }'))
  await settled(store)
  await settled(store)
  expect(here.auditLog.ended).toEqual([
    {
      outcome: 'done',
      entry: {
        actor: SOMEBODY,
        action: 'edit',
        resource: { kind: 'queue', id: null, name: 'a' },
        before: { timeoutSeconds: 30 },
        after: { timeoutSeconds: 5 },
      },
    },
  ])
  expect(here.auditLog.asked).toHaveLength(1)
})

it('what is made, and what is deleted with its file, is noted by its kind, and no secret', async () => {
  const store = await start()
  const kinds = [
    `kind: HttpCron\nmetadata: { name: nightly }\nspec: { displayName: Every night, url: 'https://a.example/?canary', cronExpression: '0 3 * * *', headers: [{ name: X-Key, value: canary }] }`,
    `kind: ApiToken\nmetadata: { name: ci }\nspec: { sha256: '${'ca'.repeat(32)}' }`,
    `kind: MaintenanceWindow\nmetadata: { name: night }\nspec: { action: Mute, start: '2027-01-01T00:00:00Z', end: '2027-01-02T00:00:00Z' }`,
    `kind: TeamSettings\nmetadata: { name: team }\nspec: { signing: { secretRefs: [{ name: key, key: secret }] } }`,
  ].map((text) => `apiVersion: punctual.dev/v1alpha1\n${text}\n`)
  const secret = (value: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: { name: key }\ntype: punctual.dev/signing-secret\nstringData: { secret: ${value} }\n`
  write('all.yaml', kinds.join('---\n'))
  write('key.yaml', secret(`whsec_${Buffer.alloc(32, 'canary').toString('base64')}`))
  await settled(store)
  const names = [
    ['team', 'team'],
    ['token', 'ci'],
    ['window', 'night'],
    ['cron', 'Every night'],
  ]
  expect(noted()).toEqual(names.map(([kind, name]) => ['create', kind, name]))
  write('key.yaml', secret(`whsec_${Buffer.alloc(32, 'secret').toString('base64')}`))
  await settled(store)
  expect(here.auditLog.ended.at(-1)?.entry).toMatchObject({
    action: 'edit',
    resource: { kind: 'team' },
    before: { secret: '(hidden)' },
    after: { secret: '(hidden)' },
  })
  rmSync(join(here.folder, 'all.yaml'))
  await settled(store, 2_000)
  await settled(store, 2_000)
  expect(noted().slice(5)).toEqual(names.map(([kind, name]) => ['delete', kind, name]))
  const text = JSON.stringify(here.auditLog)
  for (const canary of ['canary', 'whsec', 'caca', Buffer.from('canary').toString('base64')]) {
    expect(text).not.toContain(canary)
  }
})

it('what the API changes in the folder is not noted here, also when it fails and is undone', async () => {
  write('a.yaml', queue('a'))
  const store = await start()
  await editQueue(store, edit('a', { timeoutSeconds: 5 }))
  await createToken(store, anApiToken('ci'))
  await removeToken(store, { team: 'default', name: 'ci' })
  here.fault = new StoreUnavailableError('gone')
  await expect(editQueue(store, edit('a', { timeoutSeconds: 6 }))).rejects.toThrow('gone')
  here.fault = null
  await settled(store)
  await removeQueue(store, { team: 'default', name: 'a' })
  await settled(store)
  expect(here.auditLog.asked).toEqual([])
})

it('what the API removes is not noted here when it is applied later, unlike what a person makes of it', async () => {
  write('a.yaml', queue('a'))
  write('b.yaml', queue('b', '{ timeoutSeconds: 30 }'))
  const store = await start()
  await createToken(store, anApiToken('ci'))
  const remove = [
    () => removeQueue(store, { team: 'default', name: 'a' }),
    () => removeQueue(store, { team: 'default', name: 'b' }),
    () => removeToken(store, { team: 'default', name: 'ci' }),
  ]
  for (const one of remove.slice(1)) {
    here.fault = null
    await store.sync()
    here.fault = new StoreUnavailableError('gone')
    await expect(one()).rejects.toThrow('gone')
  }
  expect(here.auditLog.asked).toEqual([])
  await expect(store.sync()).rejects.toThrow('gone')
  here.fault = null
  await settled(store)
  expect(noted()).toEqual([])
  expect(here.changes.flatMap(({ removedQueues }) => removedQueues).map(({ name }) => name)).toContain('b')

  here.fault = new StoreUnavailableError('gone')
  await expect(remove[0]?.()).rejects.toThrow('gone')
  write('a.yaml', queue('a', '{ timeoutSeconds: 5 }'))
  await expect(store.sync()).rejects.toThrow('gone')
  here.clock.advance(250)
  await expect(store.sync()).rejects.toThrow('gone')
  here.fault = null
  await store.sync()
  rmSync(join(here.folder, 'a.yaml'))
  await settled(store, 2_000)
  await settled(store, 2_000)
  expect(noted()).toEqual([
    ['edit', 'queue', 'a'],
    ['delete', 'queue', 'a'],
  ])
})

it('of what the API and a person change, the person has what is in the files before the edit of the API', async () => {
  write('a.yaml', queue('a', '{ timeoutSeconds: 30, maxParallelism: 2 }'))
  const store = await start()
  write('a.yaml', queue('a', '{ timeoutSeconds: 5, maxParallelism: 2 }'))
  await store.sync()
  here.clock.advance(250)
  await editQueue(store, edit('a', { maxParallelism: 7 }))
  expect(read('a.yaml')).toContain('7')
  await settled(store)
  expect(here.auditLog.ended.map((end) => end?.entry.after)).toEqual([{ timeoutSeconds: 5 }])
})

it('what cannot be applied or written yet is noted later, once', async () => {
  const store = await open()
  write('a.yaml', queue('a'))
  const refused = new Set<string>()
  await store.start(async (change) => {
    await take(change)
    const full = new StorageFullError()
    return new Map(change.queues.map(queueKey).flatMap((key) => (refused.has(key) ? [[key, full]] : [])))
  })
  refused.add(queueKey({ team: 'default', name: 'b' }))
  write('b.yaml', queue('b'))
  write('c.yaml', queue('c'))
  const { ask } = here.auditLog
  here.auditLog.ask = () => Promise.reject(new StoreUnavailableError('gone'))
  await settled(store)
  expect(noted()).toEqual([])
  here.auditLog.ask = ask
  await store.sync()
  expect(noted()).toEqual([['create', 'queue', 'c']])
  refused.clear()
  await store.sync()
  await store.sync()
  expect(noted().slice(1)).toEqual([['create', 'queue', 'b']])
})

it('what changed while nobody watched is noted at the start, but not all there is at the first one', async () => {
  write('a.yaml', queue('a'))
  const first = await start()
  await first.stop()
  expect(noted()).toEqual([])
  write('b.yaml', queue('b'))
  const again = await open()
  await again.start(take)
  expect(noted()).toEqual([['create', 'queue', 'b']])
})
