import { expect, test } from 'vitest'
import { createLeaseClaim } from '../../../../src/kubernetes/leader-election/lease-takeover.ts'
import type { LeaseLock } from '../../../../src/kubernetes/leader-election/lease-lock.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'

const LEASE = {
  metadata: { resourceVersion: '1' },
  spec: { holderIdentity: 'pod-0', leaseDurationSeconds: 15 },
}

function setUp() {
  const clock = createFakeClock()
  const store = {
    read: latched<LeaseLock['read']>(() => null),
    create: latched<LeaseLock['create']>(() => LEASE),
    replace: latched<LeaseLock['replace']>(() => LEASE),
  }
  const claim = createLeaseClaim({ store, clock, identity: 'pod-0', durationMs: 15_000 })
  return { clock, store, claim }
}

test('an attempt that was given up while it read writes nothing', async () => {
  const { store, claim } = setUp()
  store.read.rule = null
  const giving = new AbortController()
  const attempt = claim.attempt(giving.signal)
  await quiescence()
  giving.abort()
  store.read.next.answer(null)
  await expect(attempt).rejects.toThrow('aborted')
  expect(store.create.calls).toEqual([])
})

test('the answer to a write that was given up is not believed: the next attempt reads', async () => {
  const { store, claim } = setUp()
  store.create.rule = null
  const giving = new AbortController()
  const attempt = claim.attempt(giving.signal)
  await quiescence()
  giving.abort()
  store.create.next.answer(LEASE)
  await expect(attempt).rejects.toThrow('aborted')
  store.read.rule = () => LEASE
  await claim.attempt(new AbortController().signal)
  expect(store.read.calls).toHaveLength(2)
})

test('a renewal counts from the moment it was sent', async () => {
  const { clock, store, claim } = setUp()
  const { signal } = new AbortController()
  await claim.attempt(signal)
  store.replace.rule = null
  await clock.advance(2_000)
  const attempt = claim.attempt(signal)
  await clock.advance(3_000)
  store.replace.next.answer(LEASE)
  await expect(attempt).resolves.toEqual({ status: 'held', sentMs: 2_000 })
  expect(store.read.calls).toHaveLength(1)
})

test.each([
  ['its own duration', { holderIdentity: 'other', leaseDurationSeconds: 40 }, 40_000],
  ['ours when it names none', { holderIdentity: 'other' }, 15_000],
])(
  'the lease of another is past after %s, counted from when it was first seen',
  async (_what, spec, durationMs) => {
    const { clock, store, claim } = setUp()
    const { signal } = new AbortController()
    store.read.rule = () => ({ metadata: { resourceVersion: '7' }, spec })
    await clock.advance(1_000)
    const held = { status: 'other', holder: 'other', freeAtMs: 1_000 + durationMs }
    await expect(claim.attempt(signal)).resolves.toEqual(held)
    await clock.advance(durationMs - 1)
    await expect(claim.attempt(signal)).resolves.toEqual(held)
    await clock.advance(1)
    await expect(claim.attempt(signal)).resolves.toMatchObject({ status: 'held' })
  },
)

test('nothing is given away that is held by another', async () => {
  const { store, claim } = setUp()
  store.read.rule = () => ({ ...LEASE, spec: { holderIdentity: 'other' } })
  await claim.release(new AbortController().signal)
  expect(store.replace.calls).toEqual([])
})
