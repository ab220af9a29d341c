import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QUEUE_FAILING_MS } from '../../../src/controller/queues/queue-failure.ts'
import { SYNC_EVERY_MS } from '../../../src/controller/reconcile/status-sync.ts'
import { shardOfQueue } from '../../../src/redis/base/engine/engine.ts'
import { QUEUE } from '../../../src/redis/base/layout/fields.ts'
import { THROTTLED } from '../../../src/redis/base/layout/queue-record.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { kubernetesTime } from '../../../src/resources/conditions.ts'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { newJob } from '../../support/engine/engine.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

let world: ControllerWorld

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
})

afterAll(() => world.close())

const inEngine = (name: string) => createQueueStore(world.engine.engine).getByName(world.namespace, name)
const ready = (name: string) => world.reason('HttpQueue', name, 'Reconciled')

test('a queue is applied soon after its resource was, and reports so', async ({ annotate }) => {
  const startedMs = performance.now()
  await world.apply('HttpQueue', 'emails', { timeoutSeconds: 5, maxParallelism: 3 })
  await until('it is applied', async () => (await inEngine('emails'))?.settings.maxParallelism === 3)
  const appliedMs = performance.now() - startedMs
  const condition = await ready('emails')
  expect(condition).toMatchObject({ status: 'True', observedGeneration: 1 })
  const { status, metadata } = await world.get('HttpQueue', 'emails')
  expect(status).toMatchObject({ observedGeneration: 1, queueId: (await inEngine('emails'))?.queueId })
  expect(metadata['finalizers']).toEqual(['punctual.dev/queue'])
  await annotate(`a new queue was applied after ${Math.round(appliedMs)} ms`)
})

test('an edit and a pause follow', async () => {
  await world.apply('HttpQueue', 'edited', {})
  await ready('edited')
  await world.apply('HttpQueue', 'edited', { timeoutSeconds: 7, active: false })
  await world.reason('HttpQueue', 'edited', 'Paused', 'Dispatching')
  expect((await inEngine('edited'))?.settings).toMatchObject({ timeoutSeconds: 7, isActive: false })
})

test('another queue name is refused by the API server', async () => {
  await world.apply('HttpQueue', 'fixed-name', { queueName: 'one' })
  await expect(world.apply('HttpQueue', 'fixed-name', { queueName: 'two' })).rejects.toThrow(
    'cannot be changed',
  )
})

describe('two resources of one queue', () => {
  test('have the older applied, and pass the name on without its jobs', async () => {
    await world.apply('HttpQueue', 'first', { queueName: 'shared', timeoutSeconds: 5 })
    await ready('first')
    await world.apply('HttpQueue', 'second', { queueName: 'shared', timeoutSeconds: 9 })
    await world.reason('HttpQueue', 'second', 'NameTaken')
    await world.engine.intake.push(
      newJob({ team: world.namespace, queue: 'shared', start: { delaySeconds: 3600 } }),
    )
    expect((await inEngine('shared'))?.settings.timeoutSeconds).toBe(5)
    await world.remove('HttpQueue', 'first')
    await ready('second')
    const queue = await inEngine('shared')
    expect(queue).toMatchObject({ settings: { timeoutSeconds: 9 }, counts: { delayed: 0 } })
  })

  test('keep the jobs of the older when the younger is deleted', async () => {
    await world.apply('HttpQueue', 'kept', { queueName: 'both' })
    await ready('kept')
    await world.apply('HttpQueue', 'loser', { queueName: 'both' })
    await world.reason('HttpQueue', 'loser', 'NameTaken')
    await world.engine.intake.push(
      newJob({ team: world.namespace, queue: 'both', start: { delaySeconds: 3600 } }),
    )
    await world.remove('HttpQueue', 'loser')
    await until('the loser is deleted', async () => (await world.find('HttpQueue', 'loser')) === null)
    await world.apply('HttpQueue', 'kept', { timeoutSeconds: 4, queueName: 'both' })
    await until('the edit is applied', async () => (await inEngine('both'))?.settings.timeoutSeconds === 4)
    expect((await inEngine('both'))?.counts.delayed).toBe(1)
  })
})

test('deleting a resource deletes the queue and its jobs', async () => {
  await world.apply('HttpQueue', 'gone', {})
  await ready('gone')
  await world.engine.intake.push(
    newJob({ team: world.namespace, queue: 'gone', start: { delaySeconds: 3600 } }),
  )
  await world.remove('HttpQueue', 'gone')
  await until('the resource is deleted', async () => (await world.find('HttpQueue', 'gone')) === null)
  expect(await inEngine('gone')).toBeNull()
})

async function untilEvent(reason: string): Promise<void> {
  const path = `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`
  await until(`an Event says ${reason}`, async () => {
    const { items } = (await world.api.send('GET', path)) as unknown as {
      items: { type: string; reason: string }[]
    }
    return items.some((event) => event.type === 'Warning' && event.reason === reason)
  })
}

test('a queue for which a failure was raised is failing for a while, with an Event', async () => {
  await world.apply('HttpQueue', 'failing', { alertsEnabled: true })
  await ready('failing')
  const { engine, connection } = world.engine
  const keys = shardOfQueue(engine, world.namespace, 'failing')
  const localId = String(await connection.hget(keys.queueIds, `${world.namespace}/failing`))
  const failAt = (atMs: number) =>
    connection.hset(keys.queueKey('meta', localId), QUEUE.lastFailure, `${atMs}|timeout`)
  const failing = (reason: string) =>
    world.reason('HttpQueue', 'failing', reason, 'Failing', 2 * SYNC_EVERY_MS)
  const nowMs = Date.now()
  await failAt(nowMs)
  expect(await failing('FailureRaised')).toMatchObject({ status: 'True' })
  expect((await world.get('HttpQueue', 'failing')).status).toMatchObject({
    lastFailure: { time: kubernetesTime(nowMs), reason: 'timeout' },
  })
  expect(await ready('failing')).toMatchObject({ status: 'True' })
  await untilEvent('FailureRaised')
  await failAt(nowMs - QUEUE_FAILING_MS - 60_000)
  expect(await failing('NoRecentFailure')).toMatchObject({ status: 'False' })
})

test('a queue whose circuit breaker is open says until when, with an Event', async () => {
  await world.apply('HttpQueue', 'broken', { circuitBreaker: {} })
  await ready('broken')
  const { engine, connection } = world.engine
  const keys = shardOfQueue(engine, world.namespace, 'broken')
  const localId = String(await connection.hget(keys.queueIds, `${world.namespace}/broken`))
  const throttled = (reason: string) =>
    world.reason('HttpQueue', 'broken', reason, 'Throttled', 2 * SYNC_EVERY_MS)
  expect(await throttled('NotThrottled')).toMatchObject({ status: 'False' })
  const untilMs = Date.now() + 600_000
  const state = `||${untilMs}|1||0|0|0|0|0`
  await connection.hset(keys.queueKey('meta', localId), QUEUE.flowState, state, QUEUE.active, THROTTLED)
  expect(await throttled('CircuitOpen')).toMatchObject({ status: 'True' })
  const until = kubernetesTime(untilMs)
  const { status } = await world.get('HttpQueue', 'broken')
  expect(status).toMatchObject({ throttled: { reason: 'circuit_open', until } })
  await untilEvent('CircuitOpen')
  await createQueueStore(engine).unthrottle(world.namespace, Number(status?.['queueId']))
  expect(await throttled('NotThrottled')).toMatchObject({ status: 'False' })
})

test('a pushed queue becomes a resource, which is then what its settings are', async () => {
  await world.engine.intake.push(
    newJob({ team: world.namespace, queue: 'Pushed Queue!', start: { delaySeconds: 3600 } }),
  )
  const before = await inEngine('Pushed Queue!')
  const name = nameOfPushedQueue('Pushed Queue!')
  await until('the resource is there', async () => (await world.find('HttpQueue', name)) !== null)
  await ready(name)
  expect(await world.get('HttpQueue', name)).toMatchObject({
    spec: { queueName: 'Pushed Queue!' },
    metadata: { labels: { 'punctual.dev/origin': 'push' } },
    status: { queueId: before?.queueId },
  })
  expect((await inEngine('Pushed Queue!'))?.counts.delayed).toBe(1)
})

test("a user's resource takes a pushed queue over, with its id and its jobs", async () => {
  await world.apply('HttpQueue', 'mine', { queueName: 'taken-over', timeoutSeconds: 6 })
  await world.engine.intake.push(
    newJob({ team: world.namespace, queue: 'taken-over', start: { delaySeconds: 3600 } }),
  )
  await ready('mine')
  // One is created for the push if it is imported before the resource is known, and is deleted again.
  const pushed = nameOfPushedQueue('taken-over')
  await until('there is none of its own', async () => (await world.find('HttpQueue', pushed)) === null)
  expect(await inEngine('taken-over')).toMatchObject({
    counts: { delayed: 1 },
    settings: { timeoutSeconds: 6 },
  })
})

test("a user's resource takes a pushed queue over from the resource made for it, edits and all", async () => {
  const job = newJob({ team: world.namespace, queue: 'mail', start: { delaySeconds: 3600 } })
  await world.engine.intake.push(job)
  const pushed = nameOfPushedQueue('mail')
  await until('the pushed resource is there', async () => (await world.find('HttpQueue', pushed)) !== null)
  await ready(pushed)
  const queueId = (await inEngine('mail'))?.queueId
  await world.apply('HttpQueue', pushed, { queueName: 'mail', timeoutSeconds: 8 })
  await until('the edit is applied', async () => (await inEngine('mail'))?.settings.timeoutSeconds === 8)

  await world.apply('HttpQueue', 'mail', { maxParallelism: 4 })
  await ready('mail')
  await until('the pushed resource is deleted', async () => (await world.find('HttpQueue', pushed)) === null)
  expect(await inEngine('mail')).toMatchObject({
    queueId,
    counts: { delayed: 1 },
    settings: { maxParallelism: 4, timeoutSeconds: 30 },
  })
  expect((await world.get('HttpQueue', 'mail')).status).toMatchObject({ queueId })
  await world.engine.intake.push(job)
  expect((await inEngine('mail'))?.counts.delayed).toBe(2)
  await world.apply('HttpQueue', 'mail', { maxParallelism: 5 })
  await until('it stays its own', async () => (await inEngine('mail'))?.settings.maxParallelism === 5)
  expect(await world.find('HttpQueue', pushed)).toBeNull()
})
