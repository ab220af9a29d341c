import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { whileWatched } from '../../../../src/controller/reconcile/while-watched.ts'

test('keys of a namespace that is not watched are left alone, until it is watched again', async () => {
  const { signal } = new AbortController()
  const watched = new Set(['shop'])
  const done: string[] = []
  const { reconcile } = whileWatched(
    { reconcile: async (key) => ({ requeueAfterMs: done.push(`reconciled ${key}`) }) },
    {
      admit: async () => true,
      isWatched: (namespace) => watched.has(namespace),
      forget: (key) => void done.push(`forgot ${key}`),
    },
  )
  expect(await reconcile('shop/mails', signal)).toEqual({ requeueAfterMs: 1 })
  watched.delete('shop')
  expect(await reconcile('shop/mails', signal)).toEqual({ requeueAfterMs: null })
  watched.add('shop')
  await reconcile('shop/mails', signal)
  expect(done).toEqual(['reconciled shop/mails', 'forgot shop/mails', 'reconciled shop/mails'])
})

test('keys of a namespace that was made anew wait until it is admitted', async () => {
  const { signal } = new AbortController()
  let isAdmitted = false
  const { reconcile } = whileWatched(
    { reconcile: async () => ({ requeueAfterMs: 1 }) },
    { admit: async () => isAdmitted, isWatched: () => true, forget: () => undefined },
  )
  await expect(reconcile('shop/mails', signal)).rejects.toThrow(ResourceApiError)
  isAdmitted = true
  expect(await reconcile('shop/mails', signal)).toEqual({ requeueAfterMs: 1 })
})
