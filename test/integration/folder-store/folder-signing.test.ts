import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { here, problems, queue, read, start, useFolder, write } from './folder-fixture.ts'
import { createSigningSecret, removeSigningSecret, signingSecretsOf } from './folder-writes.ts'

useFolder()

const valueOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const nameOf = (byte: number) => `punctual-signing-${Buffer.alloc(4, byte).toString('hex')}`
const given = (byte: number) => ({ team: 'default', name: nameOf(byte), text: valueOf(byte) })
const idOf = (byte: number) => ({ team: 'default', id: `${nameOf(byte)}:secret` })
const applied = () => here.changes.at(-1)?.teams[0]?.policy.signingSecrets
const modeOf = (file: string) => statSync(join(here.folder, file)).mode & 0o777
const manifests = () => readdirSync(here.folder).filter((file) => !file.startsWith('.'))

it('a rotation: the first, a second beside it, no third, and the newest alone', async () => {
  const store = await start()
  expect(await createSigningSecret(store, given(1))).toMatchObject({
    status: 'edited',
    settings: { id: `${nameOf(1)}:secret` },
  })
  expect(applied()).toEqual([valueOf(1)])
  await createSigningSecret(store, given(2))
  expect(applied()).toEqual([valueOf(2), valueOf(1)])
  expect((await signingSecretsOf(store, 'default')).map(({ id }) => id)).toEqual([idOf(2).id, idOf(1).id])
  expect(await signingSecretsOf(store, 'other')).toEqual([])
  const before = read('team-settings.yaml')
  expect(await createSigningSecret(store, given(3))).toMatchObject({
    status: 'refused',
    reason: expect.stringContaining(`delete the older one, ${idOf(1).id},`),
  })
  expect([read('team-settings.yaml'), manifests()]).toEqual([
    before,
    [`${nameOf(1)}.yaml`, `${nameOf(2)}.yaml`, 'team-settings.yaml'],
  ])
  expect(await removeSigningSecret(store, idOf(1))).toEqual({ status: 'removed' })
  expect(applied()).toEqual([valueOf(2)])
  expect(manifests()).toEqual([`${nameOf(2)}.yaml`, 'team-settings.yaml'])
  expect(await removeSigningSecret(store, idOf(1))).toEqual({ status: 'not_found' })
  expect(await removeSigningSecret(store, idOf(2))).toEqual({ status: 'removed' })
  expect(applied()).toEqual([])
  expect(problems(store)).toEqual([])
})

it('the value is in a file of its own that nobody else may read, and in no other', async () => {
  const store = await start()
  await createSigningSecret(store, given(1))
  const holding = readdirSync(here.base, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
  expect(read(`${nameOf(1)}.yaml`)).toContain(valueOf(1))
  expect(modeOf(`${nameOf(1)}.yaml`)).toBe(0o600)
  for (const path of holding) {
    const file = path.slice(here.base.length + 1)
    if (file === `resources/${nameOf(1)}.yaml`) continue
    // The state of the folder holds all manifests.
    if (file === 'state.json') expect(statSync(path).mode & 0o777).toBe(0o600)
    else expect(read(join('..', file))).not.toContain(valueOf(1))
  }
})

const SETTINGS = `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  egress: { allow: [10.0.0.0/8] } # the office
  signing:
    secretRefs:
      - { name: own, key: current } # by hand
---
apiVersion: v1
kind: Secret
metadata: { name: own }
type: punctual.dev/signing-secret
stringData: { current: by-hand-with-24-letters-- }
`

it('TeamSettings among other documents are edited there, with their comments, and a Secret of yours stays', async () => {
  write('all.yaml', `${queue('mail')}---\n${SETTINGS}`)
  const store = await start()
  const [own] = await signingSecretsOf(store, 'default')
  expect(own).toEqual({ id: 'own:current', secretRef: { name: 'own', key: 'current' }, createdAtMs: null })
  await createSigningSecret(store, given(1))
  expect(applied()).toEqual([valueOf(1), 'by-hand-with-24-letters--'])
  expect(here.changes.at(-1)?.teams[0]?.policy.egressAllow).toEqual(['10.0.0.0/8'])
  for (const comment of ['# the office', '# by hand']) expect(read('all.yaml')).toContain(comment)
  expect(await removeSigningSecret(store, { team: 'default', id: 'own:current' })).toEqual({
    status: 'removed',
  })
  expect(applied()).toEqual([valueOf(1)])
  expect(read('all.yaml')).toContain('current: by-hand')
  await removeSigningSecret(store, idOf(1))
  expect(applied()).toEqual([])
  expect(manifests()).toEqual(['all.yaml'])
})

it('a Secret that a channel names too is kept', async () => {
  const store = await start()
  await createSigningSecret(store, given(1))
  const channel = `{name: chat, type: Webhook, alertTypes: [Failure], secretRef: {name: ${nameOf(1)}, key: secret}}`
  write('team-settings.yaml', `${read('team-settings.yaml')}  notifications: { channels: [${channel}] }\n`)
  await store.sync()
  here.clock.advance(250)
  await store.sync()
  expect(await removeSigningSecret(store, idOf(1))).toEqual({ status: 'removed' })
  expect(manifests()).toContain(`${nameOf(1)}.yaml`)
})

it('what fails leaves nothing: settings that cannot be edited, and a change that is not applied', async () => {
  write(
    'team.json',
    JSON.stringify({
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'TeamSettings',
      metadata: { name: 'team' },
      spec: {},
    }),
  )
  const store = await start()
  here.fault = new Error('Redis is away')
  await expect(createSigningSecret(store, given(1))).rejects.toThrow('Redis is away')
  here.fault = null
  expect(manifests()).toEqual(['team.json'])
  write('team.json', '{')
  expect(await createSigningSecret(store, given(1))).toMatchObject({ status: 'refused' })
  expect(manifests()).toEqual(['team.json'])
})

it('a Secret that a crash left, which nothing names, stops nothing', async () => {
  write(
    `${nameOf(1)}.yaml`,
    `apiVersion: v1\nkind: Secret\nmetadata: { name: ${nameOf(1)} }\nstringData: { secret: '${valueOf(1)}' }\n`,
  )
  const store = await start()
  expect(await signingSecretsOf(store, 'default')).toEqual([])
  expect(problems(store)).toEqual([])
  await createSigningSecret(store, given(2))
  expect(applied()).toEqual([valueOf(2)])
})

it('TeamSettings that cannot be written take the Secret back', async () => {
  mkdirSync(join(here.folder, 'team-settings.yaml'))
  const store = await start()
  expect(await createSigningSecret(store, given(1))).toMatchObject({ status: 'refused' })
  expect(manifests()).toEqual(['team-settings.yaml'])
})
