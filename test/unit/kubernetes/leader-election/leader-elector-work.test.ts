import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { LeaderElector } from '../../../../src/kubernetes/leader-election/leader-elector.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'
import { SimulatedLeases } from './elector-world.ts'

describe('work', () => {
  function setUp() {
    const clock = createFakeClock()
    const leases = new SimulatedLeases()
    const errors: string[] = []
    let refusal: ResourceApiError | null = null
    const leading: boolean[] = []
    const signals: AbortSignal[] = []
    const refuse = () => {
      if (refusal !== null) throw refusal
    }
    const elector = new LeaderElector({
      lock: {
        get: async () => (refuse(), leases.read()),
        create: async (spec) => (refuse(), leases.create(spec)),
        update: async (lease, spec, signal) => {
          signals.push(signal)
          refuse()
          return leases.replace(lease, spec)
        },
      },
      identity: 'pod-0',
      clock,
      logger: { ...quietLogger, error: (message) => errors.push(message) },
      metrics: { ...quietReconcileMetrics, leading: (isLeading) => leading.push(isLeading) },
      random: () => 0,
    })
    return {
      clock,
      leases,
      elector,
      errors,
      leading,
      signals,
      refuse: (error: ResourceApiError | null) => (refusal = error),
    }
  }

  test('leaves no listeners on the signals of its attempts, of which there are 40,000 a day', async () => {
    const { clock, elector, signals } = setUp()
    elector.start()
    await clock.advance(20_000)
    expect(signals.length).toBeGreaterThan(8)
    expect(signals.slice(0, -1).flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
    await elector.stop()
  })

  test('of the next epoch begins when that of the last has ended', async () => {
    const { clock, leases, elector } = setUp()
    const epochs: Array<{ readonly signal: AbortSignal; end(): void }> = []
    elector.onLead((signal) => new Promise<void>((end) => epochs.push({ signal, end })))
    elector.start()
    await clock.advance(0)
    leases.replace(leases.read()!, { holderIdentity: 'thief' })
    await clock.advance(2_000)
    expect(epochs[0]?.signal.aborted).toBe(true)
    await clock.advance(59_000)
    expect(epochs).toHaveLength(1)
    expect(elector.failure()).toBeNull()
    await clock.advance(2_000)
    expect(elector.failure()).toMatch('does not end')
    epochs[0]?.end()
    await clock.advance(20_000)
    expect(elector.failure()).toBeNull()
    expect(epochs).toHaveLength(2)
    expect(elector.isLeader()).toBe(true)
  })

  test('ends before the lease is released', async () => {
    const { leases, elector, leading } = setUp()
    const work = Promise.withResolvers<void>()
    elector.onLead(() => work.promise)
    elector.start()
    await quiescence()
    const stopped = elector.stop()
    await quiescence()
    expect(elector.isLeader()).toBe(false)
    expect(leases.read()?.spec?.holderIdentity).toBe('pod-0')
    work.resolve()
    await stopped
    expect(leases.read()?.spec?.holderIdentity).toBe('')
    expect(leading).toEqual([false, true, false])
  })

  test('that is added during an epoch begins in it', async () => {
    const { elector } = setUp()
    elector.start()
    await quiescence()
    let signal: AbortSignal | null = null
    elector.onLead(async (given) => void (signal = given))
    await quiescence()
    expect(signal).toMatchObject({ aborted: false })
    await elector.stop()
    expect(signal).toMatchObject({ aborted: true })
  })

  test('that fails is logged, and the Lease released for 5 s', async () => {
    const { clock, leases, elector, errors } = setUp()
    const other: AbortSignal[] = []
    elector.onLead(async (signal) => void other.push(signal))
    elector.onLead(() => Promise.reject(new Error('broken')))
    elector.start()
    await clock.advance(4_999)
    expect(errors).toEqual(['Work of the leader has failed'])
    expect(other.map(({ aborted }) => aborted)).toEqual([true])
    expect(elector.isLeader()).toBe(false)
    expect(leases.read()?.spec?.holderIdentity).toBe('')
    await clock.advance(1)
    expect(other).toHaveLength(2)
  })

  test('waits while the lease is forbidden, and logs it once a minute', async () => {
    const { clock, elector, errors, refuse } = setUp()
    refuse(new ResourceApiError('forbidden', 'leases is forbidden'))
    elector.start()
    await clock.advance(59_000)
    expect(errors).toEqual(['This process may not use the Lease and cannot lead'])
    await clock.advance(2_000)
    expect(errors).toHaveLength(2)
    refuse(null)
    await clock.advance(3_000)
    expect(elector.isLeader()).toBe(true)
  })

  test('can be stopped before it was started, and twice', async () => {
    const { elector, leases } = setUp()
    await elector.stop()
    await elector.stop()
    expect(leases.read()).toBeNull()
  })
})
