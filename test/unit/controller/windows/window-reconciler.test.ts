import { CronSchedule } from '../../../../src/domain/crons/cron-schedule.ts'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  BY_NAMESPACE,
  BY_QUEUE,
  BY_RESOURCE,
  resourceIndexOf,
  WINDOW_INDEXES,
  type HttpCron,
  type HttpQueue,
  type MaintenanceWindow,
} from '../../../../src/controller/kinds.ts'
import { createWindowCheck } from '../../../../src/controller/windows/window-check.ts'
import { createWindowReconciler } from '../../../../src/controller/windows/window-reconciler.ts'
import { watchNamed } from '../../../../src/controller/reconcile/watch-named.ts'
import type { Informer, ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import { queueKeyOf } from '../../../../src/resources/queue-owner.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { createMemoryEngine } from '../memory-engine.ts'
import { createMemoryKind } from '../memory-kind.ts'

const KEY = 'shop/night'
const HOUR_MS = 3_600_000

function setUp() {
  const clock = createFakeClock()
  const indexed = (index: string) => (window: MaintenanceWindow) => WINDOW_INDEXES[index]?.(window)[0] ?? ''
  const kind = createMemoryKind<MaintenanceWindow>({
    kind: 'MaintenanceWindow',
    indexes: { [BY_NAMESPACE]: indexed(BY_NAMESPACE), [BY_RESOURCE]: indexed(BY_RESOURCE) },
    defaults: { action: 'Mute' },
  })
  const queues = createMemoryKind<HttpQueue>({ kind: 'HttpQueue', indexes: { [BY_QUEUE]: queueKeyOf } })
  const crons = createMemoryKind<HttpCron>({ kind: 'HttpCron', indexes: {} })
  const engine = createMemoryEngine()
  const events: ResourceEvent[] = []
  const enqueued: string[] = []
  const synced = { whenSynced: () => Promise.resolve() }
  const reconciler = createWindowReconciler({
    informer: kind.informer,
    writer: kind.writer,
    engine,
    clock,
    check: createWindowCheck(),
    events: { record: (event) => void events.push(event) },
    metrics: { statusWritten: () => undefined },
    queues: { ...queues.informer, ...synced },
    crons: { ...crons.informer, ...synced },
    enqueue: (key) => void enqueued.push(key),
  })
  const reconcile = (key = KEY) => reconciler.reconcile(key, new AbortController().signal)
  const status = (key = KEY) => kind.get(key)?.status
  const condition = (type: string, key = KEY) => status(key)?.conditions?.find((one) => one.type === type)
  /** Times from now, in hours. */
  const at = (hours: number) => new Date(clock.wallMs() + hours * HOUR_MS).toISOString().replace('.000Z', 'Z')
  return { clock, kind, queues, crons, engine, events, enqueued, reconcile, status, condition, at }
}

describe('the status of a window', () => {
  it('changes at its start and at its end, with an event and one write each', async () => {
    const { clock, kind, engine, events, reconcile, status, condition, at } = setUp()
    const [start, end] = [at(0.5), at(1)]
    kind.put(KEY, { start, end, action: 'Hold' })
    expect(await reconcile()).toEqual({ requeueAfterMs: HOUR_MS / 2 })
    expect(engine.windows.get(KEY)).toMatchObject({
      team: 'shop',
      name: 'night',
      action: 'hold',
      resource: null,
    })
    expect(status()).toMatchObject({ active: false, nextStartTime: start })
    expect(condition('Ready')).toMatchObject({ status: 'True', reason: 'Reconciled' })
    expect(condition('ResourceFound')).toBeUndefined()

    await clock.advance(HOUR_MS / 2)
    expect(await reconcile()).toEqual({ requeueAfterMs: HOUR_MS / 2 })
    expect(status()).toMatchObject({ active: true, activeSince: start, endTime: end })
    expect(status()).not.toHaveProperty('nextStartTime')

    await clock.advance(HOUR_MS / 2)
    expect(await reconcile()).toEqual({ requeueAfterMs: null })
    await reconcile()
    const fields = status()
    expect(fields).toMatchObject({ active: false })
    for (const field of ['activeSince', 'endTime', 'nextStartTime']) expect(fields).not.toHaveProperty(field)
    expect(events.map(({ reason, type }) => [type, reason])).toEqual([
      ['Normal', 'WindowStarted'],
      ['Normal', 'WindowEnded'],
    ])
    expect(events[0]?.note).toContain('jobs of the team wait')
    expect(kind.writes).toHaveLength(3)
  })

  it('follows an edit while it is active, and a deletion ends it', async () => {
    const { kind, engine, events, reconcile, status, at } = setUp()
    kind.put(KEY, { start: at(-1), end: at(1) })
    await reconcile()
    expect(status()).toMatchObject({ active: true, endTime: at(1) })
    kind.put(KEY, { start: at(-1), end: at(2) })
    await reconcile()
    expect(status()).toMatchObject({ active: true, endTime: at(2) })
    kind.put(KEY, { start: at(-1), end: at(-0.5) })
    await reconcile()
    expect(status()).toMatchObject({ active: false })
    expect(events.map(({ reason }) => reason)).toEqual(['WindowStarted', 'WindowEnded'])
    kind.force(KEY)
    await reconcile()
    expect(engine.windows.size).toBe(0)
  })

  it('is looked at at least every hour', async () => {
    const { kind, reconcile, at } = setUp()
    kind.put(KEY, { start: at(900), end: at(901) })
    expect(await reconcile()).toEqual({ requeueAfterMs: HOUR_MS })
  })
})

describe('a window of one resource', () => {
  it.each([
    ['HttpQueue', 'Mails: out'],
    ['HttpCron', 'nightly'],
  ] as const)('says whether the %s exists, and is in force all the same', async (kindName, name) => {
    const { kind, queues, crons, engine, reconcile, status, condition, at } = setUp()
    kind.put(KEY, { start: at(-1), end: at(1), resource: { kind: kindName, name } })
    await reconcile()
    expect(condition('ResourceFound')).toMatchObject({ status: 'False', reason: 'NotFound' })
    expect(condition('ResourceFound')?.message).toContain(JSON.stringify(name))
    expect(condition('Ready')).toMatchObject({ status: 'True' })
    expect(status()).toMatchObject({ active: true })
    expect(engine.windows.size).toBe(1)
    if (kindName === 'HttpQueue') queues.put('shop/mails', { queueName: name })
    else crons.put(`shop/${name}`, {})
    await reconcile()
    expect(condition('ResourceFound')).toMatchObject({ status: 'True', reason: 'Found' })
  })

  it('is reconciled when that appears or goes, and not when it changes', () => {
    const { kind, enqueued } = setUp()
    kind.put(KEY, { resource: { kind: 'HttpQueue', name: 'mails' } })
    kind.put('shop/other', { resource: { kind: 'HttpCron', name: 'mails' } })
    let change: Parameters<Informer<HttpQueue>['onChange']>[0] = () => undefined
    const onChange: Informer<HttpQueue>['onChange'] = (listener) => {
      change = listener
      return () => undefined
    }
    watchNamed({ onChange }, kind.informer, {
      index: BY_RESOURCE,
      entryOf: (queue) => resourceIndexOf('HttpQueue', queueKeyOf(queue)),
      enqueue: (key) => void enqueued.push(key),
    })
    const queue = {
      metadata: { namespace: 'shop', name: 'm' },
      spec: { queueName: 'mails' },
    } as unknown as HttpQueue
    change('shop/m', undefined, queue)
    change('shop/m', queue, queue)
    change('shop/m', queue, undefined)
    expect(enqueued).toEqual([KEY, KEY])
  })
})

it('an impossible edit is refused with its field, and the window goes on as it was', async () => {
  const { clock, kind, engine, reconcile, status, condition } = setUp()
  const schedule = { cronExpression: '* * * * *', timeZone: 'UTC', durationSeconds: 60 }
  kind.put(KEY, { recurring: [schedule] })
  await reconcile()
  const before = engine.windows.get(KEY)
  kind.put(KEY, { recurring: [schedule, { ...schedule, cronExpression: '0 0 31 2 *' }] })
  await reconcile()
  expect(condition('Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' })
  expect(condition('Ready')?.message).toContain('spec.recurring[1].cronExpression: never comes')
  expect(condition('Stalled')).toMatchObject({ status: 'True' })
  expect(engine.windows.get(KEY)).toEqual(before)
  expect(status()).toMatchObject({ active: true })
  kind.put(KEY, { recurring: [{ ...schedule, timeZone: 'Mars/Base' }] })
  await clock.advance(1)
  await reconcile()
  expect(condition('Ready')?.message).toContain('spec.recurring[0].timeZone: must be the IANA name')
})

it('a window that cannot be computed is refused with its field, and never in force', async () => {
  const { kind, engine, reconcile, condition } = setUp()
  const schedule = { cronExpression: '* * * * *', timeZone: 'CST', durationSeconds: 60 }
  kind.put(KEY, { recurring: [schedule] })
  await reconcile()
  expect(condition('Ready')?.message).toContain('spec.recurring[0].timeZone: must be the IANA name')
  expect(condition('Ready')?.message).toContain('Use America/Chicago')
  const broken = vi.spyOn(CronSchedule.prototype, 'next').mockImplementation(() => {
    throw new RangeError('planted')
  })
  onTestFinished(() => broken.mockRestore())
  kind.put(KEY, { recurring: [{ ...schedule, timeZone: 'UTC' }] })
  await reconcile()
  expect(condition('Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' })
  expect(condition('Ready')?.message).toContain(
    'spec.recurring[0].cronExpression: cannot be evaluated: planted.',
  )
  expect(engine.windows.has(KEY)).toBe(false)
})

it('the hundred oldest windows of a namespace count, and the next one when one of them goes', async () => {
  const { kind, engine, enqueued, reconcile, condition, status, at } = setUp()
  for (let i = 0; i <= 100; i += 1) kind.put(`shop/w${i}`, { start: at(-1), end: at(1) })
  kind.put('office/w', { start: at(-1), end: at(1) })
  for (const key of ['shop/w100', 'shop/w99', 'office/w']) await reconcile(key)
  expect(condition('Ready', 'shop/w100')).toMatchObject({ status: 'False', reason: 'TooManyWindows' })
  expect(status('shop/w100')).toMatchObject({ active: false })
  expect([...engine.windows.keys()]).toEqual(['shop/w99', 'office/w'])
  kind.force('shop/w0')
  await reconcile('shop/w0')
  expect(enqueued).toEqual(['shop/w100'])
  await reconcile('shop/w100')
  expect(condition('Ready', 'shop/w100')).toMatchObject({ status: 'True' })
})

it('a window that the informer has lost stays in force until the API server confirms that', async () => {
  const { kind, engine, reconcile, at } = setUp()
  kind.put(KEY, { start: at(-1), end: at(1) })
  await reconcile()
  const { get } = kind.informer
  Object.assign(kind.informer, { get: () => undefined })
  await reconcile()
  expect(engine.windows.size).toBe(1)
  Object.assign(kind.informer, { get })
})

it('while Redis is away the status says so and keeps what is in force', async () => {
  const { kind, engine, reconcile, status, condition, at } = setUp()
  kind.put(KEY, { start: at(-1), end: at(1) })
  await reconcile()
  engine.isAway = true
  kind.put(KEY, { start: at(-1), end: at(3) })
  await expect(reconcile()).rejects.toThrow('not available')
  expect(condition('Ready')).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
  expect(status()).toMatchObject({ active: true, endTime: at(1) })
})
