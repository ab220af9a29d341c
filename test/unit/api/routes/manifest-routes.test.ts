import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { secretValueText } from '../../../../src/domain/secrets/secret-values.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { aCron, BEARER, call, type RunningApi, startApi, TOKEN } from '../api-fixture.ts'

const ARGO = { tool: 'argo_cd', name: 'mail', read_only: false } as const
const OTHER = { tool: 'other', name: 'terraform', read_only: true } as const
const keptBy = ({ read_only: isReadOnly, ...manager }: typeof ARGO | typeof OTHER) => ({
  ...manager,
  isReadOnly,
})
const READER = { authorization: 'Bearer reader-token-0123456789' }
const auditLog = new FakeAuditLog()
const CRON = aCron({
  headers: {
    'X-Key': 's3cret',
    'X-Partner': secretValueText({ cron: 'nightly', secret: 'partner', key: 'token' }),
  },
  payload: 's3cret',
})
const SIGNED = ['default/queue/emails', `default/cron/${CRON.name}`]
const SIGNING = [{ name: 'partner-signing', key: 'secret' }]

let api: RunningApi
beforeEach(async () => {
  api = await startApi({
    auditLog,
    managed: {
      ofQueue: (_team, queue) => (queue === 'emails' ? { name: 'emails-1', managedBy: keptBy(ARGO) } : null),
      ofCron: (_team, name) => Promise.resolve(name === CRON.name ? keptBy(OTHER) : null),
    },
    signingRefs: {
      of: ({ team, kind, name }) =>
        Promise.resolve(SIGNED.includes(`${team}/${kind}/${name}`) ? SIGNING : []),
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
  const warning = expect.stringMatching(/^Argo CD \(mail\) keeps this as a manifest/) as string
  expect(edited.json).toMatchObject({ managed_by: ARGO, warnings: [warning] })
})

test('a cron does, when it is read alone', async () => {
  expect((await send('/api/crons/7')).json).toMatchObject({ managed_by: OTHER, warnings: [] })
  const warnings = [expect.stringMatching(/^terraform keeps this as a manifest/) as string]
  expect((await send('/api/crons/7/pause', { method: 'POST' })).json).toMatchObject({
    managed_by: OTHER,
    warnings,
  })
})

test('the audit log tells what was changed, not who manages it', async () => {
  await send('/api/queues/7', { method: 'DELETE' })
  await send('/api/crons/7', { method: 'DELETE' })
  expect(JSON.stringify(auditLog)).not.toContain('managed_by')
})

test('the manifest of a queue has the name of its resource, and the Secrets that it names', async () => {
  const manifest =
    'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata:\n  name: emails-1\n  namespace: default\nspec:\n  queueName: emails\n  signing:\n    secretRefs:\n      - name: partner-signing\n        key: secret\n'
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

test('the manifest of a cron can be applied: it names the Secrets of headers and signatures, to everybody', async () => {
  for (const headers of [BEARER, READER]) {
    const { json } = await send('/api/crons/7/manifest', { headers })
    const { spec } = parse((json as { manifest: string }).manifest) as {
      spec: { headers: readonly unknown[]; signing: unknown }
    }
    const secretKeyRef = { name: 'partner', key: 'token' }
    expect(spec.headers[1]).toEqual({ name: 'X-Partner', valueFrom: { secretKeyRef } })
    expect(spec.signing).toEqual({ secretRefs: SIGNING })
  }
})
