import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import {
  Confirmation,
  type ConfirmationOptions,
} from '../../../../../src/redis/base/durability/confirmation.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'

type Connection = ConfirmationOptions['connection']

/** A server whose answers a test gives: what it is sent is noted in order. */
function setUp({ isSettled = false } = {}) {
  const clock = createFakeClock()
  const sent: string[] = []
  const waits: Array<{ answer(count: number): void; fail(): void }> = []
  const readyListeners: Array<() => void> = []
  const server = { replicas: 2 }
  const connection = {
    evalsha: (sha: string) => {
      sent.push(sha)
      return Promise.resolve(`did ${sha}`)
    },
    info: () =>
      Promise.resolve(
        Array.from(
          { length: server.replicas },
          (_, i) => `slave${i}:ip=10.0.0.${i},port=6379,state=online,offset=1,lag=0\r\n`,
        ).join('') + 'slave9:ip=10.0.0.9,port=6379,state=wait_bgsave,offset=0,lag=0\r\n',
      ),
    on: (event: string, listener: () => void) => {
      if (event === 'ready') readyListeners.push(listener)
    },
    wait: (count: number, ms: number) => {
      sent.push(`wait ${count} ${ms}`)
      return new Promise<number>((resolve, reject) => {
        waits.push({ answer: resolve, fail: () => reject(new Error('Connection is closed.')) })
      })
    },
  } as unknown as Connection
  const confirmation = new Confirmation({
    connection,
    clock,
    hasSentinels: true,
    isSettled: () => Promise.resolve(isSettled),
  })
  const push = (name: string) => confirmation.confirmed((over) => over.evalsha(name, 0))
  const reconnect = () => readyListeners.forEach((listener) => listener())
  return { clock, confirmation, sent, waits, server, push, reconnect }
}

describe('a step is confirmed', () => {
  test('by a WAIT for all replicas that are in step, right behind it', async () => {
    const { confirmation, sent, waits, push, clock } = setUp()
    await confirmation.start()
    const pushed = push('a')
    await clock.advance(0)
    expect(sent).toEqual(['a', 'wait 2 500'])
    waits[0]?.answer(2)
    expect(await pushed).toBe('did a')
    confirmation.stop()
    expect(clock.timers).toBe(0)
  })

  test('together with all others that were sent during the WAIT before', async () => {
    const { confirmation, sent, waits, push, clock } = setUp()
    await confirmation.start()
    const pushes = [push('a'), push('b'), push('c')]
    await clock.advance(0)
    expect(sent).toEqual(['a', 'wait 2 500', 'b', 'c'])
    waits[0]?.answer(2)
    expect(await pushes[0]).toBe('did a')
    await clock.advance(0)
    expect(sent.slice(4)).toEqual(['wait 2 500'])
    waits[1]?.answer(2)
    expect(await Promise.all(pushes)).toEqual(['did a', 'did b', 'did c'])
  })
})

describe('a step is not confirmed', () => {
  test('by fewer replicas than there were', async () => {
    const { confirmation, waits, push, clock } = setUp()
    await confirmation.start()
    const pushed = push('a')
    await clock.advance(0)
    waits[0]?.answer(1)
    await expect(pushed).rejects.toThrow(StoreUnavailableError)
  })

  test('when the connection ends', async () => {
    const { confirmation, waits, push, clock } = setUp()
    await confirmation.start()
    const pushed = push('a')
    await clock.advance(0)
    waits[0]?.fail()
    await expect(pushed).rejects.toThrow(StoreUnavailableError)
  })

  test('by a WAIT on the next connection, which may lead to another server', async () => {
    const { confirmation, sent, waits, push, reconnect, clock } = setUp()
    await confirmation.start()
    const first = push('a')
    const second = push('b')
    await clock.advance(0)
    reconnect()
    waits[0]?.fail()
    await expect(first).rejects.toThrow(StoreUnavailableError)
    await clock.advance(0)
    expect(sent).toEqual(['a', 'wait 2 500', 'b', 'wait 2 500'])
    waits[1]?.answer(2)
    await expect(second).rejects.toThrow(StoreUnavailableError)
  })
})

describe('the replicas that must confirm', () => {
  const neededNow = async ({ push, sent, waits, clock }: ReturnType<typeof setUp>) => {
    push('x').catch(() => undefined)
    await clock.advance(0)
    waits.at(-1)?.answer(9)
    await clock.advance(0)
    return sent.at(-1)
  }

  test('are counted each second, and a new one counts at once', async () => {
    const world = setUp()
    await world.confirmation.start()
    world.server.replicas = 3
    await world.clock.advance(1_000)
    expect(await neededNow(world)).toBe('wait 3 500')
    world.confirmation.stop()
  })

  test('are not fewer on another server until it is known that none is missing', async () => {
    const world = setUp()
    await world.confirmation.start()
    world.server.replicas = 1
    world.reconnect()
    expect(await neededNow(world)).toBe('wait 2 500')
    await world.clock.advance(11_000)
    expect(await neededNow(world)).toBe('wait 1 500')
  })

  test('are fewer at once when the sentinels know of no failover', async () => {
    const world = setUp({ isSettled: true })
    await world.confirmation.start()
    world.server.replicas = 1
    world.reconnect()
    expect(await neededNow(world)).toBe('wait 1 500')
  })
})
