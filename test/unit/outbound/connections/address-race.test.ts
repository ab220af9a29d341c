import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { CONNECTION_ATTEMPT_DELAY_MS } from '../../../../src/outbound/bounds.ts'
import { ExtraAttempts, raceAddresses } from '../../../../src/outbound/connections/address-race.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const REFUSED = new Error('refused')

/** A race over sockets that connect when the test says so. */
async function begin(
  addresses: readonly string[],
  refused: readonly string[] = [],
  extraAttempts = new ExtraAttempts(10),
) {
  const clock = createFakeClock()
  const sockets = new Map<string, Socket>()
  const failures: string[] = []
  const ends: unknown[] = []
  const cancel = raceAddresses({
    clock,
    addresses,
    extraAttempts,
    refusalOf: (address) => (refused.includes(address) ? REFUSED : null),
    connect: (address) => {
      const socket = new Socket()
      sockets.set(address, socket)
      return socket
    },
    onFailure: (address) => failures.push(address),
    onConnect: (socket) => ends.push(socket),
    onError: (error) => ends.push(error),
  })
  expect([...sockets.keys()]).toEqual([])
  await clock.advance(0)
  const of = (address: string) => sockets.get(address) as Socket
  return {
    clock,
    ends,
    failures,
    cancel,
    socket: of,
    tried: () => [...sockets.keys()],
    open: () => [...sockets.keys()].filter((address) => !of(address).destroyed),
    connect: (address: string) => of(address).emit('connect'),
    fail: (address: string, error = new Error(address)) => of(address).destroy(error),
  }
}

test('each address has a head start, and those before go on', async () => {
  const race = await begin(['a', 'b', 'c'])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS - 1)
  expect(race.tried()).toEqual(['a'])
  await race.clock.advance(1)
  expect(race.tried()).toEqual(['a', 'b'])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS)
  expect(race.open()).toEqual(['a', 'b', 'c'])
  await race.clock.advance(60_000)
  expect([race.open(), race.ends, race.clock.timers]).toEqual([['a', 'b', 'c'], [], 0])
  race.connect('a')
  expect(race.ends).toEqual([race.socket('a')])
  expect(race.open()).toEqual(['a'])
})

test('the first that connects wins, once, and the others are closed', async () => {
  const race = await begin(['a', 'b', 'c'])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS)
  race.connect('b')
  race.connect('a')
  await race.clock.advance(60_000)
  expect(race.ends).toEqual([race.socket('b')])
  expect([race.tried(), race.open(), race.failures]).toEqual([['a', 'b'], ['b'], []])
  expect(race.clock.timers).toBe(0)
})

test('one that fails lets the next begin at once, with a head start of its own', async () => {
  const race = await begin(['a', 'b', 'c'])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS - 10)
  race.fail('a')
  await race.clock.advance(0)
  expect([race.tried(), race.failures]).toEqual([['a', 'b'], ['a']])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS - 1)
  expect(race.tried()).toEqual(['a', 'b'])
  await race.clock.advance(1)
  expect(race.tried()).toEqual(['a', 'b', 'c'])
})

test('when all have failed, the error says all of it, and only then', async () => {
  const race = await begin(['a', 'b'])
  await race.clock.advance(CONNECTION_ATTEMPT_DELAY_MS)
  race.fail('b')
  await race.clock.advance(0)
  expect(race.ends).toEqual([])
  race.fail('a')
  await race.clock.advance(0)
  expect(race.ends).toEqual([expect.any(AggregateError)])
  expect((race.ends[0] as AggregateError).errors.map((error: Error) => error.message)).toEqual(['b', 'a'])
})

test('a single address gives its own error, also when it just closes', async () => {
  const refused = new Error('no')
  const first = await begin(['a'])
  first.fail('a', refused)
  await first.clock.advance(0)
  expect(first.ends).toEqual([refused])
  const second = await begin(['a'])
  second.socket('a').destroy()
  await second.clock.advance(0)
  expect(second.ends).toEqual([expect.objectContaining({ code: 'ECONNRESET' })])
})

test('an address that may not be reached any more is never tried', async () => {
  const race = await begin(['a', 'b', 'c'], ['a', 'c'])
  expect(race.tried()).toEqual(['b'])
  race.fail('b')
  await race.clock.advance(60_000)
  expect(race.tried()).toEqual(['b'])
  expect((race.ends[0] as AggregateError).errors).toEqual([REFUSED, expect.any(Error), REFUSED])
  for (const all of [['a'], ['a', 'b']]) {
    const none = await begin(all, all)
    expect([none.ends, none.tried()]).toEqual([[REFUSED], []])
  }
})

/** How many attempts are left. */
function left(extraAttempts: ExtraAttempts): number {
  let count = 0
  while (extraAttempts.take()) count += 1
  for (let at = 0; at < count; at += 1) extraAttempts.giveBack()
  return count
}

test('attempts beside each other are bounded over all races, and a further one takes the place of the oldest', async () => {
  const extraAttempts = new ExtraAttempts(2)
  const first = await begin(['a', 'b', 'c'], [], extraAttempts)
  await first.clock.advance(2 * CONNECTION_ATTEMPT_DELAY_MS)
  expect([first.open(), left(extraAttempts)]).toEqual([['a', 'b', 'c'], 0])
  const second = await begin(['d', 'e', 'f'], [], extraAttempts)
  await second.clock.advance(CONNECTION_ATTEMPT_DELAY_MS)
  expect(second.open()).toEqual(['e'])
  first.fail('a')
  await first.clock.advance(0)
  expect(left(extraAttempts)).toBe(1)
  await second.clock.advance(CONNECTION_ATTEMPT_DELAY_MS)
  expect([second.open(), left(extraAttempts)]).toEqual([['e', 'f'], 0])
  second.fail('e')
  second.fail('f')
  await second.clock.advance(0)
  expect((second.ends[0] as AggregateError).errors).toEqual([
    expect.objectContaining({ code: 'ETIMEDOUT' }),
    new Error('e'),
    new Error('f'),
  ])
  first.connect('b')
  expect(left(extraAttempts)).toBe(2)
})

test.each(['a win', 'a failure', 'a cancel'])('%s gives all attempts back', async (end) => {
  const extraAttempts = new ExtraAttempts(2)
  const race = await begin(['a', 'b', 'c'], [], extraAttempts)
  await race.clock.advance(2 * CONNECTION_ATTEMPT_DELAY_MS)
  if (end === 'a win') race.connect('c')
  else if (end === 'a cancel') race.cancel()
  else for (const address of ['b', 'a', 'c']) race.fail(address)
  await race.clock.advance(0)
  expect(left(extraAttempts)).toBe(2)
})

test('a race that is cancelled tries and says nothing more', async () => {
  const race = await begin(['a', 'b'])
  race.cancel()
  await race.clock.advance(60_000)
  expect([race.tried(), race.open(), race.ends, race.clock.timers]).toEqual([['a'], [], [], 0])
})
