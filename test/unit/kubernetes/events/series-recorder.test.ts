import { describe, expect, test } from 'vitest'
import { SeriesRecorder } from '../../../../src/kubernetes/events/series-recorder.ts'
import type { ApiRequest } from '../../../../src/kubernetes/client/transport.ts'
import { ResourceApiError, type ResourceApiFault } from '../../../../src/domain/errors.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'

const EVENT: ResourceEvent = {
  regarding: {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    namespace: 'team-a',
    name: 'mails',
    uid: 'uid-1',
  },
  type: 'Warning',
  reason: 'SecretNotFound',
  action: 'CompileSettings',
  note: 'There is no Secret "signing".',
}

type StoredEvent = Record<string, unknown> & { series?: { count: number; lastObservedTime: string } }

/** Keeps events as the API server does. */
function createEventStore() {
  const objects = new Map<string, StoredEvent>()
  const request = latched<(request: ApiRequest) => Promise<unknown>>()
  const apply = ({ method, path, body }: ApiRequest): unknown => {
    const given = body as StoredEvent & { metadata: { name: string } }
    const key = method === 'POST' ? `${path}/${given.metadata.name}` : path
    const stored = objects.get(key)
    if (method === 'POST' && stored !== undefined) throw new ResourceApiError('conflict', 'exists')
    if (method === 'PATCH' && stored === undefined) throw new ResourceApiError('not_found', 'expired')
    objects.set(key, { ...stored, ...given })
    return objects.get(key)
  }
  request.rule = apply
  return { objects, request, apply, stored: () => [...objects.values()] }
}

function setUp() {
  const clock = createFakeClock()
  const store = createEventStore()
  const warnings: string[] = []
  const dropped = { count: 0 }
  let ids = 0
  const recorder = new SeriesRecorder({
    transport: {
      request: store.request as never,
      watch: () => Promise.reject(new Error('no watch')),
      close: async () => undefined,
    },
    source: { controller: 'punctual.dev/controller', instance: 'pod-0' },
    clock,
    logger: { ...quietLogger, warn: (message) => warnings.push(message) },
    metrics: { ...quietReconcileMetrics, eventsDropped: (count) => (dropped.count += count) },
    random: () => 0.5,
    newId: () => String((ids += 1)),
  })
  const failTimes = (times: number, fault: ResourceApiFault, retryAfterMs: number | null = null) => {
    let left = times
    store.request.rule = (request) => {
      if ((left -= 1) >= 0) throw new ResourceApiError(fault, fault, { retryAfterMs })
      return store.apply(request)
    }
  }
  return { clock, store, recorder, warnings, dropped, failTimes }
}

const about = (name: string): ResourceEvent => ({ ...EVENT, regarding: { ...EVENT.regarding, name } })

describe('an event', () => {
  test('is sent at once, as an Event of events.k8s.io/v1', async () => {
    const { store, recorder } = setUp()
    recorder.record(EVENT)
    await quiescence()
    expect([...store.objects]).toEqual([
      [
        '/apis/events.k8s.io/v1/namespaces/team-a/events/mails.1',
        {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: { namespace: 'team-a', name: 'mails.1' },
          eventTime: '2027-01-15T08:00:00.000000Z',
          reportingController: 'punctual.dev/controller',
          reportingInstance: 'pod-0',
          type: 'Warning',
          reason: 'SecretNotFound',
          action: 'CompileSettings',
          regarding: EVENT.regarding,
          note: EVENT.note,
        },
      ],
    ])
  })

  test.each([
    ['a note of 1 kB', 'x'.repeat(1_024), 'x'.repeat(1_024)],
    ['a longer one, cut', 'x'.repeat(1_025), `${'x'.repeat(1_021)}…`],
    ['one that would be cut within a character', 'é'.repeat(600), `${'é'.repeat(510)}…`],
  ])('has %s', async (_what, note, kept) => {
    const { store, recorder } = setUp()
    recorder.record({ ...EVENT, note })
    await quiescence()
    expect(store.stored()[0]?.note).toBe(kept)
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1_024)
  })

  test('of a long name has a name that is allowed', async () => {
    const { store, recorder } = setUp()
    recorder.record(about(`${'a'.repeat(250)}.b.c`.slice(0, 253)))
    await quiescence()
    expect(store.stored()[0]?.metadata).toMatchObject({ name: `${'a'.repeat(250)}.1` })
  })
})

describe('equal events', () => {
  test('are one object: patched at the second, then after 6 minutes without another', async () => {
    const { clock, store, recorder } = setUp()
    for (let n = 0; n < 1_000; n += 1) {
      recorder.record(EVENT)
      await clock.advance(100)
    }
    expect(store.objects.size).toBe(1)
    expect(store.request.calls).toHaveLength(2)
    expect(store.stored()[0]?.series?.count).toBe(2)
    await clock.advance(420_000)
    expect(store.request.calls).toHaveLength(3)
    expect(store.stored()[0]).toMatchObject({
      series: { count: 1_000, lastObservedTime: '2027-01-15T08:01:39.900000Z' },
    })
    expect(store.request.calls.slice(1).map(({ args }) => args[0].patchType)).toEqual(['merge', 'merge'])
  })

  test('but for the note are objects of their own, each with its text', async () => {
    const { clock, store, recorder } = setUp()
    for (const note of ['First mistake.', 'Second mistake.', 'First mistake.']) {
      recorder.record({ ...EVENT, note })
      await clock.advance(100)
    }
    expect(store.stored().map(({ note, series }) => [note, series?.count])).toEqual([
      ['First mistake.', 2],
      ['Second mistake.', undefined],
    ])
  })

  test('that come at once are one write', async () => {
    const { store, recorder } = setUp()
    recorder.record(about('first'))
    for (let n = 0; n < 1_000; n += 1) recorder.record(EVENT)
    await quiescence()
    expect(store.request.calls).toHaveLength(2)
    expect(store.stored()[1]?.series?.count).toBe(1_000)
  })

  test('that continue are patched every 30 minutes', async () => {
    const { clock, store, recorder } = setUp()
    for (let minute = 0; minute < 65; minute += 1) {
      recorder.record(EVENT)
      await clock.advance(60_000)
    }
    expect(store.request.calls).toHaveLength(4)
    expect(store.objects.size).toBe(1)
    expect(store.stored()[0]?.series?.count).toBeGreaterThan(60)
  })

  test('more than 6 minutes apart are two objects, and nothing is left behind', async () => {
    const { clock, store, recorder } = setUp()
    recorder.record(EVENT)
    await clock.advance(420_000)
    expect(clock.timers).toBe(0)
    recorder.record(EVENT)
    await quiescence()
    expect(store.objects.size).toBe(2)
  })

  test('whose object has expired create a new one', async () => {
    const { store, recorder } = setUp()
    recorder.record(EVENT)
    await quiescence()
    store.objects.clear()
    recorder.record(EVENT)
    await quiescence()
    expect(store.stored()[0]).toMatchObject({ reason: 'SecretNotFound', series: { count: 2 } })
  })

  test.each<[string, Partial<ResourceEvent>]>([
    ['type', { type: 'Normal' }],
    ['reason', { reason: 'Other' }],
    ['action', { action: 'Other' }],
    ['object', { regarding: { ...EVENT.regarding, uid: 'uid-2' } }],
  ])('are not those of another %s', async (_what, change) => {
    const { store, recorder } = setUp()
    recorder.record(EVENT)
    recorder.record({ ...EVENT, ...change })
    await quiescence()
    expect(store.objects.size).toBe(2)
  })
})

describe('when the API server does not take an event', () => {
  test.each<ResourceApiFault>(['unavailable', 'too_many', 'unauthorized'])(
    'for %s, it is tried again after 10 s',
    async (fault) => {
      const { clock, store, recorder, failTimes } = setUp()
      failTimes(11, fault)
      recorder.record(EVENT)
      await clock.advance(109_999)
      expect(store.objects.size).toBe(0)
      await clock.advance(1)
      expect(store.objects.size).toBe(1)
    },
  )

  test('for longer than a series lasts, it is one object all the same', async () => {
    const { clock, store, recorder, failTimes } = setUp()
    failTimes(6, 'too_many', 100_000)
    recorder.record(EVENT)
    await clock.advance(1_000_000)
    expect(store.request.calls).toHaveLength(7)
    expect(store.stored()).toHaveLength(1)
    expect(store.stored()[0]?.series).toBeUndefined()
  })

  test('12 times, it is dropped', async () => {
    const { clock, store, recorder, dropped, failTimes, warnings } = setUp()
    failTimes(12, 'unavailable')
    recorder.record(EVENT)
    recorder.record(EVENT)
    await clock.advance(600_000)
    expect(store.request.calls).toHaveLength(12)
    expect(dropped.count).toBe(2)
    expect(warnings).toHaveLength(1)
  })

  test('it waits as long as it is asked', async () => {
    const { clock, store, recorder, failTimes } = setUp()
    failTimes(1, 'too_many', 45_000)
    recorder.record(EVENT)
    await clock.advance(44_999)
    expect(store.objects.size).toBe(0)
    await clock.advance(1)
    expect(store.objects.size).toBe(1)
  })

  test('because it is not allowed, it is dropped at once; the log has it once', async () => {
    const { store, recorder, dropped, failTimes, warnings } = setUp()
    failTimes(2, 'forbidden')
    recorder.record(about('a'))
    recorder.record(about('b'))
    recorder.record(about('c'))
    await quiescence()
    expect(dropped.count).toBe(2)
    expect(warnings).toHaveLength(1)
    expect(store.objects.size).toBe(1)
  })

  test('but did, and only its answer was lost, there is still one object', async () => {
    const { clock, store, recorder } = setUp()
    let isLost = true
    store.request.rule = (request) => {
      store.apply(request)
      if (!isLost) return null
      isLost = false
      throw new ResourceApiError('unavailable', 'no answer')
    }
    recorder.record(EVENT)
    await quiescence()
    recorder.record(EVENT)
    await clock.advance(10_000)
    expect(store.objects.size).toBe(1)
    expect(store.stored()[0]?.series?.count).toBe(2)
  })
})

test('at most 1,000 events wait; the rest is dropped, equal ones still count', async () => {
  const { store, recorder, dropped } = setUp()
  store.request.rule = null
  recorder.record(EVENT)
  await quiescence()
  for (let n = 0; n < 1_100; n += 1) recorder.record(about(`q-${n}`))
  expect(dropped.count).toBe(100)
  recorder.record(about('q-5'))
  expect(dropped.count).toBe(100)
  store.request.rule = store.apply
  store.request.next.answer(null)
  while (store.objects.size < 1_000) await quiescence()
  expect(store.stored().filter(({ series }) => series !== undefined)).toHaveLength(1)
})

test('at most 2,000 series are known; the oldest is forgotten', async () => {
  const { store, recorder } = setUp()
  for (let n = 0; n <= 2_000; n += 1) {
    recorder.record(about(`q-${n}`))
    if (n % 500 === 0) while (store.objects.size <= n) await quiescence()
  }
  while (store.objects.size < 2_001) await quiescence()
  recorder.record(about('q-0'))
  recorder.record(about('q-2000'))
  while (store.request.calls.length < 2_003) await quiescence()
  expect(store.objects.size).toBe(2_002)
})

describe('a stop', () => {
  test('sends what was only counted', async () => {
    const { clock, store, recorder } = setUp()
    for (let n = 0; n < 10; n += 1) {
      recorder.record(EVENT)
      await quiescence()
    }
    recorder.record(about('other'))
    await recorder.stop()
    expect(store.stored().map(({ series }) => series?.count)).toEqual([10, undefined])
    expect(clock.timers).toBe(0)
    recorder.record(EVENT)
    await quiescence()
    expect(store.request.calls).toHaveLength(4)
  })

  test('gives up after 5 s', async () => {
    const { clock, store, recorder, dropped } = setUp()
    store.request.rule = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new ResourceApiError('unavailable', 'canceled')))
      })
    recorder.record(EVENT)
    recorder.record(about('other'))
    let isStopped = false
    const stopped = recorder.stop().then(() => (isStopped = true))
    await clock.advance(4_999)
    expect(isStopped).toBe(false)
    await clock.advance(1)
    store.request.rule = () => Promise.reject(new ResourceApiError('unavailable', 'canceled'))
    await stopped
    expect(dropped.count).toBe(2)
  })

  test('does not wait for the next try', async () => {
    const { recorder, dropped, failTimes } = setUp()
    failTimes(100, 'unavailable')
    recorder.record(EVENT)
    await quiescence()
    await recorder.stop()
    expect(dropped.count).toBe(1)
  })
})
