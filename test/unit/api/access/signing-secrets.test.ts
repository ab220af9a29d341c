import { afterEach, expect, it } from 'vitest'
import { signingSecretId, type SigningSecret } from '../../../../src/domain/access/signing-secret.ts'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { NO_TERMS, type TokenTerms } from '../../../../src/domain/access/token-terms.ts'
import { EditRefusedError } from '../../../../src/domain/errors.ts'
import type { SigningSecretStore } from '../../../../src/ports/access/signing-secrets.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { BEARER, call, NOW_MS, startApi, type RunningApi } from '../api-fixture.ts'

let api: RunningApi | null = null
afterEach(async () => api?.close())

const PATH = '/api/signing-secrets'
const VALUE = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

function memory(...names: string[]): SigningSecretStore & { all: SigningSecret[]; texts: string[] } {
  const secretOf = (name: string): SigningSecret => {
    const secretRef = { name, key: 'secret' }
    return { id: signingSecretId(secretRef), secretRef, createdAtMs: NOW_MS }
  }
  const store: ReturnType<typeof memory> = {
    all: names.map(secretOf),
    texts: [],
    list: (team) => Promise.resolve(team === 'default' ? store.all : []),
    create: (_team, { name, text }) => {
      store.all = [secretOf(name), ...store.all]
      store.texts.push(text)
      return Promise.resolve(secretOf(name))
    },
    remove: (_team, id) => {
      store.all = store.all.filter((one) => one.id !== id)
      return Promise.resolve('removed')
    },
  }
  return store
}

async function start(
  signingSecrets: SigningSecretStore,
  terms: Partial<TokenTerms> = {},
  auditLog = new FakeAuditLog(),
) {
  const principal = tokenPrincipal('default', 'boss', { ...NO_TERMS, ...terms })
  const newSecret = (bytes: number) => Buffer.alloc(bytes, 1)
  api = await startApi({ signingSecrets, newSecret, auditLog, tokens: { principalOf: () => principal } })
  const { port } = api
  return (method: 'GET' | 'POST' | 'DELETE', path = PATH) => call(port, path, { method, headers: BEARER })
}

it('shows the value once, and it is in no list and no audit record', async () => {
  const store = memory('old')
  const auditLog = new FakeAuditLog()
  const send = await start(store, {}, auditLog)
  const { status, json } = await send('POST')
  const made = {
    id: 'punctual-signing-01010101:secret',
    is_newest: true,
    created_at: '2026-11-21T10:00:00.000+00:00',
    secret_ref: { name: 'punctual-signing-01010101', key: 'secret' },
  }
  expect([status, json, store.texts]).toEqual([201, { ...made, secret: VALUE }, [VALUE]])
  const list = await send('GET')
  expect(list.json).toMatchObject({ signing_secrets: [made, { id: 'old:secret', is_newest: false }] })
  expect((await send('DELETE', `${PATH}/old:secret`)).status).toBe(204)
  const audit = JSON.stringify(auditLog)
  expect(audit).toContain('punctual-signing-01010101')
  expect(audit).toContain('old:secret')
  for (const text of [list.text, audit]) expect(text).not.toContain('whsec_')
  expect((await send('DELETE', `${PATH}/old:secret`)).status).toBe(404)
})

it('answers the reason of a refusal as a 409', async () => {
  const refuse = () => Promise.reject(new EditRefusedError('delete the older one'))
  const send = await start({ ...memory(), create: refuse })
  const { status, json } = await send('POST')
  expect([status, json]).toEqual([409, { error: 'delete the older one' }])
})

it.each([{ scopes: ['operate'] }, { queues: ['a'] }] as const)(
  'is not for a token with %j',
  async (terms) => {
    const store = memory('old')
    const send = await start(store, terms)
    const statuses = [await send('GET'), await send('POST'), await send('DELETE', `${PATH}/old:secret`)]
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403])
    expect(store.all).toHaveLength(1)
  },
)
