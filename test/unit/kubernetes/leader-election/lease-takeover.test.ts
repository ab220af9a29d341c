import { expect, test } from 'vitest'
import { LeaseTakeover } from '../../../../src/kubernetes/leader-election/lease-takeover.ts'
import type { LeaseLock } from '../../../../src/kubernetes/leader-election/lease-lock.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'

const LEASE = {
  metadata: { resourceVersion: '1' },
  spec: { holderIdentity: 'pod-0', leaseDurationSeconds: 15 },
}

function setUp() {
  const clock = createFakeClock()
  const lock = {
    get: latched<LeaseLock['get']>(() => null),
    create: latched<LeaseLock['create']>(() => LEASE),
    update: latched<LeaseLock['update']>(() => LEASE),
  }
  const takeover = new LeaseTakeover({ lock, clock, identity: 'pod-0', durationMs: 15_000 })
  return { clock, lock, takeover }
}

test('an attempt that was canceled while it read writes nothing', async () => {
  const { lock, takeover } = setUp()
  lock.get.rule = null
  const giving = new AbortController()
  const attempt = takeover.tryAcquireOrRenew(giving.signal)
  await quiescence()
  giving.abort()
  lock.get.next.answer(null)
  await expect(attempt).rejects.toThrow('aborted')
  expect(lock.create.calls).toEqual([])
})

test('the answer to a canceled write is not trusted: the next attempt reads', async () => {
  const { lock, takeover } = setUp()
  lock.create.rule = null
  const giving = new AbortController()
  const attempt = takeover.tryAcquireOrRenew(giving.signal)
  await quiescence()
  giving.abort()
  lock.create.next.answer(LEASE)
  await expect(attempt).rejects.toThrow('aborted')
  lock.get.rule = () => LEASE
  await takeover.tryAcquireOrRenew(new AbortController().signal)
  expect(lock.get.calls).toHaveLength(2)
})

test('a renewal counts from the moment it was sent', async () => {
  const { clock, lock, takeover } = setUp()
  const { signal } = new AbortController()
  await takeover.tryAcquireOrRenew(signal)
  lock.update.rule = null
  await clock.advance(2_000)
  const attempt = takeover.tryAcquireOrRenew(signal)
  await clock.advance(3_000)
  lock.update.next.answer(LEASE)
  await expect(attempt).resolves.toEqual({ status: 'held', sentMs: 2_000 })
  expect(lock.get.calls).toHaveLength(1)
})

test.each([
  ['its own duration', { holderIdentity: 'other', leaseDurationSeconds: 40 }, 40_000],
  ['ours when it names none', { holderIdentity: 'other' }, 15_000],
])(
  'the lease of another expires after %s, counted from when it was first seen',
  async (_what, spec, durationMs) => {
    const { clock, lock, takeover } = setUp()
    const { signal } = new AbortController()
    lock.get.rule = () => ({ metadata: { resourceVersion: '7' }, spec })
    await clock.advance(1_000)
    const held = { status: 'other', holder: 'other', freeAtMs: 1_000 + durationMs }
    await expect(takeover.tryAcquireOrRenew(signal)).resolves.toEqual(held)
    await clock.advance(durationMs - 1)
    await expect(takeover.tryAcquireOrRenew(signal)).resolves.toEqual(held)
    await clock.advance(1)
    await expect(takeover.tryAcquireOrRenew(signal)).resolves.toMatchObject({ status: 'held' })
  },
)

test('a lease held by another is not released', async () => {
  const { lock, takeover } = setUp()
  lock.get.rule = () => ({ ...LEASE, spec: { holderIdentity: 'other' } })
  await takeover.release(new AbortController().signal)
  expect(lock.update.calls).toEqual([])
})
