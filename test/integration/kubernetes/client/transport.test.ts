import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ResourceApiError, type ResourceApiFault } from '../../../../src/domain/errors.ts'
import {
  createTransport,
  RATE_LIMIT,
  REQUEST_TIMEOUT_MS,
  TRIES_MAX,
  type Transport,
} from '../../../../src/kubernetes/client/transport.ts'
import { selfSignedCertificate } from '../../../support/targets/certificates.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

const QUEUES = '/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues'
const ONE = `${QUEUES}/one`
const READ = { method: 'GET', path: ONE } as const
const PAUSE_QUEUE = {
  method: 'PATCH',
  path: ONE,
  body: { spec: { paused: true } },
  patchType: 'merge',
} as const

let server: FakeApiServer
let clock: FakeClock
let transport: Transport
let codes: Array<[string, number | null]>

beforeEach(async () => {
  server = await startFakeApiServer()
  clock = createFakeClock()
  codes = []
  const metrics = {
    ...quietClusterMetrics,
    requestEnded: (verb: string, code: number | null) => void codes.push([verb, code]),
  }
  transport = createTransport({ config: server.config, clock, metrics, userAgent: 'punctual/test' })
  server.put(ONE, { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', spec: { queueName: 'one' } })
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

/** What the request throws; lets time pass when it waits for that. */
async function faultOf(request: Promise<unknown>): Promise<ResourceApiError> {
  const error = await request.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ResourceApiError)
  return error as ResourceApiError
}

/** Advances the clock once this many requests were sent and the transport pauses. */
async function advanceAfter(requests: number, ms: number): Promise<void> {
  await until('the pause', () => server.requests.length === requests && clock.timers === 2)
  await clock.advance(ms)
}

describe('connections', () => {
  test('1,000 calls go over at most 4 connections, HTTP/1.1 each', async () => {
    const calls = Promise.all(Array.from({ length: 1000 }, () => transport.request(READ)))
    await until('the burst', () => server.requests.length === RATE_LIMIT.burst)
    await clock.advance((1000 * (1000 - RATE_LIMIT.burst)) / RATE_LIMIT.perSecond)
    await calls
    expect(server.requests).toHaveLength(1000)
    expect(server.connections).toBeLessThanOrEqual(4)
  })

  test('50 calls one after the other take no connection each', async () => {
    for (let call = 0; call < 50; call += 1) await transport.request(READ)
    expect(server.connections).toBeLessThanOrEqual(2)
  })

  test('watches have their own, so that calls go on beside them', async () => {
    const ending = new AbortController()
    for (let watch = 0; watch < 6; watch += 1) {
      await transport.watch({ path: QUEUES, query: { watch: true } }, ending.signal)
    }
    expect(await transport.request(READ)).toMatchObject({ metadata: { name: 'one' } })
    expect(server.watches).toHaveLength(6)
    ending.abort()
    await until('the end of all watches', () => server.watches.length === 0)
  })

  test('another authority is trusted at the next request, and a watch under way goes on', async () => {
    const query = { watch: true, resourceVersion: server.version }
    const watch = await transport.watch({ path: QUEUES, query }, new AbortController().signal)
    server.changeCertificate(selfSignedCertificate('another'))
    expect(await transport.request(READ)).toMatchObject({ metadata: { name: 'one' } })
    server.watches[0]?.bookmark()
    const { value } = await watch[Symbol.asyncIterator]().next()
    expect(String(value)).toContain('BOOKMARK')
  })

  test('a certificate of another authority is refused', async () => {
    const { tls: _tls, ...wrong } = await server.config.access()
    const config = {
      ...server.config,
      access: async () => ({ ...wrong, tls: { ca: selfSignedCertificate().cert } }),
    }
    const stranger = createTransport({
      config,
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    })
    const error = await faultOf(stranger.request(READ))
    expect([error.fault, error.message]).toEqual(['unavailable', expect.stringContaining('certificate')])
    await stranger.close()
  })
})

describe('what is sent', () => {
  test('fields unknown to us come and go as they are', async () => {
    const body = { spec: { fromTheFuture: { deep: [1, null] } } }
    await transport.request({ ...PAUSE_QUEUE, body })
    expect(server.get(ONE)).toMatchObject({ spec: { fromTheFuture: { deep: [1, null] } } })
    expect(await transport.request(READ)).toMatchObject(body)
  })

  test('a patch carries the content type it is given', async () => {
    await transport.request(PAUSE_QUEUE)
    expect(server.requests.at(-1)?.contentType).toBe('application/merge-patch+json')
  })

  test('the path of the server stands before every request, absent parameters are left out', async () => {
    const config = { ...server.config, server: `${server.url}/clusters/x` }
    const behind = createTransport({
      config,
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    })
    const request = { method: 'GET', path: QUEUES, query: { limit: 1, continue: undefined } } as const
    expect((await faultOf(behind.request(request))).fault).toBe('not_found')
    expect(server.strays).toEqual(['/clusters/x/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues?limit=1'])
    await behind.close()
  })
})

describe('deadlines', () => {
  test.each([
    ['nothing comes', { do: 'hang' }],
    ['the answer stops in its middle', { do: 'stall', bytes: 20 }],
  ] as const)('%s: abandoned after 30 s', async (_what, effect) => {
    server.faults.add({ effect })
    const error = faultOf(transport.request(READ))
    await until('the request', () => server.faults.left === 0)
    await clock.advance(REQUEST_TIMEOUT_MS - 1)
    expect(clock.timers).toBe(1)
    await clock.advance(1)
    expect((await error).message).toBe(
      `Kubernetes API: GET ${ONE} had no answer within ${REQUEST_TIMEOUT_MS} ms`,
    )
    expect(await transport.request(READ)).toMatchObject({ metadata: { name: 'one' } })
  })

  test('a watch that does not begin is abandoned after 30 s, one that has begun is not', async () => {
    server.faults.add({ verb: 'watch', effect: { do: 'hang' } })
    const { signal } = new AbortController()
    const error = faultOf(transport.watch({ path: QUEUES, query: { watch: true } }, signal))
    await until('the request', () => server.faults.left === 0)
    await clock.advance(REQUEST_TIMEOUT_MS)
    expect((await error).fault).toBe('unavailable')
    await transport.watch({ path: QUEUES, query: { watch: true } }, signal)
    await clock.advance(REQUEST_TIMEOUT_MS * 2)
    expect(server.watches).toHaveLength(1)
  })

  test('the caller gives up', async () => {
    server.faults.add({ effect: { do: 'hang' } })
    const giveUp = new AbortController()
    const error = faultOf(transport.request({ ...READ, signal: giveUp.signal }))
    await until('the request', () => server.requests.length === 1)
    giveUp.abort()
    expect((await error).message).toContain('was canceled')
    expect(clock.timers).toBe(0)
  })

  test('an answer without an end is cut off', async () => {
    server.faults.add({ effect: { do: 'flood' } })
    expect((await faultOf(transport.request(READ))).message).toContain('more than 67108864 bytes')
  })

  test('close gives up what is under way', async () => {
    server.faults.add({ effect: { do: 'hang' } })
    const error = faultOf(transport.request(READ))
    await until('the request', () => server.requests.length === 1)
    await transport.close()
    expect((await error).fault).toBe('unavailable')
  })
})

describe('second tries', () => {
  test.each([429, 503])('Retry-After of a %i is waited for, writes too', async (code) => {
    server.faults.add({ effect: { do: 'answer', code, retryAfterSeconds: 2 } })
    const answer = transport.request(PAUSE_QUEUE)
    await advanceAfter(1, 1_999)
    expect(server.requests).toHaveLength(1)
    await clock.advance(1)
    expect(await answer).toMatchObject({ spec: { paused: true } })
    expect(server.requests).toHaveLength(2)
  })

  test('a Retry-After beyond the deadline fails at once', async () => {
    server.faults.add({ effect: { do: 'answer', code: 429, retryAfterSeconds: 40 } })
    const error = await faultOf(transport.request(READ))
    expect([error.fault, error.retryAfterMs]).toEqual(['too_many', 40_000])
  })

  test('a server that always asks for a pause is asked five times', async () => {
    server.faults.add({ times: 99, effect: { do: 'answer', code: 429, retryAfterSeconds: 1 } })
    const error = faultOf(transport.request(READ))
    for (let tries = 1; tries < TRIES_MAX; tries += 1) await advanceAfter(tries, 1_000)
    expect((await error).fault).toBe('too_many')
    expect(server.requests).toHaveLength(TRIES_MAX)
  })

  test.each([
    ['503 without Retry-After', { do: 'answer', code: 503 }],
    ['500 with Retry-After', { do: 'answer', code: 500, retryAfterSeconds: 1 }],
  ] as const)('%s fails at once', async (_what, effect) => {
    server.faults.add({ effect })
    expect((await faultOf(transport.request(READ))).fault).toBe('unavailable')
    expect(server.requests).toHaveLength(1)
  })

  test('a read whose connection breaks is sent once more', async () => {
    server.faults.add({ effect: { do: 'reset' } })
    expect(await transport.request(READ)).toMatchObject({ metadata: { name: 'one' } })
    server.faults.add({ effect: { do: 'cut', bytes: 10 }, times: 2 })
    expect((await faultOf(transport.request(READ))).fault).toBe('unavailable')
    expect(server.requests).toHaveLength(4)
  })

  test('a write whose answer is lost is not sent again', async () => {
    server.faults.add({ verb: 'patch', effect: { do: 'lose-answer' } })
    expect((await faultOf(transport.request(PAUSE_QUEUE))).fault).toBe('unavailable')
    expect(server.requests).toHaveLength(1)
    expect(server.get(ONE)).toMatchObject({ spec: { paused: true } })
  })

  test('a refused token is read again once', async () => {
    const shown = ['old', 'token-1']
    const config = {
      ...server.config,
      access: async () => ({
        headers: { authorization: `Bearer ${shown[0]}` },
        tls: { ca: server.authority },
      }),
      renew: () => void shown.shift(),
    }
    const renewing = createTransport({
      config,
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    })
    expect(await renewing.request(PAUSE_QUEUE)).toMatchObject({ spec: { paused: true } })
    server.tokens.clear()
    expect((await faultOf(renewing.request(READ))).fault).toBe('unauthorized')
    expect(server.requests).toHaveLength(4)
    await renewing.close()
  })
})

describe('a watch whose token is refused', () => {
  test('is not opened again by itself, but the next one shows a fresh token', async () => {
    let token = 'old'
    const config = {
      ...server.config,
      access: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: { ca: server.authority } }),
      renew: () => void (token = 'token-1'),
    }
    const renewing = createTransport({
      config,
      clock,
      metrics: quietClusterMetrics,
      userAgent: 'punctual/test',
    })
    const open = () => renewing.watch({ path: QUEUES, query: { watch: true } }, new AbortController().signal)
    expect((await faultOf(open())).fault).toBe('unauthorized')
    await open()
    expect(server.requests).toHaveLength(2)
    await renewing.close()
  })
})

describe('failures', () => {
  test.each<[number, ResourceApiFault]>([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [410, 'gone'],
    [413, 'invalid'],
    [415, 'invalid'],
    [422, 'invalid'],
    [429, 'too_many'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [504, 'unavailable'],
  ])('%i is %s, in the words of the server', async (code, fault) => {
    server.faults.add({ times: 2, effect: { do: 'answer', code, message: 'because of this' } })
    const error = await faultOf(transport.request(READ))
    expect([error.fault, error.message]).toEqual([fault, 'Kubernetes API: because of this'])
    expect(codes.at(-1)).toEqual(['GET', code])
  })

  test('an answer that is no JSON is a fault, and is not quoted', async () => {
    server.faults.add({ effect: { do: 'garble' } })
    expect((await faultOf(transport.request(READ))).message).toBe('Kubernetes API: the answer is not JSON')
  })

  test('a request without an answer is counted without a code', async () => {
    server.faults.add({ effect: { do: 'reset' } })
    await faultOf(transport.request(PAUSE_QUEUE))
    expect(codes).toEqual([['PATCH', null]])
  })
})
