import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  LOOK_EVERY_MS,
  NamespaceKeeper,
  READS_PER_LOOK_MAX,
} from '../../../../src/controller/namespaces/namespace-keeper.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { AuditEntry } from '../../../../src/domain/access/audit-record.ts'
import { CLUSTER } from '../../../../src/ports/access/namespaces.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts'

const OWN = 'punctual'

let clock: FakeClock
let engine: MemoryEngine
let auditLog: FakeAuditLog
/** The uids of the cluster's namespaces. */
let cluster: Map<string, string>
let state: { unreadable: Set<string>; isAway: boolean; reads: number }
let inUse: Set<string>
let lines: string[]
let erased: string[]
let keeper: NamespaceKeeper
let leading: AbortController
let running: Promise<void>

beforeEach(() => {
  clock = createFakeClock()
  engine = createMemoryEngine()
  auditLog = new FakeAuditLog()
  cluster = new Map([
    [OWN, 'own-1'],
    ['shop', 'shop-1'],
    ['mail', 'mail-1'],
  ])
  state = { unreadable: new Set(), isAway: false, reads: 0 }
  inUse = new Set()
  lines = []
  erased = []
  lead()
})
afterEach(() => end())

function lead(): void {
  const { compiler } = engine
  keeper = new NamespaceKeeper({
    reader: {
      read: async (name) => {
        state.reads += 1
        if (state.isAway) throw new ResourceApiError('unavailable', 'away')
        if (state.unreadable.has(name)) return { kind: 'unreadable' }
        const uid = cluster.get(name)
        return uid === undefined ? { kind: 'missing' } : { kind: 'found', uid }
      },
    },
    ownNamespace: OWN,
    engine: {
      write: async (run) => {
        if (engine.isAway) throw new StoreUnavailableError('away')
        return engine.write(run)
      },
      applied: async () => ({
        ...(await compiler.applied()),
        tokens: [...engine.tokens.keys()].map((key) => {
          const [team = '', name = ''] = key.split('/')
          return { team, name }
        }),
      }),
      namespaces: () => compiler.namespaces(),
    },
    inUse: () => inUse,
    onErased: (namespace) => void erased.push(namespace),
    auditLog,
    clock,
    logger: {
      ...quietLogger,
      warn: (message) => void lines.push(message),
      error: (message) => void lines.push(message),
    },
  })
  leading = new AbortController()
  running = keeper.run(leading.signal)
}

async function end(): Promise<void> {
  leading.abort()
  await running
}

const push = (team: string, name = 'q') => engine.push(team, name, DEFAULT_QUEUE_SETTINGS)
const queues = () => [...engine.queues.keys()]
/** One look after another, and what each has begun. */
async function look(times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) await clock.advance(LOOK_EVERY_MS)
}
/** A removal pauses while tokens settle. */
async function untilAdmitted(namespace: string): Promise<void> {
  for (let i = 0; i < 20 && !(await keeper.admit(namespace)); i += 1) await clock.advance(1_000)
  expect(await keeper.admit(namespace)).toBe(true)
}

test('the first namespace of a name has what there is, and the same one keeps it', async () => {
  push('shop')
  expect(await keeper.admit('shop')).toBe(true)
  keeper.forget('shop')
  expect(await keeper.admit('shop')).toBe(true)
  expect(queues()).toEqual(['shop/q'])
  expect([...engine.namespaces]).toEqual([
    [CLUSTER, 'own-1'],
    ['shop', 'shop-1'],
  ])
})

test('one that was made anew inherits nothing, and is admitted once that is so', async () => {
  await keeper.admit('shop')
  await keeper.admit('mail')
  push('shop', 'a')
  push('shop', 'b')
  push('mail')
  engine.tokens.set('shop/ci', 'hash').set('mail/ci', 'other')
  engine.teams.set('shop', {} as never)
  engine.windows.set('shop/night', {} as never)
  cluster.set('shop', 'shop-2')
  // No resource has come or gone: it is still taken for the same.
  expect(await keeper.admit('shop')).toBe(true)
  keeper.forget('shop')
  expect(await keeper.admit('shop')).toBe(false)
  expect(queues()).toContain('shop/a')
  await untilAdmitted('shop')
  expect(queues()).toEqual(['mail/q'])
  expect([...engine.tokens.keys()]).toEqual(['mail/ci'])
  expect(engine.teams.has('shop')).toBe(false)
  expect(engine.namespaces.get('shop')).toBe('shop-2')
  expect(erased).toEqual(['shop'])
  const [ended] = auditLog.ended
  expect(ended?.entry satisfies AuditEntry | undefined).toMatchObject({
    action: 'delete',
    resource: { kind: 'team', name: 'shop' },
    before: { tokens: 1, queues_and_crons: 2 },
  })
})

test('a removal that was interrupted is made again by the next leader', async () => {
  await keeper.admit('shop')
  push('shop', 'a')
  engine.tokens.set('shop/ci', 'hash')
  cluster.set('shop', 'shop-2')
  keeper.forget('shop')
  expect(await keeper.admit('shop')).toBe(false)
  await end()
  expect(engine.namespaces.get('shop')).toBe('shop-1')
  lead()
  expect(await keeper.admit('shop')).toBe(false)
  await untilAdmitted('shop')
  expect(queues()).toEqual([])
})

test('nothing is removed while the namespace, or our own, cannot be read', async () => {
  await keeper.admit('shop')
  push('shop')
  cluster.set('shop', 'shop-2')
  keeper.forget('shop')
  state.unreadable.add('shop')
  expect(await keeper.admit('shop')).toBe(true)
  expect(lines).toEqual([
    'Namespaces cannot be read: one that is made anew would inherit what a former one of its name has left',
  ])
  state.unreadable = new Set([OWN])
  expect(await keeper.admit('shop')).toBe(false)
  await look(3)
  expect(queues()).toEqual(['shop/q'])
  state.unreadable.clear()
  state.isAway = true
  await look(3)
  await expect(keeper.admit('shop')).rejects.toThrow(ResourceApiError)
  expect(queues()).toEqual(['shop/q'])
})

test('another cluster adopts what there is', async () => {
  await keeper.admit('shop')
  push('shop')
  await end()
  cluster = new Map([
    [OWN, 'own-2'],
    ['shop', 'shop-2'],
  ])
  lead()
  expect(await keeper.admit('shop')).toBe(true)
  expect(queues()).toEqual(['shop/q'])
  expect([...engine.namespaces]).toEqual([
    [CLUSTER, 'own-2'],
    ['shop', 'shop-2'],
  ])
})

test('what belongs to a missing namespace is removed at the second look, again at the third, then forgotten', async () => {
  await keeper.admit('shop')
  push('shop')
  cluster.delete('shop')
  await look()
  expect(queues()).toEqual(['shop/q'])
  await look()
  expect(queues()).toEqual([])
  expect(engine.namespaces.has('shop')).toBe(true)
  // By somebody whose rights were still remembered.
  push('shop', 'late')
  await look()
  expect(queues()).toEqual([])
  expect(engine.namespaces.has('shop')).toBe(false)
})

test('a missing namespace that is back in time keeps everything', async () => {
  await keeper.admit('shop')
  push('shop')
  cluster.delete('shop')
  await look()
  cluster.set('shop', 'shop-1')
  await look()
  cluster.delete('shop')
  await look()
  expect(queues()).toEqual(['shop/q'])
})

test('one made anew without a resource is found by a look', async () => {
  await keeper.admit('shop')
  push('shop')
  cluster.set('shop', 'shop-2')
  await look()
  expect(queues()).toEqual([])
  expect(engine.namespaces.get('shop')).toBe('shop-2')
})

test('a look reads no namespace that has resources, and not too many others', async () => {
  await keeper.admit('shop')
  inUse.add('shop')
  state.reads = 0
  await look()
  expect(state.reads).toBe(0)
  for (let i = 0; i < READS_PER_LOOK_MAX + 7; i += 1) {
    engine.namespaces.set(`n${i}`, `uid-${i}`)
    cluster.set(`n${i}`, `uid-${i}`)
  }
  await look()
  expect(state.reads).toBe(READS_PER_LOOK_MAX)
  await look()
  expect(state.reads).toBe(READS_PER_LOOK_MAX + 7)
})

test('many missing namespaces at once are left alone', async () => {
  await keeper.admit('shop')
  for (let i = 0; i < 21; i += 1) {
    engine.namespaces.set(`n${i}`, `uid-${i}`)
    push(`n${i}`)
  }
  await look(4)
  expect(queues()).toHaveLength(21)
  expect(lines).toContain('What belongs to missing namespaces is left alone')
  engine.namespaces.delete('n20')
  await look(2)
  expect(queues()).toEqual(['n20/q'])
})

test('while Redis is away reconciles go on, to say so', async () => {
  engine.isAway = true
  expect(await keeper.admit('shop')).toBe(true)
  engine.isAway = false
  await keeper.admit('shop')
  expect(engine.namespaces.get('shop')).toBe('shop-1')
})

test('a Redis that was emptied is told again', async () => {
  await keeper.admit('shop')
  engine.namespaces.clear()
  keeper.forgetAll()
  await keeper.admit('shop')
  expect([...engine.namespaces.keys()]).toEqual([CLUSTER, 'shop'])
})
