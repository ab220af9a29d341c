import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { TIMEOUT_SECONDS_MIN } from '../../../../src/domain/limits.ts'
import { PORT_WAIT_MS_MAX, PORT_WAIT_MS_MIN, PORT_WAITS_MAX } from '../../../../src/outbound/bounds.ts'
import { ConnectionFailedError } from '../../../../src/outbound/call-failure.ts'
import { waitForPorts } from '../../../../src/outbound/connections/port-waits.ts'
import type { OpenSocket } from '../../../../src/outbound/connections/socket-opener.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const EXHAUSTED = '192.0.2.1'
const socket = new Socket()

function noPort(address = EXHAUSTED): Error {
  return Object.assign(new Error('connect EADDRNOTAVAIL'), { code: 'EADDRNOTAVAIL', address })
}

function setUp(errorOf: () => Error | null = noPort) {
  const clock = createFakeClock()
  const looks: number[] = []
  const givenUp: unknown[] = []
  const inner: OpenSocket = ({ addresses: [address = ''], secure }, { onTlsStart, onOpen, onError }) => {
    looks.push(clock.monotonicMs())
    let isCancelled = false
    queueMicrotask(() => {
      const error = address === EXHAUSTED ? errorOf() : null
      if (isCancelled) return
      if (error === null && secure) onTlsStart()
      else if (error === null) onOpen(socket)
      else onError(error)
    })
    return () => (isCancelled = true)
  }
  const open = waitForPorts(inner, clock, (fields) => givenUp.push(fields))
  const start = (address: string, port = 80, secure = false) => {
    const ends: unknown[] = []
    const cancel = open(
      { host: 'target', port, secure, addresses: [address], refusalOf: () => null },
      {
        onTlsStart: () => ends.push('tls'),
        onOpen: () => ends.push('open'),
        onError: (error) => ends.push(error),
      },
    )
    return { ends, cancel }
  }
  return { clock, looks, givenUp, start }
}

describe('a target without a free port', () => {
  test('is looked at again a few times, and then the call ends before its deadline', async () => {
    const { clock, looks, givenUp, start } = setUp()
    const { ends } = start(EXHAUSTED)
    await clock.advance(PORT_WAITS_MAX * PORT_WAIT_MS_MAX)
    expect(ends).toEqual([
      new ConnectionFailedError('This machine has no free port for a connection to the target.'),
    ])
    expect(looks).toHaveLength(1 + PORT_WAITS_MAX)
    expect(givenUp).toEqual([{ port: 80, addresses: [EXHAUSTED] }])
    expect(PORT_WAITS_MAX * PORT_WAIT_MS_MAX).toBeLessThan(TIMEOUT_SECONDS_MIN * 1000)
    expect(clock.timers).toBe(0)
  })

  test('holds up no other target, address or port', async () => {
    const { clock, start } = setUp()
    start(EXHAUSTED)
    await clock.advance(1)
    const others = [start('192.0.2.2'), start('192.0.2.2', 443)]
    await clock.advance(0)
    expect(others.map(({ ends }) => ends)).toEqual([['open'], ['open']])
  })

  test('is looked at once for a thousand calls that wait', async () => {
    const { clock, looks, start } = setUp()
    start(EXHAUSTED)
    await clock.advance(1)
    const calls = Array.from({ length: 1_000 }, () => start(EXHAUSTED))
    await clock.advance(PORT_WAITS_MAX * PORT_WAIT_MS_MAX)
    expect(looks.length).toBeLessThanOrEqual(2 * (1 + PORT_WAITS_MAX))
    for (const { ends } of calls)
      expect(ends).toEqual([
        new ConnectionFailedError('This machine has no free port for a connection to the target.'),
      ])
  })

  test('is looked at ever more seldom, up to a bound', async () => {
    const { clock, looks, start } = setUp()
    for (let ms = 0; ms < 2_000; ms += 1) {
      start(EXHAUSTED)
      await clock.advance(1)
    }
    const pauses = looks.slice(1).map((ms, at) => ms - (looks[at] ?? 0))
    expect(pauses.slice(0, 3)).toEqual([PORT_WAIT_MS_MIN, 2 * PORT_WAIT_MS_MIN, 4 * PORT_WAIT_MS_MIN])
    expect(new Set(pauses.slice(3))).toEqual(new Set([PORT_WAIT_MS_MAX]))
  })

  test('is called as before once a port is free', async () => {
    let isFull = true
    const { clock, looks, start } = setUp(() => (isFull ? noPort() : null))
    const waiting = start(EXHAUSTED)
    await clock.advance(1)
    isFull = false
    await clock.advance(PORT_WAIT_MS_MIN)
    expect(waiting.ends).toEqual(['open'])
    const next = start(EXHAUSTED)
    await clock.advance(0)
    expect(next.ends).toEqual(['open'])
    expect(looks).toHaveLength(3)
  })

  test.each([
    ['connected', false, 'open'],
    ['in its TLS handshake', true, 'tls'],
  ])('is out of ports for the first time again once a call is %s', async (_name, secure, end) => {
    let isFull = true
    const { clock, looks, start } = setUp(() => (isFull ? noPort() : null))
    start(EXHAUSTED)
    await clock.advance(PORT_WAITS_MAX * PORT_WAIT_MS_MAX)
    isFull = false
    const { ends } = start(EXHAUSTED, 80, secure)
    await clock.advance(PORT_WAIT_MS_MAX)
    expect(ends).toEqual([end])
    isFull = true
    start(EXHAUSTED)
    await clock.advance(PORT_WAIT_MS_MIN)
    expect((looks.at(-1) ?? 0) - (looks.at(-2) ?? 0)).toBe(PORT_WAIT_MS_MIN)
  })

  test('is left alone once the call is cancelled, while it waits or looks', async () => {
    const { clock, looks, start } = setUp()
    const looking = start(EXHAUSTED)
    looking.cancel()
    await clock.advance(1_000)
    expect(looks).toHaveLength(1)
    const waiting = start(EXHAUSTED)
    await clock.advance(1)
    waiting.cancel()
    await clock.advance(1_000)
    expect(looks).toHaveLength(2)
    expect([...looking.ends, ...waiting.ends]).toEqual([])
    expect(clock.timers).toBe(0)
  })
})

test.each([
  ['refused', Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: EXHAUSTED })],
  ['out of files', Object.assign(new Error('files'), { code: 'EMFILE', address: EXHAUSTED })],
  ['an IPv6 address that this machine cannot use', noPort('2001:db8::1')],
])('%s is told at once', async (_name, error) => {
  const { clock, looks, start } = setUp(() => error)
  const { ends } = start(EXHAUSTED)
  await clock.advance(0)
  expect(ends).toEqual([error])
  expect(looks).toHaveLength(1)
})
