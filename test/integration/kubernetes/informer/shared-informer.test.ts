import { describe, expect, test } from 'vitest'
import { quiescence } from '../../../support/fake-clock.ts'
import { until } from '../../../support/until.ts'
import {
  createInformer,
  names,
  passPause,
  put,
  QUEUES,
  remove,
  sent,
  startWatching,
  world,
  useInformerWorld,
} from './informer-world.ts'

useInformerWorld()

describe('listeners', () => {
  test('trap: one that throws is logged; the others and the watch continue', async () => {
    world.informer = createInformer(null)
    const reported: string[] = []
    world.informer.onChange(() => {
      throw new Error('a bug')
    })
    world.informer.onChange((key) => void reported.push(key))
    await startWatching()
    put('one')
    put('two')
    await until('both', () => reported.length === 2)
    expect([world.errors.length, world.pauses]).toEqual([2, []])
  })
})

describe('several namespaces', () => {
  test('are one informer, each listed and watched separately', async () => {
    put('one', 'one', 'a')
    put('two', 'two', 'b')
    put('hidden', 'hidden', 'c')
    world.informer = createInformer(['a', 'b', 'a'])
    world.server.faults.add({ verb: 'list', path: '/b/', effect: { do: 'answer', code: 500 } })
    world.informer.start()
    await until('the first failure', () => world.pauses.length === 1)
    await until('the other list', () => names().length === 1)
    expect(world.informer.isSynced()).toBe(false)
    const synced = world.informer.whenSynced(new AbortController().signal)
    expect(await Promise.race([synced.then(() => 'synced'), quiescence()])).toBeUndefined()
    await passPause(1)
    await synced
    await until('both watches', () => world.server.watches.length === 2)
    expect(names()).toEqual(['one', 'two'])
    expect(world.server.requests.every(({ path }) => !path.startsWith(QUEUES))).toBe(true)
    put('three', 'three', 'b')
    await until('the event', () => names().length === 3)
  })

  test('a relist of one does not affect the others', async () => {
    put('one', 'one', 'a')
    put('two', 'two', 'b')
    world.informer = createInformer(['a', 'b'])
    world.informer.start()
    await until('both watches', () => world.server.watches.length === 2)
    remove('one', 'a')
    world.server.watches.find(({ namespace }) => namespace === 'a')?.error(410, 'Expired')
    await passPause(1)
    await until('the list', () => sent('list') === 3)
    await quiescence()
    expect([names(), world.changes]).toEqual([['two'], ['+a/one', '+b/two', '-a/one']])
  })
})
