import { chmodSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { refOf } from '../../../src/ports/resource-store.ts'
import { here, queue, read, settled, start, useFolder, write } from './folder-fixture.ts'

useFolder()

const conflict = { fault: 'conflict', message: expect.stringMatching(/^Manifest folder: /) as string }

it('a write under a lock is refused once the resource has changed, and made without one', async () => {
  write('a.yaml', queue('a'))
  const kind = (await start()).kind('HttpQueue')
  const found = (await kind.read('default', 'a')) ?? expect.fail('it is there')
  const { resourceVersion } = found.metadata
  const first = await kind.patchSpec(refOf(found), { timeoutSeconds: 5 }, resourceVersion)
  expect(first.metadata).toMatchObject({ uid: found.metadata.uid })
  await expect(kind.patchSpec(refOf(found), { timeoutSeconds: 6 }, resourceVersion)).rejects.toMatchObject(
    conflict,
  )
  await kind.patchSpec(refOf(found), { maxParallelism: 2 }, null)
  expect(await kind.read('default', 'a')).toMatchObject({ spec: { timeoutSeconds: 5, maxParallelism: 2 } })
  await expect(
    kind.patchSpec({ ...refOf(found), name: 'b' }, { timeoutSeconds: 6 }, null),
  ).rejects.toMatchObject({ fault: 'not_found' })
})

it('what is made anew under a name is another resource: it is neither changed nor removed', async () => {
  write('a.yaml', queue('a'))
  const store = await start()
  const kind = store.kind('HttpQueue')
  const former = (await kind.read('default', 'a')) ?? expect.fail('it is there')
  rmSync(join(here.folder, 'a.yaml'))
  await settled(store, 2_000)
  write('b.yaml', queue('a'))
  await settled(store)
  await expect(kind.patchSpec(refOf(former), { timeoutSeconds: 6 }, null)).rejects.toMatchObject(conflict)
  await kind.remove(refOf(former))
  expect(await kind.read('default', 'a')).not.toBeNull()
})

it('a change that the schema refuses names the field, and writes nothing', async () => {
  write('a.yaml', queue('a'))
  const kind = (await start()).kind('HttpQueue')
  const found = (await kind.read('default', 'a')) ?? expect.fail('it is there')
  await expect(kind.patchSpec(refOf(found), { timeoutSeconds: 0 }, null)).rejects.toMatchObject({
    fault: 'invalid',
    message: expect.stringContaining('spec.timeoutSeconds') as string,
  })
  expect(read('a.yaml')).toBe(queue('a'))
})

it('a new file may be read by nobody else, and one that is there keeps its permissions', async () => {
  write('a.yaml', queue('a'))
  chmodSync(join(here.folder, 'a.yaml'), 0o640)
  const modeOf = (file: string) => statSync(join(here.folder, file)).mode & 0o777
  const store = await start()
  const crons = store.kind('HttpCron')
  const spec = {
    cronExpression: '* * * * *',
    url: 'https://example.com/',
    headers: [{ name: 'Authorization', value: 'Bearer canary' }],
  }
  const made = await crons.create({ metadata: { name: 'c', namespace: 'default' }, spec })
  expect(modeOf('c.yaml')).toBe(0o600)
  await crons.patchSpec(refOf(made), { timeoutSeconds: 5 }, null)
  const kind = store.kind('HttpQueue')
  const found = (await kind.read('default', 'a')) ?? expect.fail('it is there')
  await kind.patchSpec(refOf(found), { timeoutSeconds: 5 }, null)
  expect([modeOf('c.yaml'), modeOf('a.yaml')]).toEqual([0o600, 0o640])
})
