import { SECRET_POLL_MS, SecretPolls } from '../../../../src/controller/secrets/secret-polls.ts'
import { createFakeSecrets } from '../fake-secrets.ts'
import { describe, expect, it } from 'vitest'
import type { TeamSettings } from '../../../../src/controller/kinds.ts'
import type { ChannelProblem } from '../../../../src/controller/teams/team-channels.ts'
import { createTeamReconciler } from '../../../../src/controller/teams/team-reconciler.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { NO_QUOTAS, quotasOf } from '../../../../src/domain/quotas.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import type { TeamUsage } from '../../../../src/ports/quotas.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { createMemoryEngine } from '../memory-engine.ts'
import { createMemoryKind } from '../memory-kind.ts'

const KEY = 'shop/team'
const REFS = { signing: { secretRefs: [{ name: 'signing', key: 'current' }] } }

function setUp() {
  const clock = createFakeClock()
  const kind = createMemoryKind<TeamSettings>({
    kind: 'TeamSettings',
    indexes: {},
    defaults: {
      egress: { allow: [] },
      signing: { secretRefs: [] },
      headerSecrets: [],
      members: [],
      notifications: { channels: [] },
    },
  })
  const engine = createMemoryEngine()
  const events: ResourceEvent[] = []
  const fake = createFakeSecrets()
  const { texts: secrets, marks } = fake
  const state = Object.assign(fake.state, {
    waiting: 0,
    usage: null as TeamUsage | null,
    failing: [] as ChannelProblem[] | null,
  })
  const reconciler = createTeamReconciler({
    informer: kind.informer,
    writer: kind.writer,
    engine,
    secrets: fake.reader,
    polls: new SecretPolls(),
    waitingOf: () => state.waiting,
    usageOf: () => state.usage,
    failingOf: () => state.failing,
    quotas: quotasOf({ queues: 9, crons: 3 }),
    egress: {
      refusalOf: ({ hostname }, { egressAllow }) =>
        hostname === '10.0.0.1' && !egressAllow.includes('10.0.0.1') ? 'blocked' : null,
      ineffectiveEntries: (entries) =>
        entries.filter((entry) => entry.startsWith('192.168.') || entry === 'a.test'),
    },
    events: { record: (event) => void events.push(event) },
    clock,
    metrics: { statusWritten: () => undefined },
  })
  const reconcile = (key = KEY) => reconciler.reconcile(key, new AbortController().signal)
  const ready = () => kind.get(KEY)?.status?.conditions?.find(({ type }) => type === 'Ready')
  return { clock, kind, engine, events, secrets, marks, state, reconcile, ready }
}

it('names the entries that open nothing, with an event, and applies the rest', async () => {
  const { kind, engine, reconcile, ready, events } = setUp()
  const condition = () => kind.get(KEY)?.status?.conditions?.find(({ type }) => type === 'EgressAllowed')
  const allow = ['10.0.0.0/8', '192.168.0.0/16', '192.168.7.0/24:443']
  kind.put(KEY, { egress: { allow } })
  await reconcile()
  await reconcile()
  expect(ready()).toMatchObject({ status: 'True' })
  expect(engine.teams.get('shop')).toMatchObject({ egressAllow: allow })
  expect(condition()).toMatchObject({ status: 'False', reason: 'NotAllowable' })
  expect(condition()?.message).toMatch(/teams open it .*: "192.168.0.0\/16", "192.168.7.0\/24:443".$/)
  expect(events).toMatchObject([{ type: 'Warning', reason: 'NotAllowable' }])
  // What was applied stays in force, and so does what is known of it.
  kind.put(KEY, { ...REFS, egress: { allow } })
  await reconcile()
  expect(ready()).toMatchObject({ status: 'False', reason: 'SecretNotFound' })
  expect(condition()).toMatchObject({ reason: 'NotAllowable' })
  kind.put(KEY, { signing: { secretRefs: [] }, egress: { allow: ['10.0.0.0/8'] } })
  await reconcile()
  expect(ready()).toMatchObject({ status: 'True' })
  expect(condition()).toBeUndefined()
})

it('does not count an entry that lets the host of a channel speak as a chat service', async () => {
  const { kind, secrets, reconcile } = setUp()
  secrets.set('shop/urls', { slack: 'https://chat.a.test/hooks/x' })
  const chat = {
    name: 'chat',
    type: 'Slack',
    alertTypes: ['Failure'],
    secretRef: { name: 'urls', key: 'slack' },
  } as const
  kind.put(KEY, { egress: { allow: ['a.test'] }, notifications: { channels: [chat] } })
  await reconcile()
  expect(kind.get(KEY)?.status?.conditions?.map(({ type }) => type)).toEqual(['NotificationsReady', 'Ready'])
})

it('applies egress and signing secrets, and writes nothing the next time', async () => {
  const { kind, engine, secrets, reconcile, ready } = setUp()
  kind.put(KEY, { ...REFS, egress: { allow: ['10.0.0.0/8'] } })
  secrets.set('shop/signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
  expect(await reconcile()).toEqual({ requeueAfterMs: SECRET_POLL_MS })
  expect(engine.teams.get('shop')).toEqual({
    egressAllow: ['10.0.0.0/8'],
    signingSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    signingSecretIds: ['signing:current'],
    headerSecrets: [],
    quotas: NO_QUOTAS,
    channels: [],
    members: [],
    maskedHeaders: [],
  })
  expect(ready()).toMatchObject({ status: 'True', reason: 'Reconciled' })
  const { length } = kind.writes
  await reconcile()
  expect(kind.writes).toHaveLength(length)
})

it('applies the names of headers that the team masks, in lower case', async () => {
  const { kind, engine, reconcile } = setUp()
  kind.put(KEY, { maskedHeaders: ['X-Customer', 'x-order'] })
  await reconcile()
  expect(engine.teams.get('shop')?.maskedHeaders).toEqual(['x-customer', 'x-order'])
  kind.put(KEY, { maskedHeaders: [] })
  await reconcile()
  expect(engine.teams.get('shop')?.maskedHeaders).toEqual([])
})

describe('header secrets', () => {
  const partner = (name: string, key = 'token') => ({
    name,
    hosts: ['api.test'],
    secretKeyRef: { name: 'partner', key },
  })
  const world = () => {
    const parts = setUp()
    const condition = () =>
      parts.kind.get(KEY)?.status?.conditions?.find(({ type }) => type === 'HeaderSecretsReady')
    const values = () => parts.engine.teams.get('shop')?.headerSecrets?.map(({ value }) => value)
    return { ...parts, condition, values }
  }

  it('are applied with their hosts, and read again', async () => {
    const { kind, engine, secrets, reconcile, condition, values } = world()
    secrets.set('shop/partner', { token: 'Bearer canary' })
    kind.put(KEY, { headerSecrets: [partner('a')] })
    expect(await reconcile()).toEqual({ requeueAfterMs: SECRET_POLL_MS })
    expect(engine.teams.get('shop')?.headerSecrets).toEqual([
      { name: 'a', hosts: ['api.test'], value: 'Bearer canary' },
    ])
    expect(condition()).toMatchObject({ status: 'True', reason: 'Reconciled' })
    secrets.set('shop/partner', { token: 'Bearer other' })
    await reconcile()
    expect(values()).toEqual(['Bearer other'])
    kind.put(KEY, { headerSecrets: [] })
    await reconcile()
    expect(condition()).toBeUndefined()
    expect(values()).toEqual([])
  })

  it('go where both the settings and their Secret say, wherever either changes', async () => {
    const { kind, engine, marks, secrets, reconcile, condition } = world()
    const says = (text: string) => marks.set('shop/partner', { annotations: { 'punctual.dev/hosts': text } })
    const applied = () => engine.teams.get('shop')?.headerSecrets
    secrets.set('shop/partner', { token: 'canary' })
    kind.put(KEY, { headerSecrets: [{ ...partner('a'), hosts: ['*.test', 'evil.example'] }] })
    says('api.test,other.test:8080')
    await reconcile()
    expect(applied()).toEqual([{ name: 'a', hosts: ['api.test'], value: 'canary' }])
    expect(condition()).toMatchObject({ status: 'False', reason: 'SecretNotUsable' })
    expect(condition()?.message).toBe(
      'spec.headerSecrets[0].secretKeyRef (header secret a): Secret partner may not go to evil.example: its annotation punctual.dev/hosts says api.test,other.test:8080.',
    )
    says('other.test')
    kind.put(KEY, { headerSecrets: [partner('a')] })
    await reconcile()
    expect(applied()).toEqual([{ name: 'a', hosts: [], value: null }])
    says('*')
    await reconcile()
    expect(applied()).toEqual([{ name: 'a', hosts: ['api.test'], value: 'canary' }])
    expect(condition()).toMatchObject({ status: 'True' })
  })

  it.each([
    [
      {},
      "Secret partner does not say where its values may go. Its owner does: kubectl annotate secret partner --namespace shop --overwrite 'punctual.dev/hosts=api.test'",
    ],
    [
      { 'punctual.dev/hosts': 'A.test' },
      'Annotation punctual.dev/hosts of Secret partner has an entry "A.test", which must be a host in lower case',
    ],
  ])('have no value when their Secret is annotated with %j', async (annotations, text) => {
    const { kind, events, marks, secrets, reconcile, condition, values } = world()
    secrets.set('shop/partner', { token: 'canary' })
    marks.set('shop/partner', { annotations })
    kind.put(KEY, { headerSecrets: [partner('a')] })
    await reconcile()
    expect(values()).toEqual([null])
    expect(condition()).toMatchObject({ status: 'False', reason: 'SecretNotUsable' })
    expect(condition()?.message).toContain(text)
    expect(events.map(({ note }) => note).join()).toContain(text)
  })

  it.each([
    ['SecretNotFound', null, 'There is no Secret partner in shop.'],
    ['SecretKeyNotFound', { key: 'x' }, 'Secret partner has no key token.'],
    ['SecretNotUsable', { token: 'canary\n' }, 'Key token of Secret partner ends with a line break'],
  ])('have no value when their Secret is %s, which holds up nothing else', async (reason, data, text) => {
    const { kind, secrets, reconcile, ready, condition, values, events } = world()
    secrets.set('shop/partner', { token: 'Bearer canary', other: 'Bearer fine' })
    kind.put(KEY, { headerSecrets: [partner('a')] })
    await reconcile()
    if (data === null) secrets.delete('shop/partner')
    else secrets.set('shop/partner', { ...data, other: 'Bearer fine' })
    kind.put(KEY, { headerSecrets: [partner('a'), partner('b', 'other')], egress: { allow: ['10.0.0.0/8'] } })
    await reconcile()
    expect(ready()).toMatchObject({ status: 'True' })
    expect(values()).toEqual([null, data === null ? null : 'Bearer fine'])
    expect(condition()).toMatchObject({ status: 'False', reason })
    expect(condition()?.message).toContain(`spec.headerSecrets[0].secretKeyRef (header secret a): ${text}`)
    expect(events.at(-1)).toMatchObject({ type: 'Warning', reason })
    expect(JSON.stringify([kind.get(KEY), events])).not.toContain('canary')
  })

  it('are of Secrets for headers alone', async () => {
    const { kind, secrets, marks, reconcile, condition, values } = world()
    secrets.set('shop/partner', { token: 'the password of a database' })
    marks.set('shop/partner', { type: 'Opaque', labels: { 'punctual.dev/secret': 'signing' } })
    kind.put(KEY, { headerSecrets: [partner('a')] })
    await reconcile()
    expect(values()).toEqual([null])
    expect(condition()).toMatchObject({ reason: 'SecretNotUsable' })
  })
})

it('applies quotas', async () => {
  const { kind, engine, reconcile } = setUp()
  kind.put(KEY, { quotas: { crons: 5, storedBytes: 0 } })
  await reconcile()
  expect(engine.teams.get('shop')).toMatchObject({ quotas: { ...NO_QUOTAS, crons: 5, storedBytes: 0 } })
})

describe('the status', () => {
  const USAGE: TeamUsage = {
    queues: 1,
    crons: 2,
    pendingJobs: 3,
    storedBytes: 4,
    jobsPerMonth: 5,
    callsInFlight: 6,
  }

  it('shows the lower of the quotas of the team and of the installation, and no others', async () => {
    const { kind, reconcile } = setUp()
    kind.put(KEY, { quotas: { crons: 5, queues: 2, storedBytes: 0 } })
    await reconcile()
    expect(kind.get(KEY)?.status?.quotas).toEqual({ queues: 2, crons: 3, storedBytes: 0 })
  })

  it('keeps showing the applied quotas when the settings cannot be applied', async () => {
    const { kind, engine, reconcile } = setUp()
    kind.put(KEY, { quotas: { crons: 2 } })
    await reconcile()
    kind.put(KEY, { quotas: { crons: 1 }, egress: { allow: ['10.0.0.1/8'] } })
    await reconcile()
    expect(kind.get(KEY)?.status?.quotas).toEqual({ queues: 9, crons: 2 })
    kind.put(KEY, { quotas: { crons: 1 }, egress: { allow: [] } })
    engine.isAway = true
    await expect(reconcile()).rejects.toThrow('not available')
    expect(kind.get(KEY)?.status?.quotas).toEqual({ queues: 9, crons: 2 })
  })

  it('shows the usage once it is known, and keeps it while it cannot be read', async () => {
    const { kind, state, reconcile } = setUp()
    kind.put(KEY, {})
    await reconcile()
    expect(kind.get(KEY)?.status).not.toHaveProperty('usage')
    state.usage = USAGE
    await reconcile()
    await reconcile()
    expect(kind.get(KEY)?.status?.usage).toEqual(USAGE)
    expect(kind.writes).toHaveLength(2)
    state.usage = null
    await reconcile()
    expect(kind.get(KEY)?.status?.usage).toEqual(USAGE)
    expect(kind.writes).toHaveLength(2)
  })
})

it('polls only where there are Secrets', async () => {
  const { kind, reconcile } = setUp()
  kind.put(KEY, {})
  expect(await reconcile()).toEqual({ requeueAfterMs: null })
})

describe('a Secret that cannot be used', () => {
  it.each([
    ['SecretNotFound', null, 'There is no Secret signing in shop.'],
    ['SecretKeyNotFound', { other: 'x' }, 'Secret signing has no key current.'],
    ['SecretNotUsable', { current: 'line\n' }, 'ends with a line break'],
  ] as const)(
    'is %s, with one event; the settings applied earlier stay as a whole',
    async (reason, data, text) => {
      const { kind, engine, secrets, reconcile, ready, events } = setUp()
      secrets.set('shop/signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
      kind.put(KEY, REFS)
      await reconcile()
      if (data === null) secrets.delete('shop/signing')
      else secrets.set('shop/signing', data)
      kind.put(KEY, { egress: { allow: ['10.0.0.0/8'] } })
      expect(await reconcile()).toEqual({ requeueAfterMs: SECRET_POLL_MS })
      await reconcile()
      expect(ready()).toMatchObject({ status: 'False', reason, message: expect.stringContaining(text) })
      expect(ready()?.message).not.toContain('MfKQ9r8GKYqr')
      expect(engine.teams.get('shop')).toMatchObject({
        egressAllow: [],
        signingSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      })
      expect(events).toMatchObject([{ type: 'Warning', reason }])
    },
  )

  it.each([
    ['its type', 'Opaque', {}, 'SecretNotUsable'],
    ['a label for headers', '', { 'punctual.dev/secret': 'header' }, 'SecretNotUsable'],
    ['the type for headers', 'punctual.dev/header-secret', {}, 'SecretNotUsable'],
    ['the type', 'punctual.dev/signing-secret', {}, 'Reconciled'],
    ['the label', 'Opaque', { 'punctual.dev/secret': 'signing' }, 'Reconciled'],
    ['the label of the API alone', 'Opaque', { 'punctual.dev/origin': 'api' }, 'SecretNotUsable'],
  ])('with %s (%s %j) is %s', async (_what, type, labels, reason) => {
    const { kind, secrets, marks, reconcile, ready } = setUp()
    secrets.set('shop/signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
    marks.set('shop/signing', { type, labels })
    kind.put(KEY, REFS)
    await reconcile()
    expect(ready()).toMatchObject({ reason })
  })

  it('that the controller may not read is SecretForbidden, and recovery has an event', async () => {
    const { kind, secrets, state, reconcile, ready, events } = setUp()
    kind.put(KEY, REFS)
    secrets.set('shop/signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
    state.fault = new ResourceApiError('forbidden', 'secrets "signing" is forbidden')
    await reconcile()
    expect(ready()).toMatchObject({ reason: 'SecretForbidden' })
    state.fault = null
    await reconcile()
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'SecretForbidden'],
      ['Normal', 'Reconciled'],
    ])
  })

  it('that was rotated is applied at the next poll', async () => {
    const { kind, engine, secrets, reconcile } = setUp()
    kind.put(KEY, REFS)
    secrets.set('shop/signing', { current: 'the-old-one-of-24-letters' })
    await reconcile()
    secrets.set('shop/signing', { current: 'the-new-one-of-24-letters' })
    await reconcile()
    expect(engine.teams.get('shop')?.signingSecrets).toEqual(['the-new-one-of-24-letters'])
  })
})

describe('channels', () => {
  const CHANNELS = {
    members: [{ name: 'Ada', email: 'a@a.test' }],
    notifications: {
      channels: [
        { name: 'mail', type: 'Email', alertTypes: ['Failure'] },
        { name: 'chat', type: 'Slack', alertTypes: ['Failure'], secretRef: { name: 'urls', key: 'slack' } },
        { name: 'hook', type: 'Webhook', alertTypes: ['Failure'], secretRef: { name: 'urls', key: 'hook' } },
      ],
    },
  }
  const URLS = { slack: 'https://hooks.slack.com/services/T/B/canary\n', hook: 'https://a.test/canary' }
  const notifications = (kind: ReturnType<typeof setUp>['kind']) =>
    kind.get(KEY)?.status?.conditions?.find(({ type }) => type === 'NotificationsReady')

  it('are applied with their URLs, and their Secret is read once and polled', async () => {
    const { kind, engine, secrets, state, reconcile } = setUp()
    kind.put(KEY, CHANNELS)
    secrets.set('shop/urls', URLS)
    expect(await reconcile()).toEqual({ requeueAfterMs: SECRET_POLL_MS })
    expect(engine.teams.get('shop')).toMatchObject({
      channels: [
        { name: 'mail', type: 'email', alertTypes: ['failure'], url: null },
        { name: 'chat', type: 'slack', url: 'https://hooks.slack.com/services/T/B/canary' },
        { name: 'hook', type: 'webhook', url: 'https://a.test/canary' },
      ],
      members: [{ name: 'Ada', email: 'a@a.test' }],
    })
    expect(notifications(kind)).toMatchObject({ status: 'True', reason: 'Reconciled' })
    expect(state.reads).toBe(1)
  })

  it.each([
    ['SecretNotFound', null, 'There is no Secret urls in shop.'],
    ['SecretKeyNotFound', { hook: URLS.hook }, 'Secret urls has no key slack.'],
    ['SecretNotUsable', { ...URLS, slack: '\n' }, 'Key slack of Secret urls is empty'],
    ['ChannelUrlNotAllowed', { ...URLS, slack: URLS.hook }, 'The URL must be one of Slack'],
    [
      'ChannelUrlNotAllowed',
      { ...URLS, slack: 'http://10.0.0.1/canary' },
      'The egress policy blocks the host',
    ],
  ] as const)('that are %s hold up nothing else', async (reason, data, text) => {
    const { kind, engine, secrets, reconcile, ready, events } = setUp()
    if (data !== null) secrets.set('shop/urls', data)
    kind.put(KEY, { ...CHANNELS, egress: { allow: ['10.0.0.0/8'] } })
    await reconcile()
    await reconcile()
    expect(ready()).toMatchObject({ status: 'True', reason: 'Reconciled' })
    expect(notifications(kind)).toMatchObject({ status: 'False', reason })
    expect(notifications(kind)?.message).toContain(
      'spec.notifications.channels[1].secretRef (channel chat): ',
    )
    expect(notifications(kind)?.message).toContain(text)
    expect(JSON.stringify([kind.get(KEY), events])).not.toContain('canary')
    expect(engine.teams.get('shop')).toMatchObject({ egressAllow: ['10.0.0.0/8'] })
    const names = engine.teams.get('shop')?.channels?.map(({ name }) => name)
    expect(names).toEqual(data === null ? ['mail'] : ['mail', 'hook'])
    expect(events).toMatchObject([{ type: 'Warning', reason }])
  })

  it('that fail are named, with an event, and with another when they are well', async () => {
    const { kind, secrets, state, reconcile, ready, events } = setUp()
    secrets.set('shop/urls', URLS)
    kind.put(KEY, CHANNELS)
    await reconcile()
    state.failing = [{ reason: 'ChannelFailing', message: 'Channel chat: 404 no_service.' }]
    await reconcile()
    expect(notifications(kind)).toMatchObject({ status: 'False', message: 'Channel chat: 404 no_service.' })
    expect(ready()).toMatchObject({ status: 'True' })
    // Another leader does not know yet.
    state.failing = null
    await reconcile()
    expect(notifications(kind)).toMatchObject({ status: 'False', message: 'Channel chat: 404 no_service.' })
    state.failing = []
    await reconcile()
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ['Warning', 'ChannelFailing'],
      ['Normal', 'Reconciled'],
    ])
  })

  it('keep their condition while other settings cannot be applied, and lose it with the last channel', async () => {
    const { kind, reconcile, ready } = setUp()
    kind.put(KEY, CHANNELS)
    await reconcile()
    const before = notifications(kind)
    kind.put(KEY, { ...CHANNELS, egress: { allow: ['10.0.0.1/8'] } })
    await reconcile()
    expect(ready()).toMatchObject({ reason: 'InvalidSpec' })
    expect(notifications(kind)).toMatchObject({ status: 'False', message: before?.message })
    kind.put(KEY, { egress: { allow: [] }, notifications: { channels: [] } })
    await reconcile()
    expect(notifications(kind)).toBeUndefined()
  })
})

it('is stalled by an entry that is no address and no name', async () => {
  const { kind, engine, reconcile, ready } = setUp()
  kind.put(KEY, { egress: { allow: ['10.0.0.0/8', '10.0.0.1/8'] } })
  expect(await reconcile()).toEqual({ requeueAfterMs: null })
  expect(ready()).toMatchObject({
    reason: 'InvalidSpec',
    message: expect.stringContaining('spec.egress.allow[1]'),
  })
  expect(engine.teams.size).toBe(0)
})

it('reports that Redis is away with one write, and is retried', async () => {
  const { kind, engine, reconcile, ready } = setUp()
  kind.put(KEY, {})
  engine.isAway = true
  await expect(reconcile()).rejects.toThrow('not available')
  await expect(reconcile()).rejects.toThrow('not available')
  expect(kind.writes).toHaveLength(1)
  expect(ready()).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
  engine.refusal = 'it evicts keys'
  await expect(reconcile()).rejects.toThrow('not available')
  expect(ready()?.message).toContain('(it evicts keys)')
})

it('reports while pushed queues have no resource', async () => {
  const { kind, state, reconcile } = setUp()
  kind.put(KEY, {})
  state.waiting = 3
  await reconcile()
  const types = () => kind.get(KEY)?.status?.conditions?.map(({ type }) => type)
  expect(types()).toEqual(['PushedQueues', 'Ready'])
  state.waiting = 0
  await reconcile()
  expect(types()).toEqual(['Ready'])
})

describe('settings that were deleted', () => {
  it('are removed', async () => {
    const { kind, engine, reconcile } = setUp()
    kind.put(KEY, {})
    await reconcile()
    kind.force(KEY)
    await reconcile()
    expect(engine.teams.size).toBe(0)
  })

  it('from the view alone stay, and so does a team when another name is deleted', async () => {
    const { kind, engine, reconcile } = setUp()
    kind.put(KEY, {})
    await reconcile()
    const { get } = kind.informer
    Object.assign(kind.informer, { get: () => undefined })
    await reconcile()
    Object.assign(kind.informer, { get })
    await reconcile('shop/other')
    expect(engine.teams.size).toBe(1)
  })
})
