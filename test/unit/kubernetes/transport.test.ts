import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTransport, type Transport } from '../../../src/kubernetes/transport.ts'
import { startFakeApiServer, type FakeApiServer } from '../../support/fake-api-server.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../support/quiet.ts'

const QUEUES = '/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues'
const ONE = `${QUEUES}/one`
const READ = { method: 'GET', path: ONE } as const

let server: FakeApiServer
let clock: FakeClock
let transport: Transport

beforeEach(async () => {
  server = await startFakeApiServer()
  clock = createFakeClock()
  transport = createTransport({
    config: server.config,
    clock,
    metrics: quietClusterMetrics,
    userAgent: 'test/1',
  })
  server.put(ONE, { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', spec: { queueName: 'one' } })
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

describe('connections', () => {
  test('1,000 calls go over at most 4 connections', async () => {
    const calls = Array.from({ length: 1000 }, () => transport.request({ ...READ, isUrgent: true }))
    await Promise.all(calls)
    expect(server.requests).toHaveLength(1000)
    expect(server.connections).toBeLessThanOrEqual(4)
  })
})
