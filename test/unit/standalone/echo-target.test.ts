import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/ports/runtime.ts'
import { createEchoTarget } from '../../../src/standalone/echo-target.ts'

let server: Server
let base: string
/** Waits asked for; each runs when the test says so, zero ones at once. */
let waits: Array<{ readonly delayMs: number; readonly run: () => void }>
let cancelled: number

const clock: Clock = {
  monotonicMs: () => 0,
  wallMs: () => 0,
  after: (delayMs, run) => {
    if (delayMs === 0) run()
    else waits.push({ delayMs, run })
    return () => void (cancelled += 1)
  },
  nextTurn: (run) => run(),
}

beforeEach(async () => {
  waits = []
  cancelled = 0
  server = createServer(createEchoTarget(clock))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const statusOf = async (path: string, id = 'a') =>
  (await fetch(`${base}${path}`, { headers: { 'webhook-id': id } })).status

describe('the echo target', () => {
  it('shows the request as it came', async () => {
    const response = await fetch(`${base}/echo?x=1`, {
      method: 'PUT',
      headers: { 'X-Mine': 'yes' },
      body: '{"n": 1.0}',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({
      method: 'PUT',
      path: '/echo?x=1',
      headers: { 'x-mine': 'yes' },
      body: '{"n": 1.0}',
      body_truncated: false,
      call: 1,
    })
  })

  it('fails the first calls of each id', async () => {
    const path = '/echo?fail=2&status=500'
    expect([await statusOf(path), await statusOf(path), await statusOf(path)]).toEqual([500, 500, 200])
    expect(await statusOf(path, 'b')).toBe(500)
    expect(await statusOf(path)).toBe(200)
  })

  it('fails with 503 unless told otherwise, and a status alone fails nothing', async () => {
    expect(await statusOf('/echo?fail=1')).toBe(503)
    expect(await statusOf('/echo?status=500', 'b')).toBe(200)
    expect(await statusOf('/echo?fail=1&status=204', 'c')).toBe(204)
  })

  it('waits as long as it is told', async () => {
    const arrived = Promise.withResolvers<void>()
    server.on('request', (request: IncomingMessage) => request.on('end', () => arrived.resolve()))
    const status = statusOf('/echo?delay_ms=60000')
    await arrived.promise
    expect(waits.map((wait) => wait.delayMs)).toEqual([60_000])
    waits[0]?.run()
    expect(await status).toBe(200)
  })

  it('forgets the wait when the caller goes away', async () => {
    const arrived = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      request.on('end', () => arrived.resolve())
      response.on('close', () => closed.resolve())
    })
    const controller = new AbortController()
    const gone = fetch(`${base}/echo?delay_ms=5000`, { signal: controller.signal })
    await arrived.promise
    controller.abort()
    await expect(gone).rejects.toThrow('aborted')
    await closed.promise
    expect(cancelled).toBe(1)
  })

  it.each(['fail=-1', 'fail=x', 'status=199', 'status=600', 'delay_ms=60001', 'fail='])(
    'refuses %s',
    async (query) => {
      const response = await fetch(`${base}/echo?${query}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toHaveProperty('error')
    },
  )

  it('shows at most a mebibyte of a body', async () => {
    const response = await fetch(`${base}/echo`, { method: 'POST', body: 'x'.repeat(1024 ** 2 + 1) })
    expect(await response.json()).toMatchObject({ body_truncated: true })
  })

  it('remembers the last ten thousand ids', async () => {
    const target = createEchoTarget(clock)
    const call = (id: string): Promise<number> =>
      new Promise((resolve) => {
        const on = (event: string, run: () => void) => void (event === 'end' && queueMicrotask(run))
        const request = {
          socket: { remoteAddress: '127.0.0.1' },
          url: '/echo?fail=1',
          headers: { 'webhook-id': id },
          on,
        }
        const response = { writeHead: resolve, end: () => undefined, once: () => undefined }
        target(request as unknown as IncomingMessage, response as unknown as ServerResponse)
      })
    expect(await call('first')).toBe(503)
    for (let index = 0; index < 9_999; index += 1) await call(`id-${index}`)
    expect(await call('first')).toBe(200)
    for (let index = 0; index < 10_000; index += 1) await call(`more-${index}`)
    expect(await call('first')).toBe(503)
  })

  it('answers only to its own machine', () => {
    let status = 0
    const request = {
      socket: { remoteAddress: '10.0.0.1' },
      url: '/echo',
      headers: {},
      resume: () => undefined,
    }
    const response = { writeHead: (code: number) => void (status = code), end: () => undefined }
    createEchoTarget(clock)(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    expect(status).toBe(404)
  })
})
