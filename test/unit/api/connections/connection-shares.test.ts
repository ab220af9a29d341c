import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiServer } from '../../../../src/api/api-server.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

/** All of 127.0.0.0/8 is this machine's on Linux alone. */
const hasAddresses = process.platform === 'linux'
const GREEDY = '127.0.0.2'
const OTHER = '127.0.0.3'
const HALF = 'GET / HTTP/1.1\r\nHost: x\r\n'
const WHOLE = `${HALF}\r\n`
const MAX = 20
const CROWDED = 16

let clock: FakeClock
let server: ApiServer
let port: number
let lines: unknown[][]
let listener: RequestListener
let sockets: Socket[]

beforeEach(async (context) => {
  if (!hasAddresses) context.skip('this machine has no address but 127.0.0.1')
  clock = createFakeClock()
  lines = []
  sockets = []
  listener = (_request, response) => void response.end('here')
  const logger: Logger = { ...quietLogger, warn: (...line) => void lines.push(line) }
  server = new ApiServer({
    listener: (request, response) => listener(request, response),
    clock,
    logger,
    connectionsMax: MAX,
  })
  ;({ port } = await server.listen(0, '127.0.0.1'))
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close(0)
})

interface Client {
  readonly socket: Socket
  readonly received: () => string
  readonly isOpen: () => boolean
}

/** Resolves when the server has taken it; `bytes` go with it. */
async function open(localAddress: string, bytes = ''): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  let received = ''
  let isOpen = true
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => (isOpen = false))
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return { socket, received: () => received, isOpen: () => isOpen }
}

async function openMany(count: number, localAddress: string, bytes?: string): Promise<Client[]> {
  const clients: Client[] = []
  for (let i = 0; i < count; i += 1) clients.push(await open(localAddress, bytes))
  return clients
}

/** The answer to a request on a connection of its own. */
async function ask(localAddress: string): Promise<string> {
  const client = await open(localAddress, WHOLE)
  await until('its end', () => !client.isOpen() || client.received().includes('here'))
  return client.received().slice(0, 12)
}

const openOf = (clients: readonly Client[]) => clients.map(({ isOpen }) => isOpen())

describe('half of a request on every connection that there may be', () => {
  test('keeps nobody out, from another address or the same, however often it is renewed', async () => {
    const greedy = await openMany(MAX, GREEDY, HALF)
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 10; i += 1) {
        expect(await ask(OTHER)).toBe('HTTP/1.1 200')
        expect(await ask(GREEDY)).toBe('HTTP/1.1 200')
      }
      greedy.push(...(await openMany(MAX, GREEDY, HALF)))
    }
    await until('their end', () => openOf(greedy).filter(Boolean).length <= MAX)
    expect(lines).toEqual([['Connections are closed to make room', { closed: 1, max: MAX, address: GREEDY }]])
  })

  test('costs those of the address that has most of them, the oldest first, and none that waits for its answer', async () => {
    const answers: ServerResponse[] = []
    listener = (_request, response) => void answers.push(response)
    const busy = await openMany(2, GREEDY, WHOLE)
    const idle = await openMany(4, OTHER)
    await until('the requests', () => answers.length === 2)
    const greedy = await openMany(CROWDED - 5, GREEDY, HALF)
    await clock.advance(2_000)
    const more = await openMany(3, OTHER, HALF)
    await until('three ends', () => openOf(greedy).filter(Boolean).length === CROWDED - 8)
    expect(openOf(greedy).slice(0, 3)).toEqual([false, false, false])
    expect(openOf([...busy, ...idle, ...more])).not.toContain(false)
    for (const answer of answers) answer.end('here')
    await until('the answers', () => busy.every(({ received }) => received().endsWith('here')))
  })

  test('is told from a request that may still be on its way', async () => {
    const answers: ServerResponse[] = []
    listener = (_request, response) => void answers.push(response)
    const busy = await openMany(CROWDED, GREEDY, WHOLE)
    await until('the requests', () => answers.length === CROWDED)
    const fresh = await openMany(MAX - CROWDED, GREEDY)
    await clock.advance(1_000)
    for (const { socket } of fresh) socket.write(WHOLE)
    await until('their requests', () => answers.length === MAX)
    expect(openOf([...busy, ...fresh])).not.toContain(false)
    expect(lines).toEqual([])
  })
})

describe('requests on every connection that there may be', () => {
  const answers: ServerResponse[] = []
  beforeEach(() => {
    answers.length = 0
    listener = (request, response) => {
      request.resume()
      answers.push(response)
    }
  })
  const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf'

  test('are of no use to a burst of the same address: it is refused, until some have taken long', async () => {
    const busy = await openMany(MAX, GREEDY, WHOLE)
    await until('the requests', () => answers.length === MAX)
    const excess = await open(GREEDY, WHOLE)
    await until('its end', () => !excess.isOpen())
    expect(openOf(busy)).not.toContain(false)
    expect(lines).toEqual([
      ['Connections are refused: the connection limit is reached', { refused: 1, max: MAX }],
    ])
    await clock.advance(11_000)
    const late = await open(GREEDY, WHOLE)
    await until('the oldest end', () => busy[0]?.isOpen() === false)
    await until('its request', () => answers.length === MAX + 1)
    expect(openOf([...busy.slice(1), late])).not.toContain(false)
  })

  test('keep no other address out: the oldest goes, first one whose body is still to come', async () => {
    const whole = await openMany(MAX - 1, GREEDY, WHOLE)
    const half = await open(GREEDY, POST)
    await until('the requests', () => answers.length === MAX)
    const others = [await open(OTHER, WHOLE)]
    await until('the end of the half one', () => !half.isOpen())
    expect(openOf(whole)).not.toContain(false)
    others.push(await open(OTHER, WHOLE))
    await until('the end of the oldest', () => whole[0]?.isOpen() === false)
    await until('the requests', () => answers.length === MAX + 2)
    expect(openOf([...whole.slice(1), ...others])).not.toContain(false)
    for (const answer of answers.slice(-2)) answer.end('here')
    await until('the answers', () => others.every(({ received }) => received().endsWith('here')))
  })

  test('with bodies to come leave room for their own address, too', async () => {
    const half = await openMany(MAX, GREEDY, POST)
    await until('the requests', () => answers.length === MAX)
    const whole = await open(GREEDY, WHOLE)
    await until('its request', () => answers.length === MAX + 1)
    expect(openOf([...half, whole]).filter((isOpen) => !isOpen)).toEqual([false])
    expect(half[0]?.isOpen()).toBe(false)
  })
})
