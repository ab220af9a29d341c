import { describe, expect, test } from 'vitest'
import { BACKOFF_MAX_MS } from '../../../../src/kubernetes/informer/backoff.ts'
import { until } from '../../../support/until.ts'
import {
  bookmark,
  names,
  passPause,
  put,
  sent,
  startWatching,
  watch,
  watchOpen,
  world,
  useInformerWorld,
} from './informer-world.ts'

useInformerWorld()

describe('failures in a row', () => {
  test('watches that end after an event cause no relist', async () => {
    await startWatching()
    for (let failures = 1; failures <= 6; failures += 1) {
      await watchOpen()
      if (failures % 3 === 0) await bookmark()
      watch().reset()
      await passPause(failures)
    }
    await watchOpen()
    expect([sent('list'), sent('watch')]).toEqual([1, 7])
  })

  test('trap: a server that ends every watch at once is asked with backoff, one request at a time', async () => {
    await startWatching()
    for (let failures = 1; failures <= 10; failures += 1) {
      await watchOpen()
      watch().end()
      await passPause(failures)
    }
    await watchOpen()
    expect(sent('watch')).toBe(11)
    expect(world.pauses.slice(0, 6)).toEqual([1_200, 2_400, 4_800, 7_500, 7_500, 7_500])
    expect(Math.max(...world.pauses)).toBeLessThanOrEqual(BACKOFF_MAX_MS)
  })

  test('the backoff starts over after two healthy minutes', async () => {
    await startWatching()
    for (let failures = 1; failures <= 3; failures += 1) {
      await watchOpen()
      watch().reset()
      await passPause(failures)
    }
    await watchOpen()
    await world.clock.advance(120_000)
    watch().reset()
    await until('the failure', () => world.pauses.length === 4)
    expect(world.pauses).toEqual([1_200, 2_400, 4_800, 1_200])
  })

  test('the copy stays readable while the server is unavailable', async () => {
    put('one')
    await startWatching()
    world.server.faults.add({ times: 20, effect: { do: 'reset' } })
    world.server.cutAll()
    for (let failures = 1; failures <= 12; failures += 1) await passPause(failures)
    expect([names(), world.informer.isSynced()]).toEqual([['one'], true])
    put('two')
    world.server.faults.clear()
    await passPause(13)
    await until('the event', () => names().length === 2)
    expect(sent('list')).toBe(1)
  })
})

describe('stop', () => {
  test('trap: during the pause after a failure it leaves no watch behind', async () => {
    await startWatching()
    watch().reset()
    await until('the pause', () => world.pauses.length === 1)
    await world.informer.stop()
    const requests = world.server.requests.length
    await world.clock.advance(BACKOFF_MAX_MS * 10)
    expect([world.clock.timers, world.server.requests.length, world.server.watches.length]).toEqual([
      0,
      requests,
      0,
    ])
  })

  test.each([
    ['the list', 'list'],
    ['the beginning of the watch', 'watch'],
  ] as const)('trap: during %s it leaves nothing behind', async (_when, verb) => {
    world.server.faults.add({ verb, effect: { do: 'hang' } })
    world.informer.start()
    await until('the request', () => sent(verb) === 1)
    await world.informer.stop()
    world.informer.start()
    await world.clock.advance(BACKOFF_MAX_MS)
    expect([world.clock.timers, sent(verb), world.pauses]).toEqual([0, 1, []])
  })

  test('trap: ends a watch without a failure, and nothing is reported afterwards', async () => {
    await startWatching()
    const stopped = world.informer.stop()
    put('late')
    await stopped
    await until('the end of the watch', () => world.server.watches.length === 0)
    await world.clock.advance(BACKOFF_MAX_MS)
    expect([world.changes, world.pauses, world.ends, world.clock.timers]).toEqual([[], [], [], 0])
  })

  test('in the middle of a chunk reports none of its other events', async () => {
    await startWatching()
    world.informer.onChange(() => void world.informer.stop())
    const event = (name: string) =>
      JSON.stringify({
        type: 'ADDED',
        object: { metadata: { name, namespace: 'a', uid: name, resourceVersion: '900' } },
      })
    watch().write(`${event('one')}\n${event('two')}\n`)
    await until('the first event', () => world.changes.length > 0)
    await world.informer.stop()
    expect(world.changes).toEqual(['+a/one'])
  })
})
