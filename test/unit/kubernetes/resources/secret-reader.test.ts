import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSecretReader } from '../../../../src/kubernetes/resources/secret-reader.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { SecretReader } from '../../../../src/ports/kubernetes.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../../support/quiet.ts'

const PATH = '/api/v1/namespaces/shop/secrets/signing'

let server: FakeApiServer
let transport: Transport
let secrets: SecretReader

beforeEach(async () => {
  server = await startFakeApiServer()
  const config = { config: server.config, metrics: quietClusterMetrics, userAgent: 'punctual/test' }
  transport = createTransport({ ...config, clock: createFakeClock() })
  secrets = createSecretReader(transport)
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

test('answers the values as bytes, by key, and what the Secret is for', async () => {
  const data = { one: Buffer.from('whsec_x').toString('base64'), none: '' }
  server.put(PATH, {
    type: 'punctual.dev/signing-secret',
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
    data,
  })
  expect(await secrets.read('shop', 'signing')).toEqual({
    data: { one: Buffer.from('whsec_x'), none: Buffer.alloc(0) },
    type: 'punctual.dev/signing-secret',
    labels: { a: 'b' },
    annotations: { c: 'd' },
  })
})

test('answers no value that nobody has put there', async () => {
  server.put(PATH, {})
  const read = await secrets.read('shop', 'signing')
  expect(read?.data['constructor']).toBeUndefined()
  expect(read).toMatchObject({ type: '', labels: {}, annotations: {} })
})

test('answers null where there is no such Secret, and asks for this one only', async () => {
  expect(await secrets.read('shop', 'signing')).toBeNull()
  expect(server.requests.map(({ verb, path }) => [verb, path])).toEqual([['get', PATH]])
})

test('a refusal is thrown', async () => {
  server.faults.add({ effect: { do: 'answer', code: 403 } })
  await expect(secrets.read('shop', 'signing')).rejects.toMatchObject({ fault: 'forbidden' })
})
