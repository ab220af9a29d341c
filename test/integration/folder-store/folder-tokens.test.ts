import { expect, it } from 'vitest'
import { EditRefusedError } from '../../../src/domain/errors.ts'
import { NO_TERMS } from '../../../src/domain/access/token-terms.ts'
import { anApiToken } from '../../support/principals.ts'
import { NO_REFUSALS, tokenKey } from '../../../src/folder-store/folder-snapshot.ts'
import { until } from '../../support/until.ts'
import { here, open, problems, queue, read, settled, start, useFolder, write } from './folder-fixture.ts'
import { createToken, removeToken } from './folder-writes.ts'

useFolder()

const CI = anApiToken('ci', {
  sha256Hex: 'ab'.repeat(32),
  prefix: 'pun_4fJk',
  description: 'CI',
  terms: {
    scopes: ['push', 'read'],
    queues: ['Mails: out'],
    expiresAtMs: Date.UTC(2027, 0, 31),
    rateLimit: { requestsPerSecond: 5, burst: 9 },
  },
})

it('a new token gets a manifest, accepted when it is answered', async () => {
  const store = await start()
  expect(await createToken(store, CI)).toEqual({ status: 'edited', settings: CI })
  expect(here.changes).toMatchObject([{ tokens: [CI] }])
  expect(store.snapshot().tokens).toEqual([CI])
  expect(read('token-ci.yaml')).toContain(`sha256: ${'ab'.repeat(32)}\n`)
  expect(problems(store)).toEqual([])
})

it('a new token never changes a manifest that is there, nor takes the place of one not applied', async () => {
  const store = await start()
  await createToken(store, CI)
  const other = { ...CI, sha256Hex: 'cd'.repeat(32), terms: NO_TERMS }
  expect(await createToken(store, other)).toEqual({
    status: 'refused',
    reason: 'Manifest folder: there is ApiToken ci already, in token-ci.yaml.',
  })
  expect(store.snapshot().tokens).toEqual([CI])
})

it('a revoked token loses its manifest, and what stands beside it stays', async () => {
  const mail = 'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: {name: mail}\nspec: {}\n'
  const token = `---\napiVersion: punctual.dev/v1alpha1\nkind: ApiToken\nmetadata: { name: ci }\nspec: { sha256: "${CI.sha256Hex}" }\n`
  write('all.yaml', mail + token)
  const store = await start()
  expect(await removeToken(store, { team: 'default', name: 'ci' })).toEqual({ status: 'removed' })
  expect(here.changes.at(-1)).toMatchObject({ removedTokens: [{ team: 'default', name: 'ci' }] })
  expect(read('all.yaml')).toBe(mail)
  expect(await removeToken(store, { team: 'default', name: 'ci' })).toEqual({ status: 'not_found' })
})

it('a token that is refused is told as an error and not as applied, until it is accepted', async () => {
  write('queue.yaml', queue('mail'))
  const reason = 'Another team has revoked it.'
  let isRefused = true
  const store = await open()
  await store.start(async ({ tokens }) =>
    isRefused ? new Map(tokens.map((token) => [tokenKey(token), new EditRefusedError(reason)])) : NO_REFUSALS,
  )
  const spec = `{ sha256: "${CI.sha256Hex}" }`
  write(
    'ci.yaml',
    `apiVersion: punctual.dev/v1alpha1\nkind: ApiToken\nmetadata: { name: ci }\nspec: ${spec}\n`,
  )
  await settled(store)
  here.clock.advance(2_000)
  await until('it is told', () => here.errors.length > 0)
  expect(here.errors).toEqual([`["ApiToken","default","ci"]: ${reason}`])
  expect([here.applied, here.auditLog.asked]).toEqual([[], []])
  isRefused = false
  await store.sync()
  await store.sync()
  expect(here.applied).toEqual(['ApiToken ci'])
  expect(here.auditLog.asked).toMatchObject([{ action: 'create', resource: { kind: 'token', name: 'ci' } }])
})
