import { createServer, type AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { MEMBERS_PER_TEAM_MAX } from '../../../../src/domain/limits.ts'
import type { Member } from '../../../../src/domain/notifications/channel.ts'
import { parseMailServer } from '../../../../src/domain/notifications/mail-server.ts'
import { createChannelSender } from '../../../../src/senders/channel-sender.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import type { ChannelSender, DeliveryResult, Notification } from '../../../../src/ports/notifications.ts'
import type { Clock } from '../../../../src/ports/runtime.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { aChannel, aDelivery, anAlert, aNotification, anEntry } from '../../../support/notifications.ts'
import { selfSignedCertificate } from '../../../support/targets/certificates.ts'
import { startRawTarget } from '../../../support/targets/outbound-targets.ts'
import { until } from '../../../support/until.ts'
import {
  startMailTarget,
  type MailTarget,
  type MailTargetOptions,
} from '../../../support/targets/mail-target.ts'

const LOGIN = { user: 'punctual', password: 'p@ss/SECRET' }
const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' }
const BOB = { name: 'Bob\r\nBcc: eve@example.com', email: 'bob@example.com' }
const CY = { name: 'Cy', email: 'cy@example.com' }

const certificate = selfSignedCertificate()
const strange = selfSignedCertificate()
const authorities = getCACertificates('default')
const opened: Array<{ close(): Promise<void> }> = []

beforeAll(() => setDefaultCACertificates([...authorities, certificate.cert]))
afterAll(() => setDefaultCACertificates(authorities))
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function openMail(options: Partial<MailTargetOptions> = {}): Promise<MailTarget> {
  const target = await startMailTarget({ certificate, login: LOGIN, ...options })
  opened.push(target)
  return target
}

interface SenderOptions {
  readonly scheme?: string
  readonly host?: string
  readonly login?: typeof LOGIN | null
  readonly clock?: Clock
}

function openSender(port: number, options: SenderOptions = {}): ChannelSender {
  const { scheme = 'smtp', host = '127.0.0.1', login = LOGIN, clock = systemClock } = options
  const user = login === null ? '' : `${login.user}:${encodeURIComponent(login.password)}@`
  const server = parseMailServer(`${scheme}://${user}${host}:${port}`)
  if (server === null) throw new Error('no mail server')
  const sender = createChannelSender({
    caller: { call: () => Promise.reject(new Error('called')), close: async () => undefined },
    mail: { server, from: { name: 'Punctual', address: 'alerts@punctual.example' } },
    clock,
  })
  opened.push(sender)
  return sender
}

function send(
  sender: ChannelSender,
  recipients: readonly Member[] = [ADA],
  notification: Notification = aNotification(),
  signal = new AbortController().signal,
): Promise<DeliveryResult> {
  return sender.send(aDelivery(aChannel('email'), { recipients, notification }), signal)
}

test('each member gets a mail of their own, over STARTTLS and with the login', async () => {
  const target = await openMail()
  expect(await send(openSender(target.port), [ADA, BOB])).toEqual({
    kind: 'sent',
    answer: expect.stringContaining('250 2.0.0 Ok: queued') as string,
  })
  const mails = target.mails().toSorted((a, b) => (a.to[0] ?? '').localeCompare(b.to[0] ?? ''))
  expect(mails.map(({ to, from }) => [from, ...to])).toEqual([
    ['alerts@punctual.example', ADA.email],
    ['alerts@punctual.example', BOB.email],
  ])
  for (const { isSecure, user, parsed } of mails) {
    expect({ isSecure, user }).toEqual({ isSecure: true, user: LOGIN.user })
    expect(parsed.subject).toBe('[Punctual] Alert about queue "emails" of team acme')
    expect(parsed.text).toContain('POST to example.com failed after 3 attempts')
    expect(parsed.html).toContain('<h3>Failure: queue &quot;emails&quot; (timeout)</h3>')
    expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
    expect(parsed.date?.toISOString()).toBe('2026-11-22T22:10:03.000Z')
    expect([...parsed.headers.keys()].filter((name) => name === 'bcc' || name === 'x-mailer')).toEqual([])
  }
  expect(mails[0]?.source).toMatch(/^List-Id: <email-ops\.acme\.punctual\.punctual\.example>\r$/im)
  expect(mails[0]?.source).toMatch(/^To: Ada Lovelace <ada@example\.com>\r$/m)
  expect(target.plainLogins()).toBe(0)
})

test('over TLS from the first byte as well, and connections are used again', async () => {
  const target = await openMail({ isTlsFromStart: true })
  const sender = openSender(target.port, { scheme: 'smtps' })
  for (let at = 0; at < 5; at += 1) expect(await send(sender)).toMatchObject({ kind: 'sent' })
  expect(target.mails().every(({ isSecure }) => isSecure)).toBe(true)
  expect(target.connections()).toBe(1)
})

test('a digest and a recovery lie in the thread of their failure', async () => {
  const target = await openMail()
  const sender = openSender(target.port)
  const entries = [
    anEntry(),
    anEntry({ count: 99, isReply: true }),
    anEntry({ alert: anAlert({ type: 'recovery' }), isReply: true }),
  ]
  for (const [at, entry] of entries.entries()) {
    await send(sender, [ADA], aNotification({ id: `n-${at}`, entries: [entry] }))
  }
  const parsed = target.mails().map((mail) => mail.parsed)
  expect(new Set(parsed.map(({ messageId }) => messageId)).size).toBe(3)
  expect(new Set(parsed.map(({ inReplyTo }) => inReplyTo)).size).toBe(1)
  expect(parsed[0]?.inReplyTo).toMatch(/^<thread\..+@punctual\.example>$/)
  expect(parsed.map(({ references }) => references)).toEqual(parsed.map(({ inReplyTo }) => inReplyTo))
})

test('one that the server refuses keeps nobody else from a mail', async () => {
  const target = await openMail()
  target.refuse(BOB.email, { code: 550, text: '5.1.1 No such user' })
  const sender = openSender(target.port)
  const result = await send(sender, [BOB, ADA, CY])
  expect(result).toMatchObject({ kind: 'failed', isFinal: true })
  expect(result).toMatchObject({ answer: '1 of 3 mails were not accepted: 550 5.1.1 No such user' })
  expect(result.kind === 'failed' && result.accepted.toSorted()).toEqual([ADA.email, CY.email])
  target.refuse(BOB.email, { code: 451, text: '4.7.1 Greylisted' })
  expect(await send(sender, [BOB, ADA])).toMatchObject({ isFinal: false, accepted: [ADA.email] })
  expect(await send(sender, [BOB])).toMatchObject({ answer: '451 4.7.1 Greylisted', accepted: [] })
  target.refuse(BOB.email, null)
  expect(await send(sender, [BOB])).toMatchObject({ kind: 'sent' })
})

test('a wrong login and a server that is away fail with what is wrong, and only once', async () => {
  const target = await openMail()
  const wrong = openSender(target.port, { login: { user: 'punctual', password: 'wrongSECRET' } })
  expect(await send(wrong, [ADA, BOB, CY])).toEqual({
    kind: 'failed',
    answer: '3 of 3 mails were not accepted: The mail server refused the login (535).',
    isFinal: false,
    retryAfterMs: null,
    accepted: [],
  })
  expect(target.connections()).toBeLessThanOrEqual(2)
  await opened.splice(opened.indexOf(target), 1)[0]?.close()
  expect(await send(openSender(target.port))).toMatchObject({
    answer: 'The mail server could not be reached (ECONNREFUSED).',
    isFinal: false,
  })
})

test('a password goes over no network in the clear', async () => {
  const target = await openMail({ certificate: null })
  // The same machine, by an address that is not known to be.
  expect(await send(openSender(target.port, { host: '0.0.0.0' }))).toMatchObject({
    kind: 'failed',
    answer: 'The mail server offers no TLS that can be used (500).',
    isFinal: false,
  })
  expect(target.plainLogins()).toBe(0)
  expect(await send(openSender(target.port))).toMatchObject({ kind: 'sent' })
  expect(target.plainLogins()).toBe(1)
})

test('a certificate of an unknown authority is not accepted', async () => {
  const target = await openMail({ certificate: strange })
  const result = await send(openSender(target.port))
  expect(result).toMatchObject({ kind: 'failed', isFinal: false, accepted: [] })
  expect(result).toMatchObject({
    answer: 'The certificate of the mail server is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).',
  })
  expect(target.plainLogins()).toBe(0)
  expect(target.mails()).toEqual([])
})

test('a server that wants no login gets none', async () => {
  const target = await openMail({ login: null })
  expect(await send(openSender(target.port, { login: null }))).toMatchObject({ kind: 'sent' })
  expect(target.mails()[0]).toMatchObject({ user: null, isSecure: true })
})

test('a server that hangs is given up at the deadline, and says who has got the mail', async () => {
  const target = await openMail()
  const clock = createFakeClock()
  const sender = openSender(target.port, { clock })
  expect(await send(sender)).toMatchObject({ kind: 'sent' })
  const release = target.hold()
  const sending = send(sender, [BOB])
  await clock.advance(9_999)
  expect(clock.timers).toBe(1)
  await clock.advance(1)
  expect(await sending).toEqual({
    kind: 'failed',
    answer: 'The mail server was too slow.',
    isFinal: false,
    retryAfterMs: null,
    accepted: [],
  })
  release()
  expect(await send(sender, [CY])).toMatchObject({ kind: 'sent' })
  expect(clock.timers).toBe(0)
})

test('an aborted delivery ends at once, and a closed sender as well', async () => {
  const target = await openMail()
  target.hold()
  const sender = openSender(target.port)
  const controller = new AbortController()
  const sending = send(sender, [ADA, BOB], aNotification(), controller.signal)
  controller.abort()
  expect(await sending).toEqual({ kind: 'aborted', accepted: [] })
  const last = send(sender, [CY])
  await sender.close()
  await sender.close()
  expect(await last).toMatchObject({ kind: 'failed', isFinal: false })
})

test('a server that says nothing or hangs up is given up as well', async () => {
  const silent = await startRawTarget(() => undefined)
  opened.push(silent)
  const clock = createFakeClock()
  const sending = send(openSender(silent.port, { clock }))
  await until('a connection', () => silent.connections() === 1)
  await clock.advance(10_000)
  expect(await sending).toMatchObject({ answer: 'The mail server was too slow.', isFinal: false })

  const rude = createServer((socket) => socket.end())
  opened.push({ close: () => new Promise((resolve) => rude.close(() => resolve())) })
  await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
  expect(await send(openSender((rude.address() as AddressInfo).port))).toMatchObject({
    kind: 'failed',
    answer: 'The mail server closed the connection.',
    isFinal: false,
  })
})

test('many members get their mails over few connections', async () => {
  const target = await openMail()
  const members = Array.from({ length: MEMBERS_PER_TEAM_MAX }, (_, at) => ({
    name: `Member ${at}`,
    email: `member-${at}@example.com`,
  }))
  // Its time stands still: a busy machine may need longer for a hundred mails than a server has.
  const sending = send(openSender(target.port, { clock: createFakeClock() }), members)
  expect(await sending).toMatchObject({ kind: 'sent' })
  expect(new Set(target.mails().flatMap(({ to }) => to)).size).toBe(MEMBERS_PER_TEAM_MAX)
  expect(target.connections()).toBeLessThanOrEqual(4)
})

test('no answer repeats the login', async () => {
  const target = await openMail()
  const code = Buffer.from(LOGIN.password).toString('base64')
  target.refuse(ADA.email, { code: 550, text: `5.7.1 ${LOGIN.password} is not welcome` })
  const results = [await send(openSender(target.port)), await send(openSender(1))]
  const text = JSON.stringify(results)
  expect(text).not.toContain(LOGIN.password)
  expect(text).not.toContain(code)
  expect(text).not.toContain('127.0.0.1')
})

test('without members there is nobody to tell', async () => {
  expect(await send(openSender(1), [])).toMatchObject({ kind: 'failed', isFinal: true })
})
