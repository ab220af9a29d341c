import { beforeEach, expect, test } from 'vitest'
import { type AuditedObject, ResourceAudit } from '../../../../src/controller/audit-log/resource-audit.ts'
import type { AuditEntry } from '../../../../src/domain/access/audit-record.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { FakeAuditLog, AN_AUDIT_RECORD } from '../../../support/fake-audit-log.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

type Listener = (key: string, before?: AuditedObject, after?: AuditedObject) => void

let clock: FakeClock
let log: FakeAuditLog
let isSynced: boolean
let listener: Listener | null
let leading: AbortController
let ended: Promise<void>

beforeEach(() => {
  clock = createFakeClock()
  log = new FakeAuditLog()
  log.list = () => Promise.resolve({ records: [], nextCursor: null })
  isSynced = true
  const changes = {
    isSynced: () => isSynced,
    onChange: (given: Listener) => {
      listener = given
      return () => (listener = null)
    },
  }
  const queues = { kind: 'queue', changes, nameOf: () => 'Orders' } as const
  leading = new AbortController()
  const audit = new ResourceAudit({
    kinds: [queues],
    isWatched: (namespace) => namespace !== 'left',
    auditLog: log,
    clock,
    logger: quietLogger,
  })
  ended = audit.run(leading.signal)
  return () => stop()
})

async function stop(): Promise<void> {
  leading.abort()
  await ended
}

function aQueue(spec: object, specManager?: string): AuditedObject {
  const metadata = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '1' }
  return {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    spec,
    metadata: {
      ...metadata,
      creationTimestamp: '2026-11-21T09:00:00Z',
      ...(specManager === undefined ? {} : { specManager }),
    },
  }
}

const change = (before?: AuditedObject, after?: AuditedObject) => listener?.('shop/orders', before, after)
const written = (): Array<AuditEntry | undefined> => log.ended.map((end) => end?.entry)

test('a change by kubectl is written with the fields that differ', async () => {
  change(
    aQueue({ active: true, maxParallelism: 1 }),
    aQueue({ active: false, maxParallelism: 1 }, 'kubectl-edit'),
  )
  await clock.advance(1_000)
  expect(written()).toEqual([
    {
      actor: { kind: 'user', name: 'kubectl-edit', via: 'kubectl', address: null },
      action: 'edit',
      resource: { kind: 'queue', id: null, name: 'Orders' },
      before: { active: true },
      after: { active: false },
    },
  ])
})

test('changes of our own, of the status, and the first list are not', async () => {
  change(aQueue({ active: true }), aQueue({ active: false }, 'punctual-api'))
  change(undefined, aQueue({ active: true }, 'punctual-controller'))
  change(aQueue({ active: true }), aQueue({ active: true }, 'kubectl-edit'))
  isSynced = false
  change(undefined, aQueue({ active: true }, 'kubectl-create'))
  await clock.advance(60_000)
  expect(written()).toEqual([])
})

test('a creation is one', async () => {
  change(undefined, aQueue({ active: true }, 'argocd-controller'))
  await clock.advance(1_000)
  expect(written()).toMatchObject([{ action: 'create', before: null, after: { active: true } }])
})

test('a deletion is written when no entry of the API says who asked for it', async () => {
  change(aQueue({ active: true }))
  await clock.advance(14_000)
  expect(written()).toEqual([])
  await clock.advance(2_000)
  expect(written()).toMatchObject([{ action: 'delete', actor: { name: 'unknown' }, after: null }])

  log.list = () => Promise.resolve({ records: [AN_AUDIT_RECORD], nextCursor: null })
  change(aQueue({ active: true }))
  await clock.advance(60_000)
  expect(written()).toHaveLength(1)
})

test('what Redis does not take is tried again, of too much the rest is left out, and none without leading', async () => {
  const { ask } = log
  log.ask = () => Promise.reject(new StoreUnavailableError('gone'))
  for (let i = 0; i < 1_002; i += 1) change(aQueue({ a: i }), aQueue({ a: i + 1 }, 'kubectl-edit'))
  await clock.advance(5_000)
  expect(written()).toEqual([])
  log.ask = ask
  await clock.advance(5_000)
  await clock.advance(5_000)
  expect(written()).toHaveLength(1_000)
  await stop()
  expect(listener).toBeNull()
})

test('nothing is written of a namespace that is not watched', async () => {
  const queue = aQueue({ active: true }, 'kubectl-edit')
  const elsewhere = { ...queue, metadata: { ...queue.metadata, namespace: 'left' } }
  change(undefined, elsewhere)
  change(elsewhere)
  await clock.advance(20_000)
  expect(written()).toEqual([])
})
