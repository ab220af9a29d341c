import { describe, expect, test } from 'vitest'
import { WATCH_SILENCE_MS } from '../../../../src/kubernetes/informer/reflector-watch.ts'
import { until } from '../../../support/until.ts'
import {
  bookmark,
  names,
  passPause,
  put,
  remove,
  sent,
  startWatching,
  watch,
  watchOpen,
  world,
  useInformerWorld,
} from './informer-world.ts'

useInformerWorld()

describe('the watch', () => {
  test('asks for bookmarks and for a time between 5 and 10 minutes, from the version of the list', async () => {
    put('one')
    await startWatching()
    expect(world.server.requests.at(-1)).toMatchObject({
      verb: 'watch',
      query: {
        allowWatchBookmarks: 'true',
        resourceVersion: String(world.server.version),
        timeoutSeconds: '450',
      },
    })
  })

  test('reports what is created, updated and deleted', async () => {
    await startWatching()
    put('one')
    put('one', 'changed')
    remove('one')
    await until('the changes', () => world.changes.length === 3)
    expect(world.changes).toEqual(['+a/one', '~a/one', '-a/one'])
  })

  test('resumes at once when its duration is over, from the last event or bookmark, without a list', async () => {
    await startWatching()
    put('one')
    await until('the event', () => world.changes.length === 1)
    world.server.put('/api/v1/namespaces/a/pods/other', { apiVersion: 'v1', kind: 'Pod' })
    await bookmark()
    await world.clock.advance(60_000)
    watch().end()
    await until('the next watch', () => sent('watch') === 2 && world.server.watches.length === 1)
    expect(world.server.requests.at(-1)?.query.resourceVersion).toBe(String(world.server.version))
    expect([sent('list'), world.pauses, world.ends]).toEqual([1, [], ['closed']])
  })

  test('trap: a quiet watch lives on as long as bookmarks come, far beyond 30 s', async () => {
    await startWatching()
    for (let minutes = 0; minutes < 9; minutes += 1) {
      await world.clock.advance(60_000)
      await bookmark()
    }
    expect([sent('watch'), world.ends]).toEqual([1, []])
  })

  test('trap: a half-open watch is abandoned after 150 s without a byte, and missed events arrive', async () => {
    world.server.faults.add({ verb: 'watch', effect: { do: 'silence' } })
    await startWatching()
    put('one')
    await world.clock.advance(WATCH_SILENCE_MS - 1)
    expect(world.ends).toEqual([])
    await world.clock.advance(1)
    await passPause(1)
    await until('what was missed', () => world.changes.length === 1)
    expect([world.changes, world.ends, sent('list')]).toEqual([['+a/one'], ['silent'], 1])
  })

  test('trap: a connection reset in the middle of an event loses nothing and repeats nothing', async () => {
    await startWatching()
    put('one')
    await until('the first event', () => world.changes.length === 1)
    watch().write('{"type":"ADDED","object":{"metadata":{"na')
    watch().reset()
    put('two')
    await passPause(1)
    await until('the second event', () => world.changes.length === 2)
    expect([world.changes, sent('list')]).toEqual([['+a/one', '+a/two'], 1])
  })

  test('trap: events split into single bytes, inside characters too, come whole', async () => {
    world.server.faults.add({ verb: 'watch', effect: { do: 'split', bytes: 1 } })
    await startWatching()
    put('one', 'Köln 🚀')
    put('two', '北京')
    await until('both events', () => world.changes.length === 2)
    expect(names()).toEqual(['Köln 🚀', '北京'])
  })

  test('trap: duplicate events are reported once', async () => {
    world.server.faults.add({ verb: 'watch', effect: { do: 'duplicate' } })
    await startWatching()
    put('one')
    put('one', 'changed')
    remove('one')
    put('two')
    await until('the last event', () => world.changes.includes('+a/two'))
    expect(world.changes).toEqual(['+a/one', '~a/one', '-a/one', '+a/two'])
  })

  test('trap: a line that is no event ends the watch, which resumes before it', async () => {
    await startWatching()
    watch().write('<html>bad gateway</html>\n')
    put('one')
    await passPause(1)
    await until('the event', () => world.changes.length === 1)
    expect([world.ends, sent('list')]).toEqual([['failed'], 1])
  })

  test('trap: an ERROR event other than 410 ends the watch too, which resumes where it was', async () => {
    put('one')
    await startWatching()
    const { version } = world.server
    watch().error(500, 'InternalError')
    await passPause(1)
    await watchOpen()
    expect(world.server.requests.at(-1)?.query.resourceVersion).toBe(String(version))
    expect([world.ends, sent('list')]).toEqual([['failed'], 1])
  })

  test('trap: Retry-After of a refused watch is honoured', async () => {
    world.server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 429, retryAfterSeconds: 7 } })
    world.informer.start()
    await passPause(1)
    await watchOpen()
    expect(world.pauses).toEqual([7_000])
  })
})
