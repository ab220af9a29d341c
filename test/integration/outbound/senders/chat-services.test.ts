import { createHmac } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { createChannelSender } from '../../../../src/senders/channel-sender.ts'
import { EgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'
import { createHttpCaller } from '../../../../src/outbound/http-caller.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import type { ChannelType } from '../../../../src/domain/notifications/channel.ts'
import type { Notification } from '../../../../src/ports/notifications.ts'
import { aChannel, aDelivery, aNotification } from '../../../support/notifications.ts'
import { quietLogger } from '../../../support/quiet.ts'
import {
  DISCORD_LIMITED,
  SLACK_LIMITED,
  startDiscord,
  startSlack,
  type ChatAnswer,
  type ChatTarget,
} from '../../../support/targets/chat-targets.ts'
import { teamSettings } from '../../../support/targets/outbound-targets.ts'
import { startTarget } from '../../../support/targets/target.ts'
import { largestNotification } from '../../../unit/senders/nasty-text.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const settings = teamSettings({ egressAllow: ['127.0.0.0/8'], signingSecrets: [SECRET] })
const caller = createHttpCaller({
  egress: new EgressGuard({ allow: [], deny: [], allowable: null, clusterCidrs: [], ownHosts: [] }),
  clock: systemClock,
  logger: quietLogger,
  version: '0.0.0',
})
const sender = createChannelSender({ caller, mail: null, clock: systemClock })
const opened: Array<{ close(): Promise<void> }> = []

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const target = await starting
  opened.push(target)
  return target
}

function send(
  type: ChannelType,
  url: string,
  notification: Notification = aNotification(),
  signal = new AbortController().signal,
) {
  return sender.send(aDelivery(aChannel(type, url), { notification, settings }), signal)
}

const SERVICES: ReadonlyArray<readonly ['slack' | 'discord', () => Promise<ChatTarget>, string]> = [
  ['slack', startSlack, '200 ok'],
  ['discord', startDiscord, '200'],
]

test.each(SERVICES)('%s takes an alert, a test and the largest digest', async (type, start, answer) => {
  const target = await open(start())
  const test = aNotification({ kind: 'test', entries: [], alerts: 0 })
  for (const notification of [aNotification(), test, largestNotification('<'), largestNotification('漢')]) {
    expect(await send(type, target.url, notification)).toEqual({ kind: 'sent', answer })
  }
  expect(target.messages()).toHaveLength(4)
})

test.each(SERVICES)('%s gets neither a signature nor identity headers', async (type, start) => {
  const target = await open(start())
  await send(type, target.url)
  const names = Object.keys(target.posts()[0]?.headers ?? {})
  expect(names).toContain('content-type')
  expect(names.filter((name) => /^x-punctual|signature/.test(name))).toEqual(['x-punctual-depth'])
})

test.each<readonly ['slack' | 'discord', () => Promise<ChatTarget>, ChatAnswer, object]>([
  ['slack', startSlack, SLACK_LIMITED, { isFinal: false, retryAfterMs: 30_000, answer: '429 rate_limited' }],
  [
    'discord',
    startDiscord,
    DISCORD_LIMITED,
    { isFinal: false, retryAfterMs: 750, answer: '429 You are being rate limited.' },
  ],
  [
    'slack',
    startSlack,
    { status: 500, body: 'rollup_error' },
    { isFinal: false, answer: '500 rollup_error' },
  ],
  [
    'slack',
    startSlack,
    { status: 403, body: 'invalid_token' },
    { isFinal: true, answer: '403 invalid_token' },
  ],
  [
    'slack',
    startSlack,
    { status: 400, body: 'invalid_blocks' },
    { isFinal: true, answer: '400 invalid_blocks' },
  ],
])('%s is heard when it refuses', async (type, start, answer, expected) => {
  const target = await open(start())
  target.answerNext(answer)
  expect(await send(type, target.url)).toMatchObject({ kind: 'failed', accepted: [], ...expected })
  expect(await send(type, target.url)).toMatchObject({ kind: 'sent' })
})

test('a webhook that is gone is not tried again', async () => {
  const slack = await open(startSlack())
  expect(await send('slack', `${slack.url}x`)).toMatchObject({ isFinal: true, answer: '404 no_service' })
  const discord = await open(startDiscord())
  expect(await send('discord', `${discord.url}x`)).toMatchObject({
    isFinal: true,
    answer: '401 Invalid Webhook Token (50027)',
  })
  expect(await send('discord', discord.url.replace('/1234', '/9999'))).toMatchObject({
    isFinal: true,
    answer: '404 Unknown Webhook (10015)',
  })
})

test('a service that hangs is given up when the signal says so', async () => {
  const slack = await open(startSlack())
  const late = Promise.withResolvers<ChatAnswer>()
  slack.answerNext(late.promise)
  const controller = new AbortController()
  const sending = send('slack', slack.url, aNotification(), controller.signal)
  controller.abort()
  expect(await sending).toEqual({ kind: 'aborted', accepted: [] })
  late.resolve({ status: 200, body: 'ok' })
})

test('a service that is away, or that the policy blocks, fails with a reason', async () => {
  const slack = await startSlack()
  await slack.close()
  expect(await send('slack', slack.url)).toEqual({
    kind: 'failed',
    answer: 'The connection was refused.',
    isFinal: false,
    retryAfterMs: null,
    accepted: [],
  })
  const blocked = aDelivery(aChannel('webhook', 'http://127.0.0.1:9/'), { settings: teamSettings() })
  expect(await sender.send(blocked, new AbortController().signal)).toMatchObject({
    kind: 'failed',
    answer: 'The target is not allowed by the egress policy.',
  })
})

test('a webhook of the team gets the record, signed as callbacks are', async () => {
  const target = await open(startTarget())
  expect(await send('webhook', `${target.url}/in`)).toEqual({ kind: 'sent', answer: '200' })
  const [arrival] = target.arrivals('/in')
  const { body = '', headers = {}, webhookId } = arrival ?? {}
  expect(JSON.parse(body)).toMatchObject({ event: 'alert', id: 4711, alerts: [{ id: 4711, raised: 1 }] })
  expect(webhookId).toBe('n-1')
  const timestamp = headers['x-punctual-timestamp'] ?? ''
  expect(headers['x-punctual-signature']).toBe(
    createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex'),
  )
  expect(headers['webhook-signature']).toMatch(/^v1,/)
  expect(
    Object.keys(headers)
      .filter((name) => name.startsWith('x-punctual-'))
      .toSorted(),
  ).toEqual(['x-punctual-depth', 'x-punctual-signature', 'x-punctual-timestamp'])
})

test('no answer repeats a URL', async () => {
  const target = await open(startTarget())
  target.route('/in', ({ path }) => ({ status: 404, body: `Cannot POST ${path}?key=sesameSECRET` }))
  const results = [
    await send('webhook', `${target.url}/in/pathSECRET?key=sesameSECRET`),
    await send('slack', `${target.url}/in/pathSECRET`),
    await send('webhook', 'http://user:userSECRET@127.0.0.1/'),
    await send('slack', 'https://example.com/services/otherSECRET'),
    await send('webhook', 'http://nameSECRET.invalid/pathSECRET'),
  ]
  expect(results.map(({ kind }) => kind)).toEqual(Array.from(results, () => 'failed'))
  expect(JSON.stringify(results)).not.toContain('SECRET')
})
