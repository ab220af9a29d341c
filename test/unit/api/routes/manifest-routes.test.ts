import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { aCron, BEARER, call, type RunningApi, startApi, TOKEN } from '../api-fixture.ts'

const ARGO = { tool: 'argo_cd', name: 'mail' } as const
const OTHER = { tool: 'other', name: 'terraform' } as const
const READER = { authorization: 'Bearer reader-token-0123456789' }
const auditLog = new FakeAuditLog()
const CRON = aCron({ headers: { 'X-Key': 's3cret' }, payload: 's3cret' })

let api: RunningApi
beforeEach(async () => {
  api = await startApi({
    auditLog,
    managed: {
      ofQueue: (_team, queue) => (queue === 'emails' ? { name: 'emails-1', managedBy: ARGO } : null),
      ofCron: (_team, name) => Promise.resolve(name === CRON.name ? OTHER : null),
    },
    crons: {
      list: () => Promise.resolve({ crons: [CRON], nextCursor: null }),
      get: (_team, id) => Promise.resolve(id === 7 ? CRON : null),
      getByName: () => Promise.resolve(null),
      runNow: () => Promise.resolve({ status: 'not_found' }),
      runs: () => Promise.resolve(null),
    },
    tokens: {
      principalOf: (token) =>
        aPrincipal('default', token === TOKEN ? {} : { permissions: new Set(['read']) }),
    },
  })
})
afterEach(() => api.close())

const send = (path: string, options: { method?: string; headers?: object; body?: string } = {}) =>
  call(api.port, path, { ...options, headers: { ...BEARER, ...options.headers } })

test('a queue says who manages it, in each answer', async () => {
  expect((await send('/api/queues')).json).toMatchObject({ queues: [{ managed_by: ARGO }] })
  expect((await send('/api/queues/7')).json).toMatchObject({ managed_by: ARGO })
  expect((await send('/api/queues/7/pause', { method: 'POST' })).json).toMatchObject({ managed_by: ARGO })
  const headers = { 'content-type': 'application/json' }
  const edited = await send('/api/queues/7', { method: 'PATCH', headers, body: '{"timeout_seconds":9}' })
  expect(edited.json).toMatchObject({ managed_by: ARGO })
})

test('a cron does, when it is read alone', async () => {
  expect((await send('/api/crons/7')).json).toMatchObject({ managed_by: OTHER })
  expect((await send('/api/crons/7/pause', { method: 'POST' })).json).toMatchObject({ managed_by: OTHER })
})

test('the audit log tells what was changed, not who manages it', async () => {
  await send('/api/queues/7', { method: 'DELETE' })
  await send('/api/crons/7', { method: 'DELETE' })
  expect(JSON.stringify(auditLog)).not.toContain('managed_by')
})

test('the manifest of a queue has the name of its resource', async () => {
  const manifest =
    'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata:\n  name: emails-1\n  namespace: default\nspec:\n  queueName: emails\n'
  expect((await send('/api/queues/7/manifest')).json).toEqual({ manifest })
  expect((await send('/api/queues/8/manifest')).status).toBe(404)
})

test('the manifest of a cron is masked for those who may not see payloads', async () => {
  const { json } = await send('/api/crons/7/manifest')
  expect(json).toMatchObject({ manifest: expect.stringContaining('payload: s3cret') })
  const { text, status } = await send('/api/crons/7/manifest', { headers: READER })
  expect(status).toBe(200)
  expect(text).toContain('name: nightly-0a1b2c3d')
  expect(text).not.toContain('s3cret')
  expect((await send('/api/crons/8/manifest')).status).toBe(404)
})
