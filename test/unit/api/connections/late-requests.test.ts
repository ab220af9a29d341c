import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientErrorHandler } from '../../../../src/api/connections/client-errors.ts'
import { ConnectionLimiter } from '../../../../src/api/connections/connection-limiter.ts'
import { createFakeClock, type FakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

const TIMEOUT_MS = 100
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n'

let clock: FakeClock
let server: Server
let client: Socket
let received: string

beforeEach(async () => {
  clock = createFakeClock()
  const timeouts = { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, connectionsCheckingInterval: 10 }
  server = createServer(timeouts)
  const connections = new ConnectionLimiter(server, { max: 10, clock, logger: quietLogger })
  server.on('clientError', clientErrorHandler(connections, clock))
  server.on('request', (request, response) => {
    connections.add(request, response)
    request.resume().once('end', () => response.end('here'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  client.destroy()
  server.close()
  server.closeAllConnections()
})

/** The client has sent `before` and the server has read it; then the server stands still while `during` comes. */
async function stallAfter(before: string, during: string): Promise<void> {
  received = ''
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.setNoDelay().on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  const [socket] = (await once(server, 'connection')) as [Socket]
  if (before !== '') client.write(before)
  await until('the server has read it', () => socket.bytesRead === before.length)
  // Behind it stand the timers, and then what has come.
  await new Promise((resolve) => setImmediate(resolve))
  client.write(during)
  const never = new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(never, 0, 0, 3 * TIMEOUT_MS)
}

const isAnswered = () => until('an answer', () => received !== '')

test.for([
  ['a whole request', '', `${HEAD}body`],
  ['the rest of its head', HEAD.slice(0, 20), `${HEAD.slice(20)}body`],
  ['the rest of its body', `${HEAD}bo`, 'dy'],
])(
  'who has sent %s while we stood still is not told that it was slow',
  async ([, before = '', during = '']) => {
    await stallAfter(before, during)
    await isAnswered()
    expect(received).toMatch(/^HTTP\/1\.1 200 OK/)
    await clock.advance(20_000)
    client.write(`${HEAD}body`)
    await until('the connection goes on', () => received.split('HTTP/1.1 200').length === 3)
  },
)

test('who has sent a part meanwhile gets some seconds for the rest, and no more', async () => {
  await stallAfter('POST ', '/ HT')
  await until('it was let go on', () => clock.timers === 1)
  await clock.advance(9_000)
  await quiescence()
  expect(received).toBe('')
  await clock.advance(1_000)
  await isAnswered()
  expect(received).toMatch(/^HTTP\/1\.1 408 /)
})

test('who has sent nothing meanwhile is late', async () => {
  await stallAfter('POST / HT', '')
  await isAnswered()
  expect(received).toMatch(/^HTTP\/1\.1 408 /)
})
