import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngineRecord } from '../../../../src/kubernetes/resources/engine-record.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { EngineRecord, RecordedEngine } from '../../../../src/ports/kubernetes.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../../support/quiet.ts'

const PATH = '/api/v1/namespaces/punctual/configmaps/punctual-state'
const ENGINE: RecordedEngine = {
  installation: '0123456789ab',
  epoch: 7,
  idFloor: { jobBlock: 1, queue: 2, token: 3 },
  loss: null,
}

let server: FakeApiServer
let transport: Transport
let record: EngineRecord

beforeEach(async () => {
  server = await startFakeApiServer()
  const config = { config: server.config, metrics: quietClusterMetrics, userAgent: 'punctual/test' }
  transport = createTransport({ ...config, clock: createFakeClock() })
  record = createEngineRecord(transport, { namespace: 'punctual', name: 'punctual-state' })
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

test('is nothing before it was written, and then what was written last', async () => {
  expect(await record.read()).toBeNull()
  expect(await record.write(ENGINE)).toMatchObject({ kind: 'ConfigMap', name: 'punctual-state' })
  expect(await record.read()).toEqual(ENGINE)
  const loss = { reason: 'EngineLost', at: '2026-11-21T10:00:00.000Z' }
  await record.write({ ...ENGINE, epoch: 8, loss })
  expect(await record.read()).toEqual({ ...ENGINE, epoch: 8, loss })
})

test('that was emptied by hand is none', async () => {
  server.put(PATH, { data: {} })
  expect(await record.read()).toBeNull()
})

test.each([
  ['a floor that is no JSON', { idFloor: '{' }],
  ['a floor without its numbers', { idFloor: '{"jobBlock":1}' }],
  ['an epoch that is no number', { term: 'seven' }],
  ['a loss that is no JSON', { loss: 'yes' }],
  ['a loss that is none', { loss: '[]' }],
])('with %s is an error that names the ConfigMap', async (_what, change) => {
  await record.write(ENGINE)
  server.put(PATH, { data: { ...(server.get(PATH)?.['data'] as object), ...change } })
  await expect(record.read()).rejects.toThrow(
    'ConfigMap punctual-state in punctual was edited by hand and cannot be read: correct or delete it',
  )
})

test('a refusal is thrown', async () => {
  server.faults.add({ effect: { do: 'answer', code: 403 } })
  await expect(record.read()).rejects.toMatchObject({ fault: 'forbidden' })
})
