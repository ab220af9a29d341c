import { describe, expect, it, test } from 'vitest'
import type { CronStatsEntry } from '../../../../src/ports/crons.ts'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { NO_OWN_SECRETS } from '../../../../src/ports/access/own-secrets.ts'
import { SECRET_POLL_MS, SECRET_READS_MAX } from '../../../../src/controller/secrets/secret-polls.ts'
import { UNFINISHED_CRON_MS } from '../../../../src/controller/crons/cron-reconciler.ts'
import { createCronWorld } from './cron-world.ts'

const KEY = 'shop/nightly'
const NEXT = '2026-11-22T03:00:00Z'

async function applied() {
  const world = createCronWorld()
  world.resources.put(KEY, {})
  await world.settle(KEY)
  return world
}

function aState(change: Partial<CronStatsEntry> = {}): CronStatsEntry {
  return {
    cronId: 1,
    nextRunAtMs: Date.parse(NEXT),
    lastRun: {
      scheduledAtMs: Date.parse('2026-11-21T03:00:00Z'),
      result: 'failed',
      jobId: 16,
      isManual: false,
      ticks: 1,
    },
    lastSuccessAtMs: Date.parse('2026-11-19T03:00:00Z'),
    consecutiveFailures: 2,
    failing: null,
    lastFailure: null,
    ...change,
  }
}

describe('a new resource', () => {
  it('gets the whole status', async () => {
    const { engine, status } = await applied()
    expect(engine.crons.get(KEY)?.settings).toMatchObject({ displayName: 'nightly', timeZone: 'UTC' })
    expect(status(KEY)).toEqual({
      observedGeneration: 1,
      id: 1,
      nextRunTime: NEXT,
      conditions: [
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Reconciled' }),
        expect.objectContaining({ type: 'Scheduled', status: 'True', reason: 'Scheduled' }),
      ],
    })
  })

  it('that is paused has no next run, and reports so', async () => {
    const { resources, settle, status, condition } = await applied()
    resources.put(KEY, { active: false })
    await settle(KEY)
    expect(status(KEY)).not.toHaveProperty('nextRunTime')
    expect(condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'Paused' })
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 2 })
  })
})

describe('Secrets', () => {
  const HEADERS = [
    { name: 'Accept', value: 'text/plain' },
    { name: 'Authorization', valueFrom: { secretKeyRef: { name: 'partner', key: 'token' } } },
  ]
  const SPEC = { headers: HEADERS, signing: { secretRefs: [{ name: 'own', key: 'current' }] } }
  const OWN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

  it('that a cron names are applied before it, and read again', async () => {
    const { engine, resources, secrets, settle, reconcile, condition } = createCronWorld()
    secrets.texts.set('shop/partner', { token: 'Bearer canary' }).set('shop/own', { current: OWN })
    resources.put(KEY, SPEC)
    await settle(KEY)
    expect(engine.ownSecrets.get(`cron ${KEY}`)).toEqual({
      signingSecrets: [OWN],
      signingSecretRefs: SPEC.signing.secretRefs,
      headerValues: { authorization: 'Bearer canary' },
      headerOrigin: 'https://a.test',
    })
    const { headers, signer } = engine.crons.get(KEY)?.settings ?? {}
    expect(signer).toBe('nightly')
    expect(JSON.stringify(headers)).not.toContain('canary')
    secrets.texts.set('shop/partner', { token: 'Bearer other' })
    expect(await reconcile(KEY)).toBe('polled')
    expect(engine.ownSecrets.get(`cron ${KEY}`)?.headerValues).toEqual({ authorization: 'Bearer other' })
    expect(JSON.stringify(condition(KEY, 'Ready'))).not.toContain('Bearer')
    resources.put(KEY, { headers: [], signing: { secretRefs: [] } })
    await settle(KEY)
    expect(engine.ownSecrets.get(`cron ${KEY}`)).toEqual(NO_OWN_SECRETS)
    expect(await reconcile(KEY)).toBe('done')
  })

  it.each([
    ['SecretNotFound', {}, 'There is no Secret partner in shop.'],
    ['SecretKeyNotFound', { other: 'x' }, 'Secret partner has no key token.'],
    ['SecretNotUsable', { token: 'canary\n' }, 'Key token of Secret partner ends with a line break'],
  ])('that cannot be used are %s, and nothing is applied', async (reason, data, text) => {
    const { engine, resources, secrets, settle, condition } = createCronWorld()
    if (Object.keys(data).length > 0) secrets.texts.set('shop/partner', data)
    resources.put(KEY, { headers: HEADERS })
    await settle(KEY)
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason })
    expect(condition(KEY, 'Ready')?.message).toContain(text)
    expect(condition(KEY, 'Ready')?.message).not.toContain('canary')
    expect(engine.crons.size).toBe(0)
  })

  it('count once for each read, however many of their values are named', async () => {
    const { resources, secrets, settle, polls } = createCronWorld()
    secrets.texts.set('shop/partner', { token: 'a', other: 'b', third: 'c' })
    const named = ['token', 'other', 'third'].map((key) => ({
      name: `X-${key}`,
      valueFrom: { secretKeyRef: { name: 'partner', key } },
    }))
    resources.put(KEY, { headers: named })
    await settle(KEY)
    const rest = { kind: 'HttpCron', key: 'shop/rest' }
    expect(polls.note(rest, SECRET_READS_MAX - 1)).toBe(SECRET_POLL_MS)
    expect(polls.note(rest, SECRET_READS_MAX)).toBeGreaterThan(SECRET_POLL_MS)
  })

  it.each([
    ['owner', 'The values that it takes from Secrets have more than 32768 bytes.'],
    ['team', 'The values that the team’s queues and crons take from Secrets need more than 1048576 bytes'],
  ] as const)(
    'that are too large for the %s are SecretsTooLarge, and nothing is applied',
    async (of, text) => {
      const { engine, resources, secrets, settle, reconcile, condition } = createCronWorld()
      const { putOwnSecrets } = engine.compiler
      Object.assign(engine.compiler, { putOwnSecrets: () => Promise.resolve({ status: 'too_large', of }) })
      secrets.texts.set('shop/partner', { token: 'Bearer canary' })
      resources.put(KEY, { headers: HEADERS })
      await settle(KEY)
      expect(condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason: 'SecretsTooLarge' })
      expect(condition(KEY, 'Ready')?.message).toContain(text)
      expect(engine.crons.size).toBe(0)
      // There may be room when the Secrets are read again.
      Object.assign(engine.compiler, { putOwnSecrets })
      expect(await reconcile(KEY)).toBe('polled')
      expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
    },
  )

  it('that a full Redis does not take are retried, and the status says so', async () => {
    const { engine, resources, secrets, reconcile, condition } = createCronWorld()
    Object.assign(engine.compiler, { putOwnSecrets: () => Promise.reject(new StorageFullError()) })
    secrets.texts.set('shop/partner', { token: 'Bearer canary' })
    resources.put(KEY, { headers: HEADERS })
    await expect(reconcile(KEY)).rejects.toThrow(StorageFullError)
    expect(condition(KEY, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
    expect(condition(KEY, 'Ready')?.message).toBe(
      'Redis is full: settings applied earlier stay, and the current ones are applied when there is room.',
    )
    expect(engine.crons.size).toBe(0)
  })

  describe('go where their Secret says', () => {
    const world = () => {
      const parts = createCronWorld()
      parts.secrets.texts.set('shop/partner', { token: 'canary' })
      const says = (text: string | null) =>
        parts.secrets.marks.set('shop/partner', {
          annotations: text === null ? {} : { 'punctual.dev/hosts': text },
        })
      const values = () => parts.engine.ownSecrets.get(`cron ${KEY}`)?.headerValues
      const url = 'https://partner.test/hook'
      return { ...parts, says, values, url }
    }

    it('and nowhere else: a cron that calls another host is refused, and nothing is applied', async () => {
      const { resources, says, settle, condition, engine, values } = world()
      says('partner.test')
      resources.put(KEY, { headers: HEADERS, url: 'https://evil.test/x' })
      await settle(KEY)
      expect(condition(KEY, 'Ready')).toMatchObject({
        reason: 'SecretNotUsable',
        message: expect.stringContaining(
          'Secret partner may not go to evil.test: its annotation punctual.dev/hosts says partner.test.',
        ),
      })
      expect([engine.crons.size, values()]).toEqual([0, undefined])
    })

    it('which their owner does by a command that the condition names', async () => {
      const { resources, says, settle, condition, values, url } = world()
      says(null)
      resources.put(KEY, { headers: HEADERS, url })
      await settle(KEY)
      expect(condition(KEY, 'Ready')?.message).toContain(
        "kubectl annotate secret partner --namespace shop --overwrite 'punctual.dev/hosts=partner.test'",
      )
      expect(values()).toBeUndefined()
      says('partner.test')
      await settle(KEY)
      expect(values()).toEqual({ authorization: 'canary' })
    })

    it('and an edit to another host leaves what was applied, which a change of the Secret takes away', async () => {
      const { resources, says, settle, condition, values, url } = world()
      says('partner.test')
      resources.put(KEY, { headers: HEADERS, url })
      await settle(KEY)
      resources.put(KEY, { url: 'https://evil.test/' })
      await settle(KEY)
      expect(condition(KEY, 'Ready')).toMatchObject({ reason: 'SecretNotUsable' })
      expect(values()).toEqual({ authorization: 'canary' })
      says(null)
      await settle(KEY)
      expect(values()).toEqual({ authorization: 'canary' })
      says('other.test')
      await settle(KEY)
      expect(values()).toEqual({})
    })
  })

  it('that are for something else are not sent anywhere', async () => {
    const { engine, resources, secrets, settle, condition } = createCronWorld()
    secrets.texts.set('shop/partner', { token: 'the password of a database' })
    secrets.marks.set('shop/partner', { type: 'Opaque', labels: { 'punctual.dev/secret': 'signing' } })
    resources.put(KEY, { headers: HEADERS })
    await settle(KEY)
    expect(condition(KEY, 'Ready')).toMatchObject({ reason: 'SecretNotUsable' })
    expect(condition(KEY, 'Ready')?.message).toContain(
      'Secret partner is not for this: give it type punctual.dev/header-secret, or the label punctual.dev/secret=header.',
    )
    expect(engine.ownSecrets.size).toBe(0)
  })
})

describe('what the engine knows', () => {
  it('is written when it has changed, and not again', async () => {
    const { resources, settle, states, status, clock } = await applied()
    states.set(KEY, aState())
    await settle(KEY)
    expect(status(KEY)).toMatchObject({
      id: 1,
      nextRunTime: NEXT,
      lastRunTime: '2026-11-21T03:00:00Z',
      lastRunResult: 'Failed',
      lastSuccessTime: '2026-11-19T03:00:00Z',
      consecutiveFailures: 2,
    })
    const before = resources.writes.length
    await clock.advance(3_600_000)
    await settle(KEY)
    expect(resources.writes).toHaveLength(before)
  })

  it('of another cron of that name is not', async () => {
    const { settle, states, status } = await applied()
    states.set(KEY, aState({ cronId: 99 }))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ id: 1 })
    expect(status(KEY)).not.toHaveProperty('lastRunTime')
  })

  it('stays in the status until it is read again, after a change too', async () => {
    const { resources, settle, states, status } = await applied()
    states.set(KEY, aState())
    await settle(KEY)
    states.clear()
    resources.put(KEY, { timeoutSeconds: 5 })
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ observedGeneration: 2, lastRunResult: 'Failed' })
  })
})

describe('a mistake', () => {
  it('that follows another has an event with its own text, and one that stays has no more', async () => {
    const { resources, settle, events } = await applied()
    const notes = () => events.map(({ note }) => note)
    for (const timeZone of ['Mars/Base', 'Moon/Base', 'Moon/Base']) {
      resources.put(KEY, { timeZone })
      await settle(KEY)
    }
    expect(notes()).toEqual([expect.stringContaining('"Mars/Base"'), expect.stringContaining('"Moon/Base"')])
  })
})

describe('failures', () => {
  it('are a condition until a run succeeds, with an event at its begin and one at its end', async () => {
    const { settle, states, status, condition, events } = await applied()
    const failed = { scheduledAtMs: Date.parse('2026-11-21T03:00:00Z'), reason: 'timeout' } as const
    const lastFailure = { time: '2026-11-21T03:00:00Z', reason: 'timeout' }
    states.set(KEY, aState({ lastFailure: failed }))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(condition(KEY, 'Failing')).toBeUndefined()
    states.set(KEY, aState({ failing: 'timeout', lastFailure: failed }))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', reason: 'FailureRaised' })
    states.set(
      KEY,
      aState({
        failing: 'timeout',
        lastRun: { scheduledAtMs: Date.parse(NEXT), result: 'running', jobId: 17, isManual: false, ticks: 1 },
      }),
    )
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'FailureRaised' }])
    states.set(KEY, aState({ consecutiveFailures: 0 }))
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'False', reason: 'Recovered' })
    expect(status(KEY)).toMatchObject({ lastFailure })
    expect(events.slice(1)).toMatchObject([{ type: 'Normal', reason: 'Recovered' }])
  })

  it('stay in the status while nothing is known', async () => {
    const { resources, settle, states, status, condition, events } = await applied()
    const lastFailure = { scheduledAtMs: Date.parse('2026-11-21T03:00:00Z'), reason: 'timeout' } as const
    states.set(KEY, aState({ failing: 'timeout', lastFailure }))
    await settle(KEY)
    states.clear()
    resources.put(KEY, { timeoutSeconds: 5 })
    await settle(KEY)
    expect(condition(KEY, 'Failing')).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(status(KEY)).toHaveProperty('lastFailure')
    expect(events).toHaveLength(1)
  })
})

it('gets its former id back from an engine that has lost its data', async () => {
  const { engine, settle, status } = await applied()
  engine.crons.clear()
  engine.push('shop', 'takes the next id', {} as never)
  await settle(KEY)
  expect(engine.crons.get(KEY)?.cronId).toBe(1)
  expect(status(KEY)?.id).toBe(1)
})

describe('a spec that cannot be applied', () => {
  test.each([
    [
      { cronExpression: '0 0 31 2 *' },
      'ImpossibleSchedule',
      'spec.cronExpression: never comes: none of its months has a day 31.',
    ],
    [
      { timeZone: 'Mars/Base' },
      'UnknownTimeZone',
      'spec.timeZone: must be the IANA name of a time zone, such as Europe/Berlin or UTC; "Mars/Base" is none.',
    ],
    [
      { timeZone: 'CST' },
      'UnknownTimeZone',
      'spec.timeZone: must be the IANA name of a time zone, such as Europe/Berlin or UTC; "CST" is none. Use America/Chicago or Asia/Shanghai.',
    ],
    [{ timeoutSeconds: 9000 }, 'InvalidSpec', 'spec.timeoutSeconds: 9000 must be from 1 to 300.'],
    [
      {
        headers: [
          { name: 'Authorization', value: 'a' },
          { name: 'authorization', value: 'b' },
        ],
      },
      'InvalidSpec',
      'spec.headers: must not have one name twice; upper and lower case do not count.',
    ],
  ])('%j is stalled as %s, with one event', async (spec, reason, message) => {
    const { resources, engine, settle, events } = createCronWorld()
    resources.put(KEY, spec)
    await settle(KEY)
    expect(engine.crons.size).toBe(0)
    expect(resources.get(KEY)?.status).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'False', reason: 'InvalidSpec', message },
        { type: 'Scheduled', status: 'False', reason, message },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message },
      ],
    })
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'InvalidSpec', action: 'ApplyCron', note: message },
    ])
  })

  it('keeps the settings applied earlier, and reports so', async () => {
    const { resources, engine, settle, condition, status } = await applied()
    resources.put(KEY, { cronExpression: '0 0 31 2 *' })
    await settle(KEY)
    expect(engine.crons.get(KEY)?.settings.cronExpression).toBe('0 3 * * *')
    expect(condition(KEY, 'Scheduled')?.message).toContain('The settings applied earlier stay.')
    expect(status(KEY)).toMatchObject({ id: 1, nextRunTime: NEXT })
  })
})

it('whose target the egress policy refuses is not applied, and says so until it may', async () => {
  const { resources, engine, settle, found, condition } = createCronWorld()
  found.blocked = { reason: 'TargetBlocked', problem: 'spec.url: must not point to a blocked address.' }
  resources.put(KEY, {})
  await settle(KEY)
  expect(engine.crons.size).toBe(0)
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason: 'TargetBlocked' })
  // What applies it together with the TeamSettings that opens the target goes on waiting.
  expect(condition(KEY, 'Stalled')).toBeUndefined()
  expect(condition(KEY, 'Scheduled')).toMatchObject({
    reason: 'TargetBlocked',
    message: found.blocked.problem,
  })
  found.blocked = null
  await settle(KEY)
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
})

it('that no answer can satisfy is applied, with a condition and one event', async () => {
  const { resources, engine, settle, condition, events } = createCronWorld()
  const never = { type: 'StatusCodeEquals', value: 302 }
  resources.put(KEY, { successAssertions: [{ type: 'BodyContains', value: 'ok' }, never] })
  await settle(KEY)
  await settle(KEY)
  expect(engine.crons.size).toBe(1)
  const message = 'spec.successAssertions[1]: only a 2xx response is a success, so status 302 can never pass.'
  expect(condition(KEY, 'CanSucceed')).toMatchObject({
    status: 'False',
    reason: 'AssertionNeverHolds',
    message,
  })
  expect(events).toMatchObject([{ type: 'Warning', reason: 'AssertionNeverHolds', note: message }])
  resources.put(KEY, { successAssertions: [] })
  await settle(KEY)
  expect(condition(KEY, 'CanSucceed')).toBeUndefined()
})

it('says whether the queue that it names exists', async () => {
  const { resources, settle, found, condition } = await applied()
  expect(condition(KEY, 'QueueFound')).toBeUndefined()
  resources.put(KEY, { queue: 'mails' })
  await settle(KEY)
  expect(condition(KEY, 'QueueFound')).toMatchObject({ status: 'False', reason: 'NotFound' })
  expect(condition(KEY, 'QueueFound')?.message).toContain('"mails"')
  expect(condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  found.queues.add('shop/mails')
  await settle(KEY)
  expect(condition(KEY, 'QueueFound')).toMatchObject({ status: 'True', reason: 'Found' })
})

describe('a cron over the quota of its team', () => {
  const OBSTACLE = 'The quota of the team is 500 crons, and it has that many older ones.'

  it('is not applied, and reports why', async () => {
    const world = createCronWorld()
    world.found.obstacle = OBSTACLE
    world.resources.put(KEY, {})
    await world.settle(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
    const message = `${OBSTACLE} It is not applied.`
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'False', reason: 'QuotaExceeded', message })
    expect(world.condition(KEY, 'Scheduled')).toMatchObject({ status: 'False', reason: 'QuotaExceeded' })
  })

  it('that was applied is paused, keeps its id, and resumes within the quota', async () => {
    const world = await applied()
    world.found.obstacle = OBSTACLE
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ cronId: 1, settings: { isActive: false } })
    expect(world.condition(KEY, 'Ready')).toMatchObject({ message: `${OBSTACLE} It is paused.` })
    world.found.obstacle = null
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ cronId: 1, settings: { isActive: true } })
    expect(world.condition(KEY, 'Ready')).toMatchObject({ status: 'True' })
  })
})

describe('a cron whose copy lacks its payload', () => {
  it('is applied with the payload that the API server has', async () => {
    const world = createCronWorld()
    world.resources.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    await world.settle(KEY)
    expect(world.engine.crons.get(KEY)).toMatchObject({ settings: { payload: 'the whole of it' } })
  })

  it('waits for the informer when the API server has another cron of the name', async () => {
    const world = createCronWorld()
    world.resources.put(KEY, { payload: 'the whole of it' })
    world.found.isLean = true
    world.found.isSuccessor = true
    await world.reconcile(KEY)
    expect(world.engine.crons.has(KEY)).toBe(false)
  })
})

describe('a cron whose Secret the API may not have made yet', () => {
  const unfinished = (ageMs: number, wallMs: number) => ({
    annotations: { 'punctual.dev/unfinished': 'true' },
    creationTimestamp: new Date(wallMs - ageMs).toISOString(),
  })

  it('is neither applied nor told of, until the mark is taken away', async () => {
    const { engine, resources, events, clock, reconcile, settle } = createCronWorld()
    resources.put(KEY, {}, unfinished(0, clock.wallMs()))
    expect(await reconcile(KEY)).toBe('polled')
    expect([engine.crons.size, resources.writes, events]).toEqual([0, [], []])
    resources.put(KEY, {}, { annotations: {} })
    await settle(KEY)
    expect(engine.crons.size).toBe(1)
  })

  it('is deleted when nobody has finished it in time', async () => {
    const { engine, resources, clock, reconcile } = createCronWorld()
    resources.put(KEY, {}, unfinished(UNFINISHED_CRON_MS - 1, clock.wallMs()))
    expect(await reconcile(KEY)).toBe('again')
    await clock.advance(1)
    expect(await reconcile(KEY)).toBe('done')
    expect([engine.crons.size, resources.get(KEY), resources.writes]).toEqual([
      0,
      undefined,
      [`remove ${KEY}`],
    ])
  })

  it('is an ordinary one once it was applied, as by a controller of the version before', async () => {
    const { engine, resources, clock, settle, status } = await applied()
    resources.put(KEY, { timeoutSeconds: 5 }, unfinished(2 * UNFINISHED_CRON_MS, clock.wallMs()))
    await settle(KEY)
    expect(status(KEY)).toMatchObject({ id: 1 })
    expect(engine.crons.get(KEY)?.settings).toMatchObject({ timeoutSeconds: 5 })
  })
})
