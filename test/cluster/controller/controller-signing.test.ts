import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SigningSecret, SigningSecretList } from '../../../clients/typescript/src/generated/wire.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

let world: ControllerWorld
let client: ApiClient

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
  const api = await world.startApi()
  client = createApiClient(api.url, api.token)
})
afterAll(() => world.close())

const PATH = '/api/signing-secrets'
const secretNamed = (name: string) =>
  world.api.get({ apiVersion: 'v1', kind: 'Secret', name, namespace: world.namespace })
const refs = async () =>
  ((await world.get('TeamSettings', 'team')) as unknown as { spec: { signing: { secretRefs: object[] } } })
    .spec.signing.secretRefs

test('a rotation through the API: Secrets of its own, two in the TeamSettings, and the value nowhere else', async () => {
  const made: SigningSecret[] = []
  for (const _ of ['first', 'second']) {
    const { status, body } = await client.send<SigningSecret>('POST', PATH)
    expect(status).toBe(201)
    made.unshift(body)
  }
  const [newest, oldest] = made as [SigningSecret, SigningSecret]
  expect(await refs()).toEqual([newest.secret_ref, oldest.secret_ref])
  const secret = await secretNamed(newest.secret_ref.name)
  expect(secret).toMatchObject({
    metadata: { labels: { 'punctual.dev/origin': 'api' } },
    data: { secret: Buffer.from(newest.secret ?? '').toString('base64') },
  })
  await world.reason('TeamSettings', 'team', 'Reconciled')
  const third = await client.send<{ error: string }>('POST', PATH)
  expect([third.status, third.body.error]).toEqual([409, expect.stringContaining(oldest.id)])

  const { body: list } = await client.send<SigningSecretList>('GET', PATH)
  expect(list.signing_secrets.map(({ id, is_newest }) => [id, is_newest])).toEqual([
    [newest.id, true],
    [oldest.id, false],
  ])
  expect(list.signing_secrets[0]?.created_at).not.toBeNull()
  const settings = await world.get('TeamSettings', 'team')
  const audit = await client.send('GET', '/api/audit?resource_kind=secret')
  expect(JSON.stringify(audit.body)).toContain(newest.id)
  for (const shown of [list, settings, audit.body]) {
    expect(JSON.stringify(shown)).not.toContain(newest.secret?.slice('whsec_'.length))
  }
  expect((await client.send('DELETE', `${PATH}/${oldest.id}`)).status).toBe(204)
  expect(await refs()).toEqual([newest.secret_ref])
  await expect(secretNamed(oldest.secret_ref.name)).rejects.toThrow(/not found/)
})
