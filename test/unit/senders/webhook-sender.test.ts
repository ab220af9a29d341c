import { expect, test } from 'vitest'
import { createChannelSender } from '../../../src/senders/channel-sender.ts'
import type { HttpCall, HttpCaller, HttpCallResult } from '../../../src/ports/http-caller.ts'
import type { DeliveryResult } from '../../../src/ports/notifications.ts'
import { aChannel, aDelivery } from '../../support/notifications.ts'
import { teamSettings } from '../../support/targets/outbound-targets.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const URLS = {
  slack: 'https://hooks.slack.com/services/T/B/slackSECRET',
  discord: 'https://discord.com/api/webhooks/12/discordSECRET?thread_id=9',
  webhook: 'https://example.com/hookSECRET',
} as const
type WebhookType = keyof typeof URLS

const nothing = {
  durationMs: 0,
  timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null },
  requestHeaders: [],
}

function answered(status: number, headers: Record<string, string> = {}, body = ''): HttpCallResult {
  return {
    ...nothing,
    kind: 'answered',
    status,
    headers: Object.entries(headers),
    body: Buffer.from(body),
    bodyTruncated: false,
    isBodyCutShort: false,
    protocolNotes: [],
    found: new Set(),
  }
}

async function send(type: WebhookType, result: HttpCallResult, fields: Parameters<typeof aDelivery>[1] = {}) {
  const calls: HttpCall[] = []
  const caller: HttpCaller = {
    call: async (call) => {
      calls.push(call)
      return result
    },
    close: async () => undefined,
  }
  const sender = createChannelSender({ caller, mail: null, clock: createFakeClock() })
  const delivery = aDelivery(aChannel(type, URLS[type]), fields)
  const outcome = await sender.send(delivery, new AbortController().signal)
  return { outcome, calls }
}

const failed = (fields: object) =>
  expect.objectContaining({ kind: 'failed', accepted: [], ...fields }) as DeliveryResult

test.each([
  ['slack', 200, { kind: 'sent', answer: '200' }],
  ['discord', 204, { kind: 'sent', answer: '204' }],
  ['webhook', 299, { kind: 'sent', answer: '299' }],
  ...(['slack', 'discord'] as const).flatMap((type) =>
    [302, 400, 401, 403, 404, 410].map((status) => [type, status, failed({ isFinal: true })] as const),
  ),
  ...(['slack', 'discord', 'webhook'] as const).flatMap((type) =>
    [408, 425, 429, 500, 502, 503].map((status) => [type, status, failed({ isFinal: false })] as const),
  ),
  ['webhook', 410, failed({ isFinal: true })],
  ['webhook', 404, failed({ isFinal: false })],
  ['webhook', 302, failed({ isFinal: false })],
] as const)('%s answering %i', async (type, status, expected) => {
  expect((await send(type, answered(status))).outcome).toEqual(expected)
})

test('what a service says is passed on: how long to wait, and why', async () => {
  const limited = await send('slack', answered(429, { 'retry-after': '30' }, 'rate_limited'))
  expect(limited.outcome).toEqual(failed({ answer: '429 rate_limited', retryAfterMs: 30_000 }))
  const away = await send('webhook', answered(503, { 'retry-after': '5' }))
  expect(away.outcome).toEqual(failed({ retryAfterMs: 5_000 }))
  const gone = await send('slack', answered(404, {}, 'no_service'))
  expect(gone.outcome).toEqual(failed({ answer: '404 no_service', retryAfterMs: null }))
})

test('without an answer it is tried again, unless the URL is none', async () => {
  const noAnswer = await send('slack', {
    ...nothing,
    kind: 'failed',
    reason: 'timeout',
    message: 'Too slow.',
  })
  expect(noAnswer.outcome).toEqual(failed({ answer: 'Too slow.', isFinal: false }))
  const noUrl = await send('slack', { ...nothing, kind: 'failed', reason: 'invalid_url', message: 'No URL.' })
  expect(noUrl.outcome).toEqual(failed({ isFinal: true }))
  const fault = await send('slack', { ...nothing, kind: 'local_fault', message: 'No socket.' })
  expect(fault.outcome).toEqual(failed({ answer: 'No socket.', isFinal: false }))
  expect((await send('slack', { ...nothing, kind: 'aborted' })).outcome).toEqual({
    kind: 'aborted',
    accepted: [],
  })
})

test('only a webhook of the team is signed, and none gets identity headers', async () => {
  const signingSecrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']
  const settings = { ...teamSettings({ signingSecrets }), isSigningUnreadable: true }
  for (const type of ['slack', 'discord', 'webhook'] as const) {
    const { calls } = await send(type, answered(200), { settings })
    expect(calls).toHaveLength(1)
    expect(calls[0]?.settings.isSigningUnreadable).toBe(type === 'webhook')
    expect(calls[0]?.settings.signingSecrets).toEqual(type === 'webhook' ? settings.signingSecrets : [])
    expect(calls[0]).toMatchObject({ identity: {}, webhookId: 'n-1', timeoutMs: 10_000, method: 'POST' })
  }
})

test('Discord is asked to wait until the message is stored, and the rest of the URL stays', async () => {
  const { calls } = await send('discord', answered(200))
  expect(calls[0]?.url).toBe(`${URLS.discord}&wait=true`)
})

test('a URL that is not of the service is not called', async () => {
  const caller: HttpCaller = {
    call: () => Promise.reject(new Error('called')),
    close: async () => undefined,
  }
  const sender = createChannelSender({ caller, mail: null, clock: createFakeClock() })
  const delivery = aDelivery(aChannel('slack', 'https://example.com/x'))
  const outcome = await sender.send(delivery, new AbortController().signal)
  expect(outcome).toEqual(failed({ isFinal: true }))
})

test('without a mail server an e-mail fails for good, and says what to set', async () => {
  const { outcome } = await send('webhook', answered(200))
  expect(outcome.kind).toBe('sent')
  const sender = createChannelSender({
    caller: { call: () => Promise.reject(new Error('called')), close: async () => undefined },
    mail: null,
    clock: createFakeClock(),
  })
  expect(await sender.send(aDelivery(aChannel('email')), new AbortController().signal)).toEqual(
    failed({ isFinal: true, answer: expect.stringContaining('PUNCTUAL_SMTP_URL') as string }),
  )
  await sender.close()
})
