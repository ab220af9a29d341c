import { expect, test } from 'vitest'
import { EditConflictError, ResourceApiError } from '../../../src/domain/errors.ts'
import { writeChecked } from '../../../src/editors/resource-edit.ts'
import type { KubeObject } from '../../../src/ports/resource-store.ts'

function at(version: number, uid = 'u'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'K',
    metadata: {
      name: 'n',
      namespace: 's',
      uid,
      resourceVersion: String(version),
      creationTimestamp: '2026-11-21T09:00:00Z',
    },
  }
}

/** An API server that has this version, and another one after each of so many reads. */
function server(version: number, changes = 0) {
  let now = version
  let left = changes
  const checked: string[] = []
  return {
    checked,
    check: ({ metadata }: KubeObject) => void checked.push(metadata.resourceVersion),
    write: (_object: KubeObject, lock: string | null) =>
      lock === null || lock === String(now)
        ? Promise.resolve(lock)
        : Promise.reject(new ResourceApiError('conflict', 'changed')),
    read: () => {
      const found = at(now)
      if (left > 0) [now, left] = [now + 1, left - 1]
      return Promise.resolve(found)
    },
  }
}

test('a write is locked to the version that was checked, and made again on a newer one', async () => {
  const api = server(5)
  expect(await writeChecked(at(4), api)).toBe('5')
  expect(api.checked).toEqual(['4', '5'])
})

test('what the check throws is not written', async () => {
  const api = server(4)
  const check = () => {
    throw new EditConflictError('"1"')
  }
  await expect(writeChecked(at(4), { ...api, check })).rejects.toMatchObject({ version: '"1"' })
})

test('an object that keeps changing is a conflict', async () => {
  await expect(writeChecked(at(1), server(2, 99))).rejects.toThrow(EditConflictError)
})

test('one that was made anew is not written', async () => {
  const api = { ...server(5), read: () => Promise.resolve(at(5, 'another')) }
  await expect(writeChecked(at(4), api)).rejects.toThrow(ResourceApiError)
})

test('without a check there is no lock', async () => {
  expect(await writeChecked(at(1), { ...server(9), check: undefined })).toBeNull()
})
