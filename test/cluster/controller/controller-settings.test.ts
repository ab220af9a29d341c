import { loopsOf } from '../../support/loops.ts'
import { createHash, createSecretKey } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CompiledSettings } from '../../../src/redis/control/compiled/compiled-settings.ts'
import { createNotificationBoard } from '../../../src/redis/ledger/notifications/notification-board.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { newJob } from '../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, SECRETS_KEY, type ControllerWorld } from './controller-world.ts'

/** A sync and a reconcile, on a busy machine. */
const ROUND_TIMEOUT_MS = 45_000

let world: ControllerWorld

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
})

afterAll(() => world.close())

/** As the API and the executors read it. */
async function compiled() {
  const settings = new CompiledSettings({
    connection: world.engine.connection,
    box: new SecretBox(createSecretKey(Buffer.from(SECRETS_KEY, 'base64'))),
    clock: systemClock,
    logger: quietLogger,
    metrics: quietMetrics,
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
  })
  await settings.refresh()
  return settings
}
const ofTeam = async () => (await compiled()).of(world.namespace)
const teamOf = async (token: string) => (await compiled()).principalOf(token)?.team ?? null
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex')

const SIGNING = { type: 'punctual.dev/signing-secret' }

async function events(reason: string): Promise<unknown[]> {
  const { items } = (await world.api.send(
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`,
  )) as unknown as { items: { reason: string }[] }
  return items.filter((event) => event.reason === reason)
}

test("a team's settings wait for their Secret, and are applied as a whole when it exists", async () => {
  await world.apply('TeamSettings', 'team', {
    egress: { allow: ['10.0.0.0/8'] },
    signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
  })
  const missing = await world.reason('TeamSettings', 'team', 'SecretNotFound')
  expect(missing).toMatchObject({
    status: 'False',
    message: expect.stringContaining('There is no Secret signing'),
  })
  expect((await ofTeam()).egressAllow).toEqual([])
  await until('it has an event', async () => (await events('SecretNotFound')).length === 1)

  await world.putSecret('signing', { other: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, SIGNING)
  // Its spec has changed, so it is reconciled before the next poll of Secrets.
  await world.apply('TeamSettings', 'team', {
    egress: { allow: ['10.0.0.0/8', 'internal.test'] },
    signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
  })
  await world.reason('TeamSettings', 'team', 'SecretKeyNotFound')

  await world.putSecret('signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, SIGNING)
  await world.apply('TeamSettings', 'team', {
    egress: { allow: ['internal.test'] },
    signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
  })
  // A poll of Secrets between the two writes applies the spec before with the Secret: also as a whole.
  const applied = await until('the newest spec is applied', async () => {
    const settings = await ofTeam()
    return settings.egressAllow.join() === 'internal.test' ? settings : null
  })
  expect(applied.signingSecrets).toEqual(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])
  await world.reason('TeamSettings', 'team', 'Reconciled')
})

test('a channel without a usable Secret is left out and named, and nothing shows its URL', async () => {
  const condition = async () => {
    const { status } = await world.get('TeamSettings', 'team')
    const all = (status?.['conditions'] ?? []) as { type: string; reason: string; message: string }[]
    return all.find(({ type }) => type === 'NotificationsReady')
  }
  const reasonIs = (reason: string) =>
    until(reason, async () => ((await condition())?.reason === reason ? await condition() : null))
  const settings = (allow: readonly string[]) => ({
    egress: { allow },
    members: [{ name: 'Ada', email: 'ada@example.com' }],
    notifications: {
      channels: [
        { name: 'mail', type: 'Email' },
        { name: 'ops', type: 'Slack', secretRef: { name: 'urls', key: 'slack' } },
      ],
    },
  })
  await world.apply('TeamSettings', 'team', settings(['a.internal.test']))
  const missing = await reasonIs('SecretNotFound')
  expect(missing?.message).toBe(
    `spec.notifications.channels[1].secretRef (channel ops): There is no Secret urls in ${world.namespace}.`,
  )
  await world.reason('TeamSettings', 'team', 'Reconciled')
  expect(await ofTeam()).toMatchObject({
    egressAllow: ['a.internal.test'],
    channels: [{ name: 'mail', alertTypes: ['failure', 'recovery', 'limit_warning'] }],
    members: [{ name: 'Ada', email: 'ada@example.com' }],
  })

  await world.putSecret('urls', { slack: 'https://chat.internal.test/canary' })
  await world.apply('TeamSettings', 'team', settings(['b.internal.test']))
  await reasonIs('ChannelUrlNotAllowed')
  // The host that the team opens may speak as Slack does.
  await world.apply('TeamSettings', 'team', settings(['chat.internal.test']))
  await reasonIs('Reconciled')
  expect((await ofTeam()).channels[1]?.url).toBe('https://chat.internal.test/canary')
  await until('it has events', async () => (await events('ChannelUrlNotAllowed')).length === 1)
  await world.putSecret('inner', { url: 'http://10.1.2.3/canary' })
  await world.apply('TeamSettings', 'team', {
    notifications: {
      channels: [{ name: 'inner', type: 'Webhook', secretRef: { name: 'inner', key: 'url' } }],
    },
  })
  const blocked = await reasonIs('ChannelUrlNotAllowed')
  expect(blocked?.message).toContain('The egress policy blocks the host of the URL.')
  const path = `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`
  const shown = [await world.get('TeamSettings', 'team'), await world.api.send('GET', path)]
  expect(JSON.stringify(shown)).not.toContain('canary')
})

test('a channel that fails is named with what it said', async () => {
  const board = createNotificationBoard(world.engine.engine)
  const ref = { team: world.namespace, channel: 'mail' }
  await world.apply('TeamSettings', 'team', {
    notifications: { channels: [{ name: 'mail', type: 'Email' }] },
  })
  await until('it is applied', async () => (await ofTeam()).channels.length === 1)
  await board.prepare(world.namespace, { version: Number.MAX_SAFE_INTEGER, channels: ['mail'] })
  const look = await board.snapshot(ref)
  if (look === null) throw new Error('the channel is not kept')
  const failing = { failingSinceMs: Date.UTC(2026, 10, 22, 10), lastAnswer: '550 no such user' }
  await board.write(look, { state: { ...look.state, ...failing }, message: null, dueMs: null })
  const { message } = await until(
    'the condition says so',
    async () => {
      const { status } = await world.get('TeamSettings', 'team')
      const all = (status?.['conditions'] ?? []) as { reason: string; message: string }[]
      return all.find(({ reason }) => reason === 'ChannelFailing') ?? null
    },
    ROUND_TIMEOUT_MS,
  )
  expect(message).toBe('Channel mail has been failing since 2026-11-22T10:00:00Z: 550 no such user.')
  await until('it has an event', async () => (await events('ChannelFailing')).length === 1)
})

test("a team's status shows its quotas and usage", async () => {
  const job = { team: world.namespace, queue: 'mail', start: { delaySeconds: 3_600 } }
  await world.engine.intake.push(newJob(job))
  await world.apply('TeamSettings', 'team', { quotas: { pendingJobs: 5 } })
  const status = await until(
    'what the team holds is said',
    async () => {
      const { status: said } = await world.get('TeamSettings', 'team')
      const usage = said?.['usage'] as { pendingJobs: number } | undefined
      return usage?.pendingJobs === 1 ? said : null
    },
    ROUND_TIMEOUT_MS,
  )
  expect(status['quotas']).toMatchObject({ pendingJobs: 5 })
})

test('a token is accepted while its resource is there', async () => {
  const token = 'a-token-of-more-than-sixteen'
  await world.apply('ApiToken', 'ci', { sha256: sha256(token) })
  await world.reason('ApiToken', 'ci', 'Reconciled')
  expect(await teamOf(token)).toBe(world.namespace)
  await world.remove('ApiToken', 'ci')
  await until('it is revoked', async () => (await teamOf(token)) === null)
})

test('of two resources with one hash the older counts, then the other', async () => {
  const spec = { sha256: sha256('another-token-of-enough-characters') }
  await world.apply('ApiToken', 'old', spec)
  await world.reason('ApiToken', 'old', 'Reconciled')
  await until('a second has passed', async () => {
    const { metadata } = await world.get('ApiToken', 'old')
    return Date.now() - Date.parse(String(metadata['creationTimestamp'])) > 1_000
  })
  await world.apply('ApiToken', 'new', spec)
  await world.reason('ApiToken', 'new', 'HashTaken')
  await world.remove('ApiToken', 'old')
  await world.reason('ApiToken', 'new', 'Reconciled')
  expect(await teamOf('another-token-of-enough-characters')).toBe(world.namespace)
})
