import { describe, expect, it, test } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import { RATE_SHOWN_FROM_MS } from '../../../../src/controller/queues/queue-throttle.ts'
import type { Throttle } from '../../../../src/domain/jobs/flow.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../../../../src/resources/queue-owner.ts'
import { SECRET_POLL_MS, SECRET_READS_MAX } from '../../../../src/controller/secrets/secret-polls.ts'
import { NO_OWN_SECRETS } from '../../../../src/ports/access/own-secrets.ts'
import type { PlannedCrash } from '../reconcile/reconcile-world.ts'
import { createQueueWorld } from './queue-world.ts'

const KEY = 'shop/emails'
/** Of the resource that a push has made, of the same queue. */
const PUSHED = 'shop/emails-00d8d3f1'
const PUSH_LABELS = { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } }

async function applied(spec: Partial<HttpQueue['spec']> = {}) {
  const world = createQueueWorld()
  world.resources.put(KEY, { timeoutSeconds: 5, ...spec })
  await world.settle(KEY)
  return world
}

describe('a new resource', () => {
  it('gets its finalizer once, even if the informer does not show it before the status is written', async () => {
    const { resources, reconcile } = createQueueWorld()
    const made = resources.put(KEY, {})
    expect(await reconcile(KEY)).toBe('again')
    resources.put(KEY, {}, { finalizers: [], generation: (made.metadata.generation ?? 0) - 1 })
    expect(await reconcile(KEY)).toBe('done')
    expect(resources.writes).toEqual(['hold shop/emails', 'status shop/emails'])
  })

  it('gets the whole status', async () => {
    const { resources } = await applied()
    expect(resources.get(KEY)?.status).toMatchObject({
      observedGeneration: 1,
      queueId: 1,
      conditions: [
        { type: 'Dispatching', status: 'True', reason: 'Active' },
        { type: 'Ready', status: 'True', reason: 'Reconciled', observedGeneration: 1 },
      ],
    })
  })

  it('is applied before its status is written, so that many are applied before the first status', async () => {
    const { resources, engine, reconcile } = createQueueWorld()
    resources.put(KEY, {})
    expect(await reconcile(KEY)).toBe('again')
    expect(engine.queues.has(KEY)).toBe(true)
    expect(resources.get(KEY)?.status).toBeUndefined()
    expect(await reconcile(KEY)).toBe('done')
    expect(resources.get(KEY)?.status).toMatchObject({ queueId: 1 })
  })

  it('takes over a queue that a push has created, with its id', async () => {
    const world = createQueueWorld()
    world.engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
    world.resources.put('shop/other-name', { queueName: 'emails' })
    await world.settle(KEY)
    expect(world.resources.get('shop/other-name')?.status?.queueId).toBe(1)
    expect(world.engine.queues.get(KEY)?.isPushed).toBe(false)
  })

  it('reports that it is paused', async () => {
    const { resources, settle } = await applied()
    resources.put(KEY, { active: false })
    await settle(KEY)
    expect(resources.get(KEY)?.status?.conditions).toMatchObject([
      { type: 'Dispatching', status: 'False', reason: 'Paused' },
      { type: 'Ready', status: 'True', observedGeneration: 2 },
    ])
  })
})

it('a released resource is not taken for an orphan: a queue that a push has created since stays', async () => {
  const { resources, engine, reconcile, state } = await applied()
  resources.delete(KEY)
  const shown = resources.get(KEY)
  await reconcile(KEY)
  engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
  // The informer is behind and still has the resource.
  if (shown !== undefined) resources.put(KEY, {}, shown.metadata)
  for (let tries = 0; tries < 2; tries += 1) await reconcile(KEY)
  resources.force(KEY)
  await reconcile(KEY)
  expect(engine.queues.get(KEY)?.isPushed).toBe(true)
  expect(state.sweepsRequested).toBe(0)
})

describe('signing secrets of its own', () => {
  const REFS = [
    { name: 'partner', key: 'new' },
    { name: 'partner', key: 'old' },
  ]
  const SPEC = { signing: { secretRefs: REFS } }
  const NEW = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const OLD = 'a-signing-secret-of-enough-bytes'

  it('are applied, newest first, and read again', async () => {
    const { engine, resources, secrets, polls, settle, reconcile } = createSignedWorld()
    await settle(KEY)
    const applied = { signingSecrets: [NEW, OLD], signingSecretRefs: REFS, headerValues: {} }
    expect(engine.ownSecrets.get(`queue ${KEY}`)).toEqual(applied)
    // Both lie in one Secret, which is read once.
    const rest = { kind: 'HttpQueue', key: 'shop/rest' }
    expect(polls.note(rest, SECRET_READS_MAX - 1)).toBe(SECRET_POLL_MS)
    expect(polls.note(rest, SECRET_READS_MAX)).toBeGreaterThan(SECRET_POLL_MS)
    secrets.texts.set('shop/partner', { new: `${OLD}-rotated`, old: NEW })
    expect(await reconcile(KEY)).toBe('polled')
    expect(engine.ownSecrets.get(`queue ${KEY}`)?.signingSecrets).toEqual([`${OLD}-rotated`, NEW])
    expect(JSON.stringify(resources.get(KEY)?.status)).not.toContain(OLD)
    resources.put(KEY, { signing: { secretRefs: [] } })
    await settle(KEY)
    expect(engine.ownSecrets.get(`queue ${KEY}`)).toEqual(NO_OWN_SECRETS)
    expect(await reconcile(KEY)).toBe('done')
  })

  it.each([
    ['SecretNotFound', null, 'There is no Secret partner in shop.'],
    ['SecretKeyNotFound', { new: NEW }, 'Secret partner has no key old.'],
    [
      'SecretNotUsable',
      { new: NEW, old: 'canary' },
      'Key old of Secret partner must have at least 24 bytes, not 6.',
    ],
  ])('that cannot be used are %s: what was applied stays', async (reason, data, text) => {
    const { engine, resources, secrets, settle, reconcile } = createSignedWorld()
    await settle(KEY)
    const before = engine.ownSecrets.get(`queue ${KEY}`)
    if (data === null) secrets.texts.delete('shop/partner')
    else secrets.texts.set('shop/partner', data)
    resources.put(KEY, { ...SPEC, timeoutSeconds: 9 })
    expect(await reconcile(KEY)).toBe('polled')
    const [ready] = (resources.get(KEY)?.status?.conditions ?? []).filter(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'False', reason })
    expect(ready?.message).toContain(text)
    expect(ready?.message).not.toContain('canary')
    expect(engine.ownSecrets.get(`queue ${KEY}`)).toEqual(before)
    expect(engine.queues.get(KEY)?.settings.timeoutSeconds).not.toBe(9)
  })

  it('that are for something else sign nothing, and no other signs in their place', async () => {
    const { engine, resources, secrets, settle } = createSignedWorld()
    secrets.marks.set('shop/partner', { type: 'Opaque', labels: { 'punctual.dev/secret': 'header' } })
    await settle(KEY)
    expect(engine.queues.size).toBe(0)
    expect(engine.ownSecrets.get(`queue ${KEY}`)).toEqual({
      signingSecrets: [],
      signingSecretRefs: REFS,
      headerValues: {},
    })
    expect(resources.get(KEY)?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', reason: 'SecretNotUsable' }),
    )
  })

  it('are there before the queue is, also when the process dies in between', async () => {
    const { engine, reconcile, settle } = createSignedWorld({ at: 1, when: 'after' })
    expect(await reconcile(KEY)).toBe('failed')
    expect([engine.ownSecrets.size, engine.queues.size]).toEqual([1, 0])
    await settle(KEY)
    expect(engine.queues.has(KEY)).toBe(true)
  })

  /** A queue that names two. */
  function createSignedWorld(crash: PlannedCrash | null = null) {
    const world = createQueueWorld(crash)
    world.secrets.texts.set('shop/partner', { new: NEW, old: OLD })
    world.resources.put(KEY, SPEC)
    return world
  }
})

describe('counts', () => {
  const counted = {
    team: 'shop',
    name: 'emails',
    queueId: 1,
    oldestReadyMs: 60_000,
    lastFailure: null,
    lostJobs: null,
    split: { startable: 0, stopped: null, oldestStartableMs: null },
    throttle: null,
  }
  const counts = { pending: 3, delayed: 0, processing: 1, dead: 0 }

  it('are part of the one status, and of a moment ago', async () => {
    const { resources, settle, stats, clock } = await applied()
    stats.set(KEY, { ...counted, counts })
    await settle(KEY)
    const oldestReadyTime = new Date(clock.wallMs() - 60_000).toISOString().replace('.000Z', 'Z')
    expect(resources.get(KEY)?.status).toMatchObject({ counts, oldestReadyTime, queueId: 1 })
  })

  it('are part of the first status, and not those of a queue of that name before', async () => {
    const { resources, settle, counted: inRedis, stats } = createQueueWorld()
    stats.set(KEY, { ...counted, queueId: 7, counts: { ...counts, pending: 9 } })
    inRedis.set(KEY, { ...counted, counts })
    resources.put(KEY, {})
    await settle(KEY)
    expect(resources.get(KEY)?.status).toMatchObject({ counts, queueId: 1 })
  })

  it('that say the same cause no write, though clocks differ a little', async () => {
    const { resources, settle, stats, clock } = await applied()
    stats.set(KEY, { ...counted, counts })
    await settle(KEY)
    const before = resources.writes.length
    await clock.advance(15_000)
    stats.set(KEY, { ...counted, counts, oldestReadyMs: 60_000 + 15_000 + 1_200 })
    await settle(KEY)
    expect(resources.writes).toHaveLength(before)
  })

  it('of the queue that was there before are not shown', async () => {
    const { resources, settle, stats, engine } = await applied()
    stats.set(KEY, { ...counted, counts })
    await settle(KEY)
    engine.queues.clear()
    await settle(KEY)
    expect(resources.get(KEY)?.status).toMatchObject({ queueId: 2 })
    expect(resources.get(KEY)?.status).not.toHaveProperty('counts')
  })
})

describe('failures', () => {
  const counts = { pending: 0, delayed: 0, processing: 0, dead: 1 }
  const counted = {
    team: 'shop',
    name: 'emails',
    queueId: 1,
    counts,
    oldestReadyMs: null,
    lostJobs: null,
    split: { startable: 0, stopped: null, oldestStartableMs: null },
    throttle: null,
  }
  const atMs = Date.parse('2026-11-22T03:00:00Z')
  const failed = (ageMs: number) => ({
    ...counted,
    lastFailure: { atMs, ageMs, reason: 'timeout' as const },
  })

  it('are a condition for a quarter of an hour, with an event at its begin and one at its end', async () => {
    const { settle, stats, events, condition, resources } = await applied({ alertsEnabled: true })
    stats.set(KEY, { ...counted, lastFailure: null })
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toBeUndefined()
    expect(resources.get(KEY)?.status).not.toHaveProperty('lastFailure')
    stats.set(KEY, failed(1_000))
    await settle(KEY)
    const lastFailure = { time: '2026-11-22T03:00:00Z', reason: 'timeout' }
    expect(resources.get(KEY)?.status).toMatchObject({ lastFailure })
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', reason: 'FailureRaised' })
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
    stats.set(KEY, failed(899_999))
    await settle(KEY)
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'FailureRaised', note: 'Jobs fail for good (timeout).' },
    ])
    stats.set(KEY, failed(900_000))
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'False', reason: 'NoRecentFailure' })
    expect(resources.get(KEY)?.status).toMatchObject({ lastFailure })
    expect(events.slice(1)).toMatchObject([{ type: 'Normal', reason: 'NoRecentFailure' }])
  })

  it('stand in the status of a queue without alerts too, which is not called failing', async () => {
    const { settle, stats, events, condition, resources } = await applied()
    stats.set(KEY, failed(1_000))
    await settle(KEY)
    const lastFailure = { time: '2026-11-22T03:00:00Z', reason: 'timeout' }
    expect(resources.get(KEY)?.status).toMatchObject({ lastFailure })
    expect(condition(KEY, 'Failing')).toBeUndefined()
    expect(events).toEqual([])
  })

  it('stay in the status while nothing is known, and are not those of the queue before', async () => {
    const { settle, stats, events, condition, resources, engine } = await applied({ alertsEnabled: true })
    stats.set(KEY, failed(1_000))
    await settle(KEY)
    stats.clear()
    resources.put(KEY, { timeoutSeconds: 7, alertsEnabled: true })
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(resources.get(KEY)?.status).toHaveProperty('lastFailure')
    expect(events).toHaveLength(1)
    engine.queues.clear()
    await settle(KEY)
    expect(resources.get(KEY)?.status).not.toHaveProperty('lastFailure')
  })
})

describe('a throttle', () => {
  const counted = {
    team: 'shop',
    name: 'emails',
    queueId: 1,
    counts: { pending: 3, delayed: 0, processing: 0, dead: 0 },
    oldestReadyMs: null,
    lastFailure: null,
    lostJobs: null,
    split: { startable: 0, stopped: null, oldestStartableMs: null },
  }
  const circuitBreaker = { failurePercent: 50, minCalls: 10, windowSeconds: 60, openSeconds: 30 }
  const untilMs = Date.parse('2026-11-22T03:00:00.400Z')

  it('of a breaker is a condition, with an event as it opens and one when it no longer is open', async () => {
    const { settle, stats, events, condition, resources } = await applied({ circuitBreaker })
    const settled = async (throttle: Throttle | null) => {
      stats.set(KEY, { ...counted, throttle })
      await settle(KEY)
      return resources.get(KEY)?.status?.throttled
    }
    expect(await settled(null)).toBeUndefined()
    expect(condition(KEY, 'Throttled')).toMatchObject({ status: 'False', reason: 'NotThrottled' })
    expect(events).toEqual([])
    const until = '2026-11-22T03:00:00Z'
    expect(await settled({ reason: 'circuit_open', untilMs })).toEqual({ reason: 'circuit_open', until })
    const message = `Too many calls of its target failed: no job begins before ${until}, and then one tries it.`
    expect(condition(KEY, 'Throttled')).toMatchObject({ status: 'True', reason: 'CircuitOpen', message })
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
    expect(await settled({ reason: 'circuit_open', untilMs: null })).toEqual({ reason: 'circuit_open' })
    expect(condition(KEY, 'Throttled')?.message).toContain('one job tries it now')
    expect(await settled({ reason: 'circuit_open', untilMs: untilMs + 60_000 })).toMatchObject({
      until: '2026-11-22T03:01:00Z',
    })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'CircuitOpen', note: message }])
    expect(await settled(null)).toBeUndefined()
    expect(events.slice(1)).toMatchObject([
      { type: 'Normal', reason: 'NotThrottled', note: 'Jobs may begin.' },
    ])
  })

  it('that a target asks for, or a slow rate, is a condition without an event', async () => {
    const rateLimit = { limit: 1, periodSeconds: 3_600 }
    const { settle, stats, events, condition, clock } = await applied({ rateLimit, respectRetryAfter: true })
    stats.set(KEY, { ...counted, throttle: { reason: 'target_asks_to_wait', untilMs } })
    await settle(KEY)
    expect(condition(KEY, 'Throttled')).toMatchObject({ status: 'True', reason: 'TargetAsksToWait' })
    const reasonAt = async (ms: number) => {
      stats.set(KEY, { ...counted, throttle: { reason: 'rate_limited', untilMs: clock.wallMs() + ms } })
      await settle(KEY)
      return condition(KEY, 'Throttled')?.reason
    }
    expect(await reasonAt(RATE_SHOWN_FROM_MS)).toBe('RateLimited')
    expect(await reasonAt(RATE_SHOWN_FROM_MS - 1)).toBe('NotThrottled')
    expect(events).toEqual([])
  })

  it('is not told of a queue without such a setting, and stays as it is while nothing is known', async () => {
    const { settle, stats, condition, resources } = await applied({ circuitBreaker })
    stats.set(KEY, { ...counted, throttle: { reason: 'circuit_open', untilMs } })
    await settle(KEY)
    const shown = resources.get(KEY)?.status?.throttled
    stats.clear()
    resources.put(KEY, { circuitBreaker, timeoutSeconds: 7 })
    await settle(KEY)
    expect(condition(KEY, 'Throttled')).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(resources.get(KEY)?.status?.throttled).toEqual(shown)
    resources.put(KEY, { circuitBreaker: null })
    await settle(KEY)
    expect(condition(KEY, 'Throttled')).toBeUndefined()
    expect(resources.get(KEY)?.status).not.toHaveProperty('throttled')
    stats.set(KEY, { ...counted, throttle: { reason: 'circuit_open', untilMs } })
    await settle(KEY)
    expect(condition(KEY, 'Throttled')).toBeUndefined()
    expect(resources.get(KEY)?.status).not.toHaveProperty('throttled')
  })
})

it('reports for a while that jobs were lost', async () => {
  const { resources, settle, engineState } = await applied()
  engineState.loss = { reason: 'EngineLost', atMs: 0, message: 'Redis was found empty.' }
  await settle(KEY)
  const lost = { type: 'JobsLost', status: 'True', reason: 'EngineLost' }
  expect(resources.get(KEY)?.status?.conditions).toContainEqual(expect.objectContaining(lost))
  engineState.loss = null
  await settle(KEY)
  expect(resources.get(KEY)?.status?.conditions?.map(({ type }) => type)).toEqual(['Dispatching', 'Ready'])
})

it('reports the jobs of its own that were lost, before what the engine lost', async () => {
  const { settle, stats, engineState, condition } = await applied()
  engineState.loss = { reason: 'EngineRestored', atMs: 0, message: 'Redis holds an older copy.' }
  const lostJobs = { count: 218, fromMs: 0, toMs: 1_500, ageMs: 0 }
  const counts = { pending: 0, delayed: 0, processing: 0, dead: 0 }
  const queue = {
    team: 'shop',
    name: 'emails',
    queueId: 1,
    oldestReadyMs: null,
    lastFailure: null,
    throttle: null,
    split: { startable: 0, stopped: null, oldestStartableMs: null },
  }
  stats.set(KEY, { ...queue, counts, lostJobs })
  await settle(KEY)
  expect(condition(KEY, 'JobsLost')).toMatchObject({
    status: 'True',
    reason: 'AcceptedJobsLost',
    message:
      'Redis came back without 218 jobs that were accepted from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:01.500Z: push them again. Others may be called twice.',
  })
})

it('reports while Redis puts jobs at risk', async () => {
  const { resources, settle, engineState, condition } = await applied()
  engineState.risks = ['Redis may evict jobs.', 'Redis would lose jobs at a restart.']
  await settle(KEY)
  expect(condition(KEY, 'JobsAtRisk')).toMatchObject({
    status: 'True',
    reason: 'RedisUnsafe',
    message: 'Redis may evict jobs. Redis would lose jobs at a restart. Jobs are taken and called as before.',
  })
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  engineState.risks = []
  await settle(KEY)
  expect(resources.get(KEY)?.status?.conditions?.map(({ type }) => type)).toEqual(['Dispatching', 'Ready'])
})

describe('a crash between any two writes ends the same', () => {
  type World = ReturnType<typeof createQueueWorld>
  const stories: Record<string, (world: World) => Promise<void>> = {
    'made, edited and deleted': async ({ resources, settle }) => {
      resources.put(KEY, {})
      await settle(KEY)
      resources.put(KEY, { timeoutSeconds: 7 })
      await settle(KEY)
      resources.delete(KEY)
      await settle(KEY)
    },
    "a pushed one, then a user's": async ({ resources, settle }) => {
      resources.put(PUSHED, { queueName: 'emails' }, PUSH_LABELS)
      await settle(KEY)
      resources.put(KEY, { timeoutSeconds: 7 })
      await settle(KEY)
    },
    'the older of two deleted': async ({ resources, settle }) => {
      resources.put(KEY, {})
      resources.put('shop/late', { queueName: 'emails', timeoutSeconds: 9 })
      await settle(KEY)
      resources.delete(KEY)
      await settle(KEY)
    },
  }
  const endOf = ({ resources, engine }: World) => ({
    engine: [...engine.queues].map(([key, { queueId, settings }]) => [key, queueId, settings]),
    resources: [...resources.informer.all()].map(({ metadata, status }) => [
      metadata.name,
      metadata.finalizers,
      status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    ]),
  })

  test.each(Object.entries(stories))('%s', async (_name, play) => {
    const whole = createQueueWorld()
    await play(whole)
    expect(whole.state.effects).toBeGreaterThan(5)
    for (let at = 0; at < whole.state.effects; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const crashed = createQueueWorld({ at, when })
        await play(crashed)
        expect(crashed.state.hasCrashed, `${when} write ${at}`).toBe(true)
        expect(endOf(crashed), `${when} write ${at}`).toEqual(endOf(whole))
      }
    }
  })
})
