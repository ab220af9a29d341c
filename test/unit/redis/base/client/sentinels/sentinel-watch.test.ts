import { expect, test } from 'vitest'
import type {
  SentinelListener,
  SentinelView,
} from '../../../../../../src/redis/base/client/sentinels/sentinel.ts'
import { SentinelWatch } from '../../../../../../src/redis/base/client/sentinels/sentinel-watch.ts'
import type { ServerAddress } from '../../../../../../src/redis/base/client/sentinels/sentinel-news.ts'
import { createFakeClock } from '../../../../../support/fake-clock.ts'
import { quietLogger } from '../../../../../support/quiet.ts'

const FIRST = { host: '10.0.0.1', port: 6379 }
const SECOND = { host: '10.0.0.2', port: 6379 }

/** A sentinel that says what a test wants. */
interface Said {
  view: SentinelView | null
  others: ServerAddress[]
  listener: SentinelListener
  isClosed: boolean
}

function start(count = 3) {
  const clock = createFakeClock()
  const said = new Map<string, Said>()
  const events: string[] = []
  const watch = new SentinelWatch({
    sentinels: Array.from({ length: count }, (_, i) => ({ host: `s${i}`, port: 26_379 })),
    open: ({ host }, listener) => {
      const one: Said = {
        view: { primary: FIRST, epoch: 1, isFailingOver: false },
        others: [],
        listener,
        isClosed: false,
      }
      said.set(host, one)
      return {
        // As over a network: what it says is old when it comes.
        read: async () => {
          const { view } = one
          await Promise.resolve()
          if (view === null) throw new Error('away')
          return view
        },
        readOthers: async () => one.others,
        close: () => {
          one.isClosed = true
        },
      }
    },
    clock,
    logger: quietLogger,
    onHalt: () => events.push('halt'),
    onPrimary: () => events.push('primary'),
  })
  const sentinel = (i: number): Said => said.get(`s${i}`) as Said
  const all = (view: SentinelView): void => {
    for (const one of said.values()) one.view = view
  }
  return { clock, said, events, watch, sentinel, all }
}

/** What has come of a promise by now. */
async function now<T>(promise: Promise<T>): Promise<T | 'waits'> {
  const pending = Symbol('pending')
  for (let i = 0; i < 20; i += 1) await Promise.resolve()
  const found = await Promise.race([promise, Promise.resolve(pending)])
  return found === pending ? 'waits' : found
}

test('the newest primary that any sentinel knows is the primary', async () => {
  const { watch, sentinel } = start()
  sentinel(2).view = { primary: SECOND, epoch: 2, isFailingOver: false }
  expect(await watch.primary()).toEqual(SECOND)
  watch.stop()
})

test('a failover halts at its first word, and ends with a newer primary', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(1).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  sentinel(1).listener.heard('begins')
  expect(events).toEqual(['halt'])
  const primary = watch.primary()
  await clock.advance(400)
  expect(await now(primary)).toBe('waits')
  // The others do not know yet.
  sentinel(1).view = { primary: SECOND, epoch: 2, isFailingOver: false }
  sentinel(1).listener.heard('changed')
  await clock.advance(0)
  expect(events).toEqual(['halt', 'primary'])
  await clock.advance(100)
  expect(await now(primary)).toEqual(SECOND)
  watch.stop()
})

test('news that were lost are found out by asking', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(0).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  await clock.advance(1_000)
  expect(events).toEqual(['halt'])
  sentinel(0).view = { primary: SECOND, epoch: 2, isFailingOver: false }
  await clock.advance(100)
  expect(events).toEqual(['halt', 'primary'])
  watch.stop()
})

test('a switch that nobody told of moves connections within a second', async () => {
  const { clock, watch, all, events } = start()
  await clock.advance(10)
  all({ primary: SECOND, epoch: 2, isFailingOver: false })
  await clock.advance(1_000)
  expect(events).toEqual(['primary'])
  watch.stop()
})

test('a failover that comes to nothing ends when its sentinel says so, not when others do', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(1).listener.heard('begins')
  sentinel(1).view = null
  await clock.advance(5_000)
  expect(events).toEqual(['halt'])
  sentinel(1).view = { primary: FIRST, epoch: 1, isFailingOver: false }
  await clock.advance(100)
  expect(events).toEqual(['halt', 'primary'])
  expect(await watch.primary()).toEqual(FIRST)
  watch.stop()
})

test('an answer from before the failover does not end it', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  // The answers of this survey are on their way when the news come.
  const primary = watch.primary()
  sentinel(0).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  sentinel(0).listener.heard('begins')
  expect(await now(primary)).toBe('waits')
  expect(events).toEqual(['halt'])
  watch.stop()
})

test('a sentinel that died in a failover holds nothing up for ever', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(1).listener.heard('begins')
  sentinel(1).view = null
  await clock.advance(7_900)
  expect(events).toEqual(['halt'])
  await clock.advance(300)
  expect(events).toEqual(['halt', 'primary'])
  watch.stop()
})

test('a failover that never ends halts once, until it has ended', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(1).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  sentinel(1).listener.heard('begins')
  await clock.advance(60_000)
  expect(events).toEqual(['halt', 'primary'])
  expect(await watch.primary()).toEqual(FIRST)
  sentinel(1).view = { primary: FIRST, epoch: 1, isFailingOver: false }
  await clock.advance(1_000)
  sentinel(1).listener.heard('begins')
  expect(events).toEqual(['halt', 'primary', 'halt'])
  watch.stop()
})

test('a new address without its epoch is no end of a failover', async () => {
  const { clock, watch, sentinel, events } = start()
  await clock.advance(10)
  sentinel(1).listener.heard('begins')
  sentinel(1).view = { primary: SECOND, epoch: 1, isFailingOver: false }
  await clock.advance(300)
  expect(events).toEqual(['halt'])
  watch.stop()
})

test('a sentinel of an earlier epoch that wants to fail over halts nothing', async () => {
  const { clock, watch, sentinel, all, events } = start()
  all({ primary: SECOND, epoch: 2, isFailingOver: false })
  sentinel(2).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  await clock.advance(3_000)
  sentinel(2).listener.heard('begins')
  await clock.advance(1_000)
  expect(events).toEqual(['primary'])
  watch.stop()
})

test('an older epoch never moves connections back', async () => {
  const { clock, watch, all, events } = start()
  all({ primary: SECOND, epoch: 2, isFailingOver: false })
  await clock.advance(1_000)
  expect(events).toEqual(['primary'])
  all({ primary: FIRST, epoch: 1, isFailingOver: false })
  await clock.advance(5_000)
  expect(events).toEqual(['primary'])
  expect(await watch.primary()).toEqual(SECOND)
  watch.stop()
})

test('it is settled only when each named sentinel says so now', async () => {
  const { clock, watch, sentinel } = start()
  await clock.advance(10)
  expect(await watch.isSettled()).toBe(true)
  sentinel(2).view = null
  expect(await watch.isSettled()).toBe(false)
  sentinel(2).view = { primary: FIRST, epoch: 1, isFailingOver: true }
  expect(await watch.isSettled()).toBe(false)
  watch.stop()
})

test('without an answer of any sentinel there is no primary', async () => {
  const { clock, watch, sentinel } = start(1)
  sentinel(0).view = null
  await clock.advance(10)
  await expect(watch.primary()).rejects.toThrow('No sentinel answers')
  watch.stop()
})

test('others are found by those that were named, and forgotten with them', async () => {
  const { clock, watch, said, sentinel } = start(1)
  sentinel(0).others = [{ host: 'found', port: 26_379 }]
  await clock.advance(31_000)
  expect([...said.keys()]).toEqual(['s0', 'found'])
  sentinel(0).others = []
  // What the one that was found says of others counts, too, so it knows none.
  await clock.advance(31_000)
  expect(said.get('found')?.isClosed).toBe(true)
  expect(sentinel(0).isClosed).toBe(false)
  watch.stop()
  expect(sentinel(0).isClosed).toBe(true)
})
