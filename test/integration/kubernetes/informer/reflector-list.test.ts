import { beforeEach, describe, expect, test } from 'vitest'
import { WATCH_SILENCE_MS } from '../../../../src/kubernetes/informer/reflector-watch.ts'
import { until } from '../../../support/until.ts'
import {
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

describe('the first list', () => {
  test('trap: a refused, broken or truncated first list is retried forever, and nothing counts as synced before', async () => {
    put('one')
    world.server.faults.add(
      { verb: 'list', effect: { do: 'answer', code: 403 } },
      { verb: 'list', effect: { do: 'answer', code: 500 } },
      { verb: 'list', times: 2, effect: { do: 'reset' } },
      { verb: 'list', times: 2, effect: { do: 'cut', bytes: 40 } },
      { verb: 'list', effect: { do: 'garble' } },
    )
    world.informer.start()
    for (let failures = 1; failures <= 5; failures += 1) {
      await until('the failure', () => world.pauses.length === failures)
      expect([world.informer.isSynced(), names()]).toEqual([false, []])
      await passPause(failures)
    }
    await world.informer.whenSynced(new AbortController().signal)
    expect(names()).toEqual(['one'])
    expect(world.pauses).toEqual([1_200, 2_400, 4_800, 7_500, 7_500])
  })

  test('trap: a long list comes in pages of 500', async () => {
    for (let i = 0; i < 1_200; i += 1) put(`queue-${i}`)
    await startWatching()
    expect([...world.informer.all()]).toHaveLength(1_200)
    const lists = world.server.requests.filter(({ verb }) => verb === 'list').map(({ query }) => query)
    expect(lists.map(({ limit }) => limit)).toEqual(['500', '500', '500'])
    expect(lists.map((query) => query.continue !== undefined)).toEqual([false, true, true])
  })

  test('trap: pages that expire half-way are followed by one full list', async () => {
    for (let i = 0; i < 600; i += 1) put(`queue-${i}`)
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    world.server.faults.add({ verb: 'list', effect: { do: 'split', bytes: 10_000 } })
    world.server.faults.add({ verb: 'list', effect: { do: 'hold', until: held } })
    world.informer.start()
    await until('the second page', () => sent('list') === 2)
    remove('queue-7')
    world.server.compact()
    release()
    await world.informer.whenSynced(new AbortController().signal)
    expect([...world.informer.all()]).toHaveLength(599)
    const last = world.server.requests.findLast(({ verb }) => verb === 'list')
    expect(last?.query).toEqual({})
    expect(world.pauses).toEqual([])
  })

  test('waiting for the list can be canceled', async () => {
    world.server.faults.add({ verb: 'list', effect: { do: 'hang' } })
    world.informer.start()
    const giveUp = new AbortController()
    const waiting = world.informer.whenSynced(giveUp.signal)
    giveUp.abort(new Error('shut down'))
    await expect(waiting).rejects.toThrow('shut down')
  })
})

describe('listing again', () => {
  /** Everything that can happen behind our back. */
  function changeAll(): void {
    remove('gone')
    remove('again')
    put('again', 'another life')
    put('changed', 'another name')
    put('new')
    world.server.compact()
  }

  const CHANGED = ['-a/gone', '-a/again', '+a/again', '~a/changed', '+a/new']

  beforeEach(() => {
    for (const name of ['again', 'changed', 'gone', 'same']) put(name)
  })

  /** Breaks the watch and changes all before the next one. */
  async function missAll(): Promise<void> {
    await startWatching()
    world.changes = []
    watch().reset()
    await until('the pause', () => world.pauses.length === 1)
    changeAll()
  }

  test.each([
    ['in an ERROR event', []],
    ['as the answer', [{ verb: 'watch', effect: { do: 'answer', code: 410, reason: 'Expired' } }]],
    ['as the answer, without a reason', [{ verb: 'watch', effect: { do: 'answer', code: 410 } }]],
  ] as const)(
    'trap: after 410 %s it lists again and reports the differences, deletions included',
    async (_how, faults) => {
      await missAll()
      world.server.faults.add(...faults)
      await passPause(1)
      await passPause(2)
      await until('the differences', () => world.changes.length === CHANGED.length)
      expect(world.changes.toSorted()).toEqual(CHANGED.toSorted())
      expect(names()).toEqual(['another life', 'another name', 'new', 'same'])
      expect([world.ends, sent('list')]).toEqual([['failed', 'expired'], 2])
      await watchOpen()
      put('later')
      await until('the next event', () => world.changes.includes('+a/later'))
    },
  )

  test('trap: a server that comes back with 410 is listed after a short pause', async () => {
    await startWatching()
    world.server.faults.add({ times: 8, effect: { do: 'reset' } })
    world.server.cutAll()
    for (let failures = 1; failures <= 5; failures += 1) await passPause(failures)
    world.server.faults.clear()
    world.server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 410, reason: 'Expired' } })
    await passPause(6)
    await passPause(7)
    await until('the list', () => sent('list') === 2)
    expect(world.pauses).toEqual([1_200, 2_400, 4_800, 7_500, 7_500, 7_500, 1_200])
  })

  test('trap: a server that always answers 410 is not asked in a tight loop', async () => {
    world.server.faults.add({
      verb: 'watch',
      times: 1_000,
      effect: { do: 'answer', code: 410, reason: 'Expired' },
    })
    world.informer.start()
    for (let failures = 1; failures <= 12; failures += 1) await passPause(failures)
    expect(world.clock.monotonicMs()).toBeGreaterThan(75_000)
    expect(sent('list')).toBeLessThanOrEqual(13)
  })

  test('trap: a version that the server rejects is not used again', async () => {
    await startWatching()
    world.server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 400, reason: 'BadRequest' } })
    watch().reset()
    await passPause(1)
    await passPause(2)
    await watchOpen()
    expect(sent('list')).toBe(2)
  })

  test('trap: three watches in a row that bring nothing cause a relist', async () => {
    world.server.faults.add({ verb: 'watch', times: 3, effect: { do: 'silence' } })
    await startWatching()
    put('unheard')
    for (let silences = 1; silences <= 3; silences += 1) {
      await watchOpen()
      await world.clock.advance(WATCH_SILENCE_MS)
      await passPause(silences)
    }
    await until('the object', () => names().includes('unheard'))
    expect([world.ends, sent('list')]).toEqual([['silent', 'silent', 'silent'], 2])
  })
})
