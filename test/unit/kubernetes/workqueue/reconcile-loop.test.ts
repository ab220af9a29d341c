import { describe, expect, test } from 'vitest'
import { ReconcileLoop } from '../../../../src/kubernetes/workqueue/reconcile-loop.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { ReconcileEnd } from '../../../../src/ports/kubernetes.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import type { ReconcileResult } from '../../../../src/ports/metrics.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'
import { createSettableInformer, kubeObject } from '../kube-objects.ts'

const DONE: ReconcileEnd = { requeueAfterMs: null }

function setUp(keys: readonly string[] = ['default/q'], keysOf?: (object: KubeObject) => readonly string[]) {
  const clock = createFakeClock()
  const informer = createSettableInformer()
  for (const key of keys) informer.set(key, objectOf(key))
  const reconcile = latched<(key: string, signal: AbortSignal) => Promise<ReconcileEnd>>(() => DONE)
  const results: ReconcileResult[] = []
  const warnings: string[] = []
  const election = createElection()
  const loop = new ReconcileLoop({
    name: 'httpqueue',
    informer,
    reconciler: { reconcile },
    ...(keysOf === undefined ? {} : { keysOf }),
    leadership: election.leadership,
    clock,
    logger: { ...quietLogger, warn: (_message, fields) => warnings.push(String(fields?.reason)) },
    metrics: { ...quietReconcileMetrics, reconciled: (_name, result) => results.push(result) },
    random: () => 0.5,
  })
  loop.start()
  const reconciled = () => reconcile.calls.map(({ args }) => args[0])
  return { clock, informer, reconcile, results, warnings, election, loop, reconciled }
}

function objectOf(key: string, generation = 1) {
  const [namespace, name] = key.split('/') as [string, string]
  return kubeObject({ namespace, name, generation, resourceVersion: String(generation) })
}

/** Leadership by the test's word. */
function createElection() {
  let lead: ((signal: AbortSignal) => Promise<void>) | null = null
  let epoch = new AbortController()
  let isLeader = false
  return {
    leadership: {
      isLeader: () => isLeader,
      onLead: (given: (signal: AbortSignal) => Promise<void>) => (lead = given),
    },
    win: () => {
      epoch = new AbortController()
      isLeader = true
      const state = { isOver: false }
      void lead?.(epoch.signal).then(() => (state.isOver = true))
      return state
    },
    lose: () => {
      isLeader = false
      epoch.abort()
    },
    /** The lease has expired, and the timer that would report it is late. */
    loseUnnoticed: () => (isLeader = false),
  }
}

async function leading(keys?: readonly string[]) {
  const made = setUp(keys)
  made.informer.sync()
  const epoch = made.election.win()
  await quiescence()
  return { ...made, epoch }
}

describe('an epoch', () => {
  test('begins when the first list is in, with every key', async () => {
    const { informer, election, reconciled } = setUp(['a/1', 'b/1'])
    election.win()
    await quiescence()
    expect(reconciled()).toEqual([])
    informer.sync()
    await quiescence()
    expect(reconciled()).toEqual(['a/1', 'b/1'])
  })

  test('that ends before the first list does nothing', async () => {
    const { informer, election, reconciled } = setUp()
    const epoch = election.win()
    election.lose()
    await quiescence()
    informer.sync()
    await quiescence()
    expect(epoch.isOver).toBe(true)
    expect(reconciled()).toEqual([])
  })

  test('aborts the last reconcile, and ends when that has returned', async () => {
    const { clock, informer, reconcile, election } = setUp()
    reconcile.rule = null
    informer.sync()
    const epoch = election.win()
    await quiescence()
    const signal = reconcile.next.args[1]
    expect(signal.aborted).toBe(false)
    election.lose()
    await quiescence()
    expect(signal.aborted).toBe(true)
    expect(epoch.isOver).toBe(false)
    reconcile.next.fail(new Error('canceled'))
    await quiescence()
    expect(epoch.isOver).toBe(true)
    expect(informer.listeners).toBe(0)
    expect(clock.timers).toBe(0)
  })

  test('starts over with every key', async () => {
    const { election, reconciled } = await leading()
    election.lose()
    await quiescence()
    election.win()
    await quiescence()
    expect(reconciled()).toEqual(['default/q', 'default/q'])
  })

  test('begins no reconcile once the lease has expired, even before its signal', async () => {
    const { election, loop, reconciled } = await leading()
    election.loseUnnoticed()
    loop.enqueue('default/q')
    await quiescence()
    expect(reconciled()).toHaveLength(1)
  })
})

describe('reconciles', () => {
  test('follow changes that ask for one, and no others', async () => {
    const { informer, reconciled } = await leading(['a/1'])
    informer.set('a/1', {
      ...objectOf('a/1'),
      metadata: { ...objectOf('a/1').metadata, resourceVersion: '9' },
    })
    await quiescence()
    expect(reconciled()).toHaveLength(1)
    informer.set('a/1', objectOf('a/1', 2))
    informer.set('a/2', objectOf('a/2'))
    await quiescence()
    informer.set('a/2', undefined)
    await quiescence()
    expect(reconciled()).toEqual(['a/1', 'a/1', 'a/2', 'a/2'])
  })

  test('come for the keys that an object stands for, once where objects share one', async () => {
    const byLabel = ({ metadata }: KubeObject) => [`default/${metadata.labels?.['of'] ?? 'none'}`]
    const { informer, reconciled, election } = setUp(['default/a', 'default/b'], byLabel)
    informer.sync()
    election.win()
    await quiescence()
    expect(reconciled()).toEqual(['default/none'])
    informer.set('default/a', kubeObject({ name: 'a', labels: { of: 'x' } }))
    await quiescence()
    expect(reconciled().slice(1).sort()).toEqual(['default/none', 'default/x'])
  })

  test('come for a key that something else asks for, while leading', async () => {
    const { election, loop, reconciled } = await leading()
    loop.enqueue('a/other')
    await quiescence()
    expect(reconciled()).toEqual(['default/q', 'a/other'])
    election.lose()
    await quiescence()
    loop.enqueue('a/other')
    await quiescence()
    expect(reconciled()).toHaveLength(2)
  })

  test('of changes come before those of the start', async () => {
    const { informer, reconcile, election, reconciled } = setUp(
      Array.from({ length: 40 }, (_, n) => `a/${n}`),
    )
    reconcile.rule = null
    informer.sync()
    election.win()
    await quiescence()
    const running = reconciled().length
    informer.set('z/changed', objectOf('z/changed'))
    reconcile.next.answer(DONE)
    await quiescence()
    expect(reconciled()[running]).toBe('z/changed')
  })

  test('come back for every key between 10 and 30 minutes later', async () => {
    const { clock, reconciled } = await leading()
    await clock.advance(1_199_999)
    expect(reconciled()).toHaveLength(1)
    await clock.advance(1)
    expect(reconciled()).toHaveLength(2)
    await clock.advance(1_200_000)
    expect(reconciled()).toHaveLength(3)
  })

  test('come back when the reconciler asks for it', async () => {
    const { clock, reconcile, informer, reconciled, results } = await leading()
    reconcile.rule = () => ({ requeueAfterMs: 15_000 })
    informer.set('default/q', objectOf('default/q', 2))
    await clock.advance(15_000)
    expect(reconciled()).toHaveLength(3)
    expect(results).toEqual(['success', 'requeued', 'requeued'])
  })

  test('that take too long are aborted', async () => {
    const { clock, informer, reconcile, election } = setUp()
    reconcile.rule = null
    informer.sync()
    election.win()
    await clock.advance(119_999)
    expect(reconcile.next.args[1].aborted).toBe(false)
    await clock.advance(1)
    expect(reconcile.next.args[1].aborted).toBe(true)
  })
})

describe('a reconcile that fails', () => {
  async function timesOf(error: Error, untilMs: number) {
    const made = setUp()
    const times: number[] = []
    made.reconcile.rule = () => {
      times.push(made.clock.monotonicMs())
      throw error
    }
    made.informer.sync()
    made.election.win()
    await made.clock.advance(untilMs)
    return { ...made, times, pauses: times.slice(1).map((time, at) => time - times[at]!) }
  }

  test('backs off up to 1,000 s, is counted and logged with its reason', async () => {
    const { pauses, results, warnings } = await timesOf(new Error('broken'), 600_000)
    expect(pauses.slice(0, 4)).toEqual([5, 10, 20, 40])
    expect(pauses.at(-1)).toBe(5 * 2 ** (pauses.length - 1))
    expect(pauses.at(-1)).toBeGreaterThan(100_000)
    expect(new Set(results)).toEqual(new Set(['error']))
    expect(warnings).toHaveLength(results.length)
    expect(new Set(warnings)).toEqual(new Set(['broken']))
  })

  test('for a conflict is tried again within a second, without a word', async () => {
    const { pauses, results, warnings } = await timesOf(new ResourceApiError('conflict', 'modified'), 60_000)
    expect(pauses[0]).toBe(5)
    expect(pauses.at(-1)).toBe(1_000)
    expect(new Set(results)).toEqual(new Set(['conflict']))
    expect(warnings).toEqual([])
  })

  test.each([
    ['Redis', new StoreUnavailableError('no connection')],
    ['the API server', new ResourceApiError('unavailable', 'no answer')],
    ['authentication', new ResourceApiError('unauthorized', 'Unauthorized')],
  ])('because %s is away is tried every 10 s at least, and logged once', async (_what, error) => {
    const { pauses, warnings, reconcile, clock } = await timesOf(error, 600_000)
    expect(pauses.at(-1)).toBe(10_000)
    expect(warnings).toHaveLength(1)
    reconcile.rule = () => DONE
    await clock.advance(10_000)
    reconcile.rule = () => Promise.reject(error)
    await clock.advance(1_800_000)
    expect(warnings).toHaveLength(2)
  })

  test('waits as long as the API server asks', async () => {
    const error = new ResourceApiError('too_many', 'slow down', { retryAfterMs: 7_000 })
    const { times } = await timesOf(error, 14_000)
    expect(times).toEqual([0, 7_000, 14_000])
  })

  test('at the end of an epoch is not logged', async () => {
    const { informer, reconcile, election, warnings } = setUp()
    reconcile.rule = null
    informer.sync()
    election.win()
    await quiescence()
    election.lose()
    reconcile.next.fail(new Error('canceled'))
    await quiescence()
    expect(warnings).toEqual([])
  })
})
