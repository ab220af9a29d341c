import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BACKOFF_MAX_MS } from '../../../../src/kubernetes/informer/backoff.ts'
import { WATCH_SILENCE_MS } from '../../../../src/kubernetes/informer/reflector-watch.ts'
import { SharedInformer } from '../../../../src/kubernetes/informer/shared-informer.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { WatchEnd } from '../../../../src/ports/metrics.ts'
import type { KubeObject } from '../../../../src/ports/kubernetes.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, quiescence, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

interface Queue extends KubeObject {
  readonly spec: { readonly queueName: string }
}

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
const QUEUES = '/apis/punctual.dev/v1alpha1/httpqueues'

let server: FakeApiServer
let clock: FakeClock
let transport: Transport
let view: SharedInformer<Queue>
/** Of the failures logged, each followed by a pause. */
let pauses: number[]
let errors: string[]
/** Lists answered and chunks of watches received. */
let heard: number
let ends: WatchEnd[]
/** `+a/one`, `~a/one`, `-a/one`. */
let changes: string[]

beforeEach(async () => {
  server = await startFakeApiServer()
  clock = createFakeClock()
  pauses = []
  errors = []
  heard = 0
  ends = []
  changes = []
  transport = createTransport({
    config: server.config,
    clock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  view = createView(null)
})

afterEach(async () => {
  await view.stop()
  await transport.close()
  await server.close()
})

function createView(namespaces: readonly string[] | null): SharedInformer<Queue> {
  const logger = {
    ...quietLogger,
    warn: (_message: string, fields?: Record<string, unknown>) => void pauses.push(Number(fields?.pauseMs)),
    error: (message: string) => void errors.push(message),
    child: () => logger,
  }
  const made = new SharedInformer<Queue>({
    clock,
    logger,
    metrics: {
      ...quietClusterMetrics,
      watchEnded: (_resource, end) => void ends.push(end),
      watchHeard: () => void (heard += 1),
    },
    transport,
    random: () => 0.5,
    kind: KIND,
    namespaces,
    indexes: {},
  })
  made.onChange((key, before, after) => {
    changes.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'}${key}`)
  })
  return made
}

function put(name: string, queueName = name, namespace = 'a'): void {
  server.put(pathOf(name, namespace), { ...KIND, spec: { queueName } })
}

function remove(name: string, namespace = 'a'): void {
  server.remove(pathOf(name, namespace))
}

function pathOf(name: string, namespace: string): string {
  return `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues/${name}`
}

const sent = (verb: string): number => server.requests.filter((request) => request.verb === verb).length
const names = (): string[] => [...view.all()].map(({ spec }) => spec.queueName).sort()
const watch = () => server.watches[0]!

/** Starts and waits for the first watch. */
async function startWatching(): Promise<void> {
  view.start()
  await view.whenSynced(new AbortController().signal)
  await watchOpen()
}

async function watchOpen(): Promise<void> {
  await until('an open watch', () => server.watches.length === 1)
}

/** Sends one and waits until it has been heard. */
async function bookmark(): Promise<void> {
  const before = heard
  watch().bookmark()
  await until('the bookmark', () => heard > before)
}

/** Lets the pause after so many failures pass. */
async function passPause(failures: number): Promise<void> {
  await until(`failure ${failures}`, () => pauses.length === failures)
  await quiescence()
  await clock.advance(pauses.at(-1) ?? 0)
}

describe('the first list', () => {
  test('trap: a refused, broken or torn first list is tried again for ever, and nothing counts as synced before', async () => {
    put('one')
    server.faults.add(
      { verb: 'list', effect: { do: 'answer', code: 403 } },
      { verb: 'list', effect: { do: 'answer', code: 500 } },
      { verb: 'list', times: 2, effect: { do: 'reset' } },
      { verb: 'list', times: 2, effect: { do: 'cut', bytes: 40 } },
      { verb: 'list', effect: { do: 'garble' } },
    )
    view.start()
    for (let failures = 1; failures <= 5; failures += 1) {
      await until('the failure', () => pauses.length === failures)
      expect([view.isSynced(), names()]).toEqual([false, []])
      await passPause(failures)
    }
    await view.whenSynced(new AbortController().signal)
    expect(names()).toEqual(['one'])
    expect(pauses).toEqual([1_200, 2_400, 4_800, 7_500, 7_500])
  })

  test('trap: a long list comes in pages of 500', async () => {
    for (let i = 0; i < 1_200; i += 1) put(`queue-${i}`)
    await startWatching()
    expect([...view.all()]).toHaveLength(1_200)
    const lists = server.requests.filter(({ verb }) => verb === 'list').map(({ query }) => query)
    expect(lists.map(({ limit }) => limit)).toEqual(['500', '500', '500'])
    expect(lists.map((query) => query.continue !== undefined)).toEqual([false, true, true])
  })

  test('trap: pages that expire half-way are followed by one full list', async () => {
    for (let i = 0; i < 600; i += 1) put(`queue-${i}`)
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    server.faults.add({ verb: 'list', effect: { do: 'split', bytes: 10_000 } })
    server.faults.add({ verb: 'list', effect: { do: 'hold', until: held } })
    view.start()
    await until('the second page', () => sent('list') === 2)
    remove('queue-7')
    server.compact()
    release()
    await view.whenSynced(new AbortController().signal)
    expect([...view.all()]).toHaveLength(599)
    const last = server.requests.findLast(({ verb }) => verb === 'list')
    expect(last?.query).toEqual({})
    expect(pauses).toEqual([])
  })

  test('whoever waits for the list may give up', async () => {
    server.faults.add({ verb: 'list', effect: { do: 'hang' } })
    view.start()
    const giveUp = new AbortController()
    const waiting = view.whenSynced(giveUp.signal)
    giveUp.abort(new Error('shut down'))
    await expect(waiting).rejects.toThrow('shut down')
  })
})

describe('the watch', () => {
  test('asks for bookmarks and for a time between 5 and 10 minutes, from the version of the list', async () => {
    put('one')
    await startWatching()
    expect(server.requests.at(-1)).toMatchObject({
      verb: 'watch',
      query: { allowWatchBookmarks: 'true', resourceVersion: String(server.version), timeoutSeconds: '450' },
    })
  })

  test('tells what comes, changes and goes', async () => {
    await startWatching()
    put('one')
    put('one', 'changed')
    remove('one')
    await until('the changes', () => changes.length === 3)
    expect(changes).toEqual(['+a/one', '~a/one', '-a/one'])
  })

  test('when its time is over it goes on at once, from the last event or bookmark, without a list', async () => {
    await startWatching()
    put('one')
    await until('the event', () => changes.length === 1)
    server.put('/api/v1/namespaces/a/pods/other', { apiVersion: 'v1', kind: 'Pod' })
    await bookmark()
    await clock.advance(60_000)
    watch().end()
    await until('the next watch', () => sent('watch') === 2 && server.watches.length === 1)
    expect(server.requests.at(-1)?.query.resourceVersion).toBe(String(server.version))
    expect([sent('list'), pauses, ends]).toEqual([1, [], ['closed']])
  })

  test('trap: a quiet watch lives on as long as bookmarks come, far beyond 30 s', async () => {
    await startWatching()
    for (let minutes = 0; minutes < 9; minutes += 1) {
      await clock.advance(60_000)
      await bookmark()
    }
    expect([sent('watch'), ends]).toEqual([1, []])
  })

  test('trap: a half-open watch is left after 150 s without a byte, and what was missed comes', async () => {
    server.faults.add({ verb: 'watch', effect: { do: 'silence' } })
    await startWatching()
    put('one')
    await clock.advance(WATCH_SILENCE_MS - 1)
    expect(ends).toEqual([])
    await clock.advance(1)
    await passPause(1)
    await until('what was missed', () => changes.length === 1)
    expect([changes, ends, sent('list')]).toEqual([['+a/one'], ['silent'], 1])
  })

  test('trap: a connection reset in the middle of an event loses nothing and tells nothing twice', async () => {
    await startWatching()
    put('one')
    await until('the first event', () => changes.length === 1)
    watch().write('{"type":"ADDED","object":{"metadata":{"na')
    watch().reset()
    put('two')
    await passPause(1)
    await until('the second event', () => changes.length === 2)
    expect([changes, sent('list')]).toEqual([['+a/one', '+a/two'], 1])
  })

  test('trap: events split into single bytes, inside characters too, come whole', async () => {
    server.faults.add({ verb: 'watch', effect: { do: 'split', bytes: 1 } })
    await startWatching()
    put('one', 'Köln 🚀')
    put('two', '北京')
    await until('both events', () => changes.length === 2)
    expect(names()).toEqual(['Köln 🚀', '北京'])
  })

  test('trap: events that come twice are told once', async () => {
    server.faults.add({ verb: 'watch', effect: { do: 'duplicate' } })
    await startWatching()
    put('one')
    put('one', 'changed')
    remove('one')
    put('two')
    await until('the last event', () => changes.includes('+a/two'))
    expect(changes).toEqual(['+a/one', '~a/one', '-a/one', '+a/two'])
  })

  test('trap: a line that is no event ends the watch, which goes on from before it', async () => {
    await startWatching()
    watch().write('<html>bad gateway</html>\n')
    put('one')
    await passPause(1)
    await until('the event', () => changes.length === 1)
    expect([ends, sent('list')]).toEqual([['failed'], 1])
  })

  test('trap: an ERROR event other than 410 ends the watch too, and it goes on from where it was', async () => {
    put('one')
    await startWatching()
    const { version } = server
    watch().error(500, 'InternalError')
    await passPause(1)
    await watchOpen()
    expect(server.requests.at(-1)?.query.resourceVersion).toBe(String(version))
    expect([ends, sent('list')]).toEqual([['failed'], 1])
  })

  test('trap: Retry-After of a refused watch is honoured', async () => {
    server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 429, retryAfterSeconds: 7 } })
    view.start()
    await passPause(1)
    await watchOpen()
    expect(pauses).toEqual([7_000])
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
    server.compact()
  }

  const CHANGED = ['-a/gone', '-a/again', '+a/again', '~a/changed', '+a/new']

  beforeEach(() => {
    for (const name of ['again', 'changed', 'gone', 'same']) put(name)
  })

  /** Breaks the watch and changes all before the next one. */
  async function missAll(): Promise<void> {
    await startWatching()
    changes = []
    watch().reset()
    await until('the pause', () => pauses.length === 1)
    changeAll()
  }

  test.each([
    ['in an ERROR event', []],
    ['as the answer', [{ verb: 'watch', effect: { do: 'answer', code: 410, reason: 'Expired' } }]],
    ['as the answer, without a reason', [{ verb: 'watch', effect: { do: 'answer', code: 410 } }]],
  ] as const)(
    'trap: after 410 %s all is listed, and the differences are told, deletions too',
    async (_how, faults) => {
      await missAll()
      server.faults.add(...faults)
      await passPause(1)
      await passPause(2)
      await until('the differences', () => changes.length === CHANGED.length)
      expect(changes.toSorted()).toEqual(CHANGED.toSorted())
      expect(names()).toEqual(['another life', 'another name', 'new', 'same'])
      expect([ends, sent('list')]).toEqual([['failed', 'expired'], 2])
      await watchOpen()
      put('later')
      await until('the next event', () => changes.includes('+a/later'))
    },
  )

  test('trap: a server that was away and comes back with 410 is listed after a short pause', async () => {
    await startWatching()
    server.faults.add({ times: 8, effect: { do: 'reset' } })
    server.cutAll()
    for (let failures = 1; failures <= 5; failures += 1) await passPause(failures)
    server.faults.clear()
    server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 410, reason: 'Expired' } })
    await passPause(6)
    await passPause(7)
    await until('the list', () => sent('list') === 2)
    expect(pauses).toEqual([1_200, 2_400, 4_800, 7_500, 7_500, 7_500, 1_200])
  })

  test('trap: a server that answers 410 for ever is not asked in a loop', async () => {
    server.faults.add({ verb: 'watch', times: 1_000, effect: { do: 'answer', code: 410, reason: 'Expired' } })
    view.start()
    for (let failures = 1; failures <= 12; failures += 1) await passPause(failures)
    expect(clock.monotonicMs()).toBeGreaterThan(75_000)
    expect(sent('list')).toBeLessThanOrEqual(13)
  })

  test('trap: a version that the server does not take is not asked for again', async () => {
    await startWatching()
    server.faults.add({ verb: 'watch', effect: { do: 'answer', code: 400, reason: 'BadRequest' } })
    watch().reset()
    await passPause(1)
    await passPause(2)
    await watchOpen()
    expect(sent('list')).toBe(2)
  })

  test('trap: three watches in a row that tell nothing are no proof of quiet: all is listed', async () => {
    server.faults.add({ verb: 'watch', times: 3, effect: { do: 'silence' } })
    await startWatching()
    put('unheard')
    for (let silences = 1; silences <= 3; silences += 1) {
      await watchOpen()
      await clock.advance(WATCH_SILENCE_MS)
      await passPause(silences)
    }
    await until('the object', () => names().includes('unheard'))
    expect([ends, sent('list')]).toEqual([['silent', 'silent', 'silent'], 2])
  })
})

describe('failures in a row', () => {
  test('watches that end with something told in between are no reason for a list', async () => {
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

  test('trap: a server that ends every watch at once is asked again ever more slowly, one request at a time', async () => {
    await startWatching()
    for (let failures = 1; failures <= 10; failures += 1) {
      await watchOpen()
      watch().end()
      await passPause(failures)
    }
    await watchOpen()
    expect(sent('watch')).toBe(11)
    expect(pauses.slice(0, 6)).toEqual([1_200, 2_400, 4_800, 7_500, 7_500, 7_500])
    expect(Math.max(...pauses)).toBeLessThanOrEqual(BACKOFF_MAX_MS)
  })

  test('after two healthy minutes the pauses begin anew', async () => {
    await startWatching()
    for (let failures = 1; failures <= 3; failures += 1) {
      await watchOpen()
      watch().reset()
      await passPause(failures)
    }
    await watchOpen()
    await clock.advance(120_000)
    watch().reset()
    await until('the failure', () => pauses.length === 4)
    expect(pauses).toEqual([1_200, 2_400, 4_800, 1_200])
  })

  test('while the server is away what is known stays readable', async () => {
    put('one')
    await startWatching()
    server.faults.add({ times: 20, effect: { do: 'reset' } })
    server.cutAll()
    for (let failures = 1; failures <= 12; failures += 1) await passPause(failures)
    expect([names(), view.isSynced()]).toEqual([['one'], true])
    put('two')
    server.faults.clear()
    await passPause(13)
    await until('the event', () => names().length === 2)
    expect(sent('list')).toBe(1)
  })
})

describe('stop', () => {
  test('trap: during the pause after a failure it leaves no watch behind', async () => {
    await startWatching()
    watch().reset()
    await until('the pause', () => pauses.length === 1)
    await view.stop()
    const requests = server.requests.length
    await clock.advance(BACKOFF_MAX_MS * 10)
    expect([clock.timers, server.requests.length, server.watches.length]).toEqual([0, requests, 0])
  })

  test.each([
    ['the list', 'list'],
    ['the beginning of the watch', 'watch'],
  ] as const)('trap: during %s it leaves nothing behind', async (_when, verb) => {
    server.faults.add({ verb, effect: { do: 'hang' } })
    view.start()
    await until('the request', () => sent(verb) === 1)
    await view.stop()
    view.start()
    await clock.advance(BACKOFF_MAX_MS)
    expect([clock.timers, sent(verb), pauses]).toEqual([0, 1, []])
  })

  test('trap: of a watch it is no failure, and nothing is told after it', async () => {
    await startWatching()
    const stopped = view.stop()
    put('late')
    await stopped
    await until('the end of the watch', () => server.watches.length === 0)
    await clock.advance(BACKOFF_MAX_MS)
    expect([changes, pauses, ends, clock.timers]).toEqual([[], [], [], 0])
  })

  test('in the middle of a chunk of events tells none of the rest', async () => {
    await startWatching()
    view.onChange(() => void view.stop())
    const event = (name: string) =>
      JSON.stringify({
        type: 'ADDED',
        object: { metadata: { name, namespace: 'a', uid: name, resourceVersion: '900' } },
      })
    watch().write(`${event('one')}\n${event('two')}\n`)
    await until('the first event', () => changes.length > 0)
    await view.stop()
    expect(changes).toEqual(['+a/one'])
  })
})

describe('listeners', () => {
  test('trap: one that throws is logged; the others and the watch go on', async () => {
    view = createView(null)
    const told: string[] = []
    view.onChange(() => {
      throw new Error('a bug')
    })
    view.onChange((key) => void told.push(key))
    await startWatching()
    put('one')
    put('two')
    await until('both', () => told.length === 2)
    expect([errors.length, pauses]).toEqual([2, []])
  })
})

describe('several namespaces', () => {
  test('are one view, each listed and watched on its own', async () => {
    put('one', 'one', 'a')
    put('two', 'two', 'b')
    put('hidden', 'hidden', 'c')
    view = createView(['a', 'b', 'a'])
    server.faults.add({ verb: 'list', path: '/b/', effect: { do: 'answer', code: 500 } })
    view.start()
    await until('the first failure', () => pauses.length === 1)
    await until('the other list', () => names().length === 1)
    expect(view.isSynced()).toBe(false)
    await passPause(1)
    await view.whenSynced(new AbortController().signal)
    await until('both watches', () => server.watches.length === 2)
    expect(names()).toEqual(['one', 'two'])
    expect(server.requests.every(({ path }) => !path.startsWith(QUEUES))).toBe(true)
    put('three', 'three', 'b')
    await until('the event', () => names().length === 3)
  })

  test('a new list of one says nothing of the others', async () => {
    put('one', 'one', 'a')
    put('two', 'two', 'b')
    view = createView(['a', 'b'])
    view.start()
    await until('both watches', () => server.watches.length === 2)
    remove('one', 'a')
    server.watches.find(({ namespace }) => namespace === 'a')?.error(410, 'Expired')
    await passPause(1)
    await until('the list', () => sent('list') === 3)
    await quiescence()
    expect([names(), changes]).toEqual([['two'], ['+a/one', '+b/two', '-a/one']])
  })
})
