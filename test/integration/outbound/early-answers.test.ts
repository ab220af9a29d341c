import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connection, type OriginPool } from '../../../src/outbound/connections/connection.ts'
import type { ResponseHead } from '../../../src/outbound/wire/response-head.ts'

/** Longer than a start of a thread on a busy machine. */
const WAIT_MS = 30_000
/** How many clients are connected, and how many of them the target has answered and reset. */
const counts = new Int32Array(new SharedArrayBuffer(8))
const CONNECTED = 0
const RESET = 1
/**
 * A target in a thread of its own answers a client that is connected, and resets the connection without reading. A client
 * that stands still until then finds both at its first write.
 */
const TARGET = `
  const { createServer } = require('node:net')
  const { parentPort, workerData: counts } = require('node:worker_threads')
  const ANSWER = 'HTTP/1.1 413 Too Large\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nno'
  const server = createServer((socket) => {
    Atomics.wait(counts, ${CONNECTED}, counts[${RESET}])
    socket.write(ANSWER, () => {
      socket.resetAndDestroy()
      Atomics.add(counts, ${RESET}, 1)
      Atomics.notify(counts, ${RESET})
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

let target: Worker
let port: number

beforeAll(async () => {
  target = new Worker(TARGET, { eval: true, workerData: counts })
  ;[port] = (await once(target, 'message')) as [number]
})
afterAll(() => target.terminate())

/** What becomes of a request over a connection whose target has answered and reset it before the first byte was written. */
async function sendLate(body: string): Promise<ResponseHead | Error> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const connection = new Connection({} as OriginPool, socket, 0)
  const before = Atomics.add(counts, CONNECTED, 1)
  Atomics.notify(counts, CONNECTED)
  expect(Atomics.wait(counts, RESET, before, WAIT_MS)).not.toBe('timed-out')
  const { promise, resolve } = Promise.withResolvers<ResponseHead | Error>()
  let head: ResponseHead | null = null
  connection.send(`POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`, {
    onResponseBegin: () => undefined,
    onResponseHead: (read) => (head = read),
    onResponseBody: () => undefined,
    onResponseEnd: () => resolve(head ?? new Error('an answer ended without a head')),
    onResponseCut: (note) => resolve(new Error(note)),
    onConnectionError: resolve,
  })
  const answered = await promise
  connection.destroy()
  return answered
}

test.each([2, 900_000])(
  'an answer that came before its request was written counts, although writing fails (%d bytes)',
  async (bytes) => {
    for (let time = 0; time < 20; time += 1) {
      expect(await sendLate('a'.repeat(bytes))).toMatchObject({ status: 413 })
    }
  },
)
