import { once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { EventStreams } from '../../../../src/api/events/event-streams.ts'
import type { Principal } from '../../../../src/domain/access/principal.ts'
import type { LiveReading } from '../../../../src/ports/live/live.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { BEARER, startApi, type RunningApi } from '../api-fixture.ts'

const FIGURES = { pending: 1, inFlight: 0, startable: 0, stopped: 0, oldestStartable: null, unreadAlerts: 0 }
const READING: LiveReading = { figures: FIGURES, changed: new Set(), marks: [] }
const CHECK_MS = 60_000
const HEARTBEAT_MS = 15_000

let api: RunningApi | null = null
let streams: EventStreams | null = null
const opened: IncomingMessage[] = []
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.destroy()
  await streams?.close()
  await api?.close()
})

async function start(streamsMax?: number) {
  let principal: Principal | null = aPrincipal('default')
  const clock = createFakeClock()
  const reader = { read: () => Promise.resolve([READING]) }
  streams = new EventStreams({
    reader,
    clock,
    logger: quietLogger,
    ...(streamsMax !== undefined && { streamsMax }),
  })
  api = await startApi({ events: streams, tokens: { principalOf: () => principal } })
  const { port } = api
  return { port, clock, streams, become: (next: Principal | null) => (principal = next) }
}

interface Opened {
  readonly response: IncomingMessage
  text(): string
}

function open(port: number, method = 'GET'): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const options = { port, path: '/api/events', method, headers: BEARER, agent: false }
    get(options, (response) => {
      let text = ''
      opened.push(response)
      response.on('error', () => undefined)
      response.on('data', (piece: Buffer) => (text += String(piece)))
      resolve({ response, text: () => text })
    }).once('error', reject)
  })
}

const statusOf = async (port: number) => (await open(port)).response.statusCode

test('a stream begins with the figures, is not stored or changed on its way, and ends with the API', async () => {
  const { port, streams } = await start()
  const { response, text } = await open(port)
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  await expect.poll(text).toContain('event: figures\ndata: {"pending":1,')
  const ended = once(response, 'end')
  await streams.close()
  await ended
  expect(await statusOf(port)).toBe(503)
})

test('a HEAD is answered without a stream', async () => {
  const { port } = await start()
  const { response } = await open(port, 'HEAD')
  expect(response.statusCode).toBe(200)
  await expect.poll(() => response.complete).toBe(true)
})

test('heartbeats come, and the stream ends when the right to read has gone', async () => {
  const { port, clock, become } = await start()
  const { response, text } = await open(port)
  await clock.advance(CHECK_MS)
  await expect.poll(text).toMatch(/\n:\n\n/)
  expect(response.readableEnded).toBe(false)
  become(aPrincipal('default', { permissions: new Set() }))
  const ended = once(response, 'end')
  await clock.advance(CHECK_MS)
  await ended
})

test('a client that does not read the end of its stream loses its place all the same', async () => {
  const { port, clock, streams } = await start(4)
  // What was written never leaves.
  const stuck = new Writable({ write: () => undefined })
  const response = Object.assign(stuck, { writeHead: () => stuck }) as unknown as ServerResponse
  const isStillAllowed = () => Promise.resolve(false)
  streams.open({ principal: aPrincipal('default'), response, isHead: false, isStillAllowed })
  await clock.advance(CHECK_MS)
  expect([stuck.writableEnded, stuck.destroyed, await statusOf(port)]).toEqual([true, false, 429])
  await clock.advance(HEARTBEAT_MS)
  expect([stuck.destroyed, await statusOf(port)]).toEqual([true, 200])
})

test('streams of a subject, of a team and of a process are bounded, and room comes back', async () => {
  const { port, become } = await start(4)
  const first = await open(port)
  expect(await statusOf(port)).toBe(429)
  become(aPrincipal('default', { subject: 'b' }))
  expect(await statusOf(port)).toBe(200)
  become(aPrincipal('default', { subject: 'c' }))
  const refused = await open(port)
  expect(refused.response.statusCode).toBe(429)
  await expect.poll(refused.text).toContain('The team already has its share')
  for (const team of ['shop', 'mail']) {
    become(aPrincipal(team))
    expect(await statusOf(port)).toBe(200)
  }
  become(aPrincipal('late'))
  expect(await statusOf(port)).toBe(503)
  first.response.destroy()
  await expect.poll(() => statusOf(port)).toBe(200)
})

test('a user gets no more by reading in many teams', async () => {
  const { port, become } = await start(12)
  const inTeam = (team: string) => aPrincipal(team, { kind: 'user', subject: 'ann' })
  become(inTeam('a'))
  expect(await statusOf(port)).toBe(200)
  become(inTeam('b'))
  expect(await statusOf(port)).toBe(200)
  become(inTeam('c'))
  expect(await statusOf(port)).toBe(429)
  become(aPrincipal('c', { subject: 'ann' }))
  expect(await statusOf(port)).toBe(200)
})

test('tokens that share a rate limit share what one token may have', async () => {
  const { port, become } = await start(12)
  const rates = [{ name: 'maker', requestsPerSecond: 1, burst: 1 }]
  const statuses = []
  for (const subject of ['maker', 'x', 'y']) {
    become(aPrincipal('default', { subject, rates }))
    statuses.push(await statusOf(port))
  }
  expect(statuses).toEqual([200, 200, 429])
})

test('when five tokens of a team hold all that it can get, the dashboards of another team open', async () => {
  const { port, become } = await start()
  let held = 0
  for (const subject of ['1', '2', '3', '4', '5']) {
    become(aPrincipal('a', { subject }))
    const statuses = await Promise.all(Array.from({ length: 250 }, () => statusOf(port)))
    held += statuses.filter((status) => status === 200).length
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
  }
  expect(held).toBeGreaterThan(500)
  become(aPrincipal('b'))
  const others = await Promise.all(Array.from({ length: 50 }, () => statusOf(port)))
  expect(others).toEqual(Array.from({ length: 50 }, () => 200))
})
