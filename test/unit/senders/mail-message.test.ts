import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mailTo } from '../../../src/senders/messages/mail-message.ts'
import { messageOf } from '../../../src/senders/messages/message.ts'
import type { Notification } from '../../../src/ports/notifications.ts'
import { anAlert, aNotification, anEntry } from '../../support/notifications.ts'
import { largestNotification, nastyNotification, nastyText } from './nasty-text.ts'

const ADA = { name: 'Ada', email: 'ada@example.com' }
const BOB = { name: 'Bob', email: 'bob@example.com' }
const from = { name: 'Punctual', address: 'alerts@example.org' }

function mail(notification: Notification, member = ADA, channel = 'ops') {
  return mailTo(member, { notification, channel, message: messageOf(notification, channel), from })
}

const failure = anEntry()
const digest = anEntry({ count: 9, isReply: true })
const recovery = anEntry({ alert: anAlert({ type: 'recovery' }), isReply: true })

test('a mail says what a chat message says, in text and in HTML', () => {
  const { subject, text, html, date } = mail(aNotification())
  expect(subject).toBe('[Punctual] Alert about queue "emails" of team acme')
  expect(text.split('\n')).toEqual([
    'Failure: queue "emails" (timeout)',
    '',
    'POST to example.com failed after 3 attempts: no answer within 30 s.',
    'At 2026-11-22 22:10:02 UTC',
    'Team acme · job 815 · alert 4711',
    '',
  ])
  expect(html).toContain('<h3>Failure: queue &quot;emails&quot; (timeout)</h3>')
  expect(date.toISOString()).toBe('2026-11-22T22:10:03.000Z')
})

test('mails about one trouble share a thread and a subject, and each has its own id', () => {
  const mails = [failure, digest, recovery].map((entry, at) =>
    mail(aNotification({ id: `n-${at}`, entries: [entry] })),
  )
  expect(new Set(mails.map(({ threadRoot }) => threadRoot)).size).toBe(1)
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(3)
  expect(new Set(mails.map(({ subject }) => subject.replace(/^Re: /, ''))).size).toBe(1)
  expect(mails.map(({ subject }) => subject.startsWith('Re: '))).toEqual([false, true, true])
})

test('a warning and a failure of one trouble stay in its thread', () => {
  const warning = anEntry({ alert: anAlert({ id: 1, type: 'warning' }), count: 3 })
  const both = mail(aNotification({ id: 'n-9', entries: [digest, warning] }))
  expect(both.threadRoot).toBe(mail(aNotification()).threadRoot)
  expect(both.subject).toBe('Re: [Punctual] Alert about queue "emails" of team acme')
  expect(both.text).toMatch(/^12 alerts about queue "emails"\n\nFailure: /)
})

test('an alert of the team itself names the team once', () => {
  const alert = anAlert({
    type: 'limit_warning',
    reason: 'quota_nearly_used',
    resource: { kind: 'team', id: null, name: 'acme' },
    jobId: null,
  })
  const { subject, text } = mail(aNotification({ entries: [anEntry({ alert })] }))
  expect(subject).toBe('[Punctual] Alert about team acme')
  expect(text).toMatch(/^Limit warning: team acme \(quota nearly used\)\n/)
})

test('a mail that is tried again is the same; another member, channel or team has another', () => {
  const first = mail(aNotification())
  expect(mail(aNotification())).toEqual(first)
  const others = [
    mail(aNotification(), BOB),
    mail(aNotification(), ADA, 'night'),
    mail(aNotification({ team: 'b' })),
  ]
  const all = [first, ...others]
  expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(4)
  expect(new Set(all.map(({ threadRoot }) => threadRoot)).size).toBe(4)
})

test('a mail about several resources belongs to no thread', () => {
  const other = anEntry({ alert: anAlert({ resource: { kind: 'cron', id: 1, name: 'x' } }), threadId: 'c' })
  const { subject, threadRoot } = mail(aNotification({ entries: [digest, other], alerts: 10 }))
  expect(threadRoot).toBeNull()
  expect(subject).toBe('[Punctual] 10 alerts of team acme')
})

test('nothing that others wrote becomes HTML or breaks a header', () => {
  fc.assert(
    fc.property(nastyNotification, nastyText, (notification, name) => {
      const made = mail(notification, { name, email: 'ada@example.com' }, name)
      const tags = /<\/?(?:h3|p|b)>|<br>/g
      expect(made.html.replace(tags, '').replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toMatch(/[<>&"']/)
      const values = [
        made.subject,
        made.to.name,
        made.messageId,
        made.threadRoot,
        ...Object.values(made.headers),
      ]
      for (const value of values) expect(value ?? '').not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
      for (const id of [made.messageId, made.threadRoot]) expect(id ?? '<a@b>').toMatch(/^<[\w.-]+@[\w.-]+>$/)
      expect(made.subject.length).toBeLessThanOrEqual(150)
    }),
    { numRuns: 150 },
  )
})

test('as much as there can be is a mail of bounded size', () => {
  const { text, html } = mail(largestNotification('&'))
  expect(text.match(/^Failure: /gm)).toHaveLength(20)
  expect(text).toMatch(/… and 1000000 more\n$/)
  expect(Buffer.byteLength(html)).toBeLessThan(128 * 1024)
})
