import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import express from 'express'
import { afterEach, expect, test } from 'vitest'
import { measured } from '../../../../src/api/measuring/measured.ts'

type Answered = readonly unknown[]

let server: Server | null = null
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A server of this listener, and what it counts. The clock goes on by a second with each look at it. */
async function serve(listener: RequestListener) {
  const counted: Answered[] = []
  let nowMs = 0
  const made = createServer(
    measured(listener, {
      requests: {
        answered: (...[method, route, code, seconds]) => void counted.push([method, route, code, seconds]),
        pushShed: () => undefined,
      },
      clock: { monotonicMs: () => (nowMs += 1_000) },
    }),
  )
  server = made
  made.listen(0, '127.0.0.1')
  await once(made, 'listening')
  const { port } = made.address() as AddressInfo
  return { counted, port, url: `http://127.0.0.1:${port}` }
}

test('requests are counted under the templates of their routes', async () => {
  const app = express()
  app.get('/api/jobs/:job_id/calls/:nth', (_, response) => void response.end('{}'))
  app.use((_, response) => void response.status(404).end())
  const { counted, url } = await serve((request, response) => {
    if (request.method === 'POST' && request.url === '/api/jobs') response.writeHead(201).end()
    else app(request, response)
  })
  const bodies = [
    await fetch(`${url}/api/jobs`, { method: 'POST' }),
    await fetch(`${url}/api/jobs/7/calls/1?x=secret`),
    await fetch(`${url}/assets/page-8a7b.js`),
  ]
  for (const body of bodies) await body.arrayBuffer()
  expect(counted).toEqual([
    ['POST', '/api/jobs', 201, 1],
    ['GET', '/api/jobs/{job_id}/calls/{nth}', 200, 1],
    ['GET', 'other', 404, 1],
  ])
})

test('a stream has no duration, and a client that leaves has no code', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const app = express()
  app.get('/api/events', (_, response) => void response.end())
  app.get('/api/jobs', () => arrive())
  const { counted, port, url } = await serve(app)
  await (await fetch(`${url}/api/events`)).arrayBuffer()
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/jobs HTTP/1.1\r\nHost: a\r\n\r\n')
  await arrived
  socket.resetAndDestroy()
  await expect.poll(() => counted.length).toBe(2)
  expect(counted).toEqual([
    ['GET', '/api/events', 200, null],
    ['GET', '/api/jobs', null, expect.any(Number)],
  ])
})
