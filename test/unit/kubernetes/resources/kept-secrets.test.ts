import { expect, test } from 'vitest'
import { ResourceApiError, StartupError } from '../../../../src/domain/errors.ts'
import { keepSecrets } from '../../../../src/kubernetes/resources/kept-secrets.ts'

const WANTED = { name: 'punctual-key', key: 'secrets-key', makeValue: () => 'mine', advice: 'Put it back.' }
const metadata = {
  name: 'punctual-key',
  namespace: 'jobs',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-11-23T00:00:00Z',
}

/** Another process makes the Secret between the look and the write. */
function overtaken(data: Record<string, string>) {
  let looks = 0
  return {
    read: () =>
      Promise.resolve((looks += 1) === 1 ? null : { apiVersion: 'v1', kind: 'Secret', metadata, data }),
    create: () => Promise.reject(new ResourceApiError('conflict', 'it exists')),
  }
}

test('a Secret that another process has made meanwhile is taken as it is', async () => {
  const writer = overtaken({ 'secrets-key': 'dGhlaXJz' })
  expect(await keepSecrets([WANTED], { namespace: 'jobs', writer })).toEqual([])
})

test('and is named where it lacks its key', async () => {
  const writer = overtaken({ other: 'eA==' })
  const keeping = keepSecrets([WANTED], { namespace: 'jobs', writer })
  await expect(keeping).rejects.toBeInstanceOf(StartupError)
  await expect(keeping).rejects.toThrow('The Secret jobs/punctual-key has no value for the key secrets-key')
})

test('any other refusal is passed on', async () => {
  const refused = new ResourceApiError('forbidden', 'no right')
  const writer = { read: () => Promise.resolve(null), create: () => Promise.reject(refused) }
  await expect(keepSecrets([WANTED], { namespace: 'jobs', writer })).rejects.toBe(refused)
})
