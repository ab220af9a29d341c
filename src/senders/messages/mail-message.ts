import { createHash } from 'node:crypto'
import type { MailAddress } from '../../domain/notifications/mail-server.ts'
import type { Member } from '../../domain/notifications/channel.ts'
import type { Notification } from '../../ports/notifications.ts'
import { linesOf, moreText, onlyTroubleOf, resourceText, type Message } from './message.ts'
import { printable } from './printable.ts'

/** A mail to one member. No value contains a line break but `text` and `html`. */
export interface Mail {
  readonly to: MailAddress
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly date: Date
  /** Id with angle brackets. The same for each try, so that mailboxes recognize a repeat. */
  readonly messageId: string
  /** Id shared by the mails of one trouble, by which programs group mails; null when there are several. */
  readonly threadRoot: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Parts that all mails of a notification share. */
export interface MailDraft {
  readonly notification: Notification
  /** Name of the channel. */
  readonly channel: string
  readonly message: Message
  readonly from: MailAddress
}

const NAME_CHARACTERS_MAX = 100
const SUBJECT_CHARACTERS_MAX = 150
const ID_CHARACTERS = 24

export function mailTo(member: Member, { notification, channel, message, from }: MailDraft): Mail {
  const { team, id } = notification
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const trouble = onlyTroubleOf(notification)
  const idOf = (kind: string, of: string) =>
    `<${kind}.${hashOf([team, channel, member.email, of])}@${domain}>`
  return {
    to: { name: printable(member.name, NAME_CHARACTERS_MAX), address: member.email },
    subject: printable(subjectOf(notification, message), SUBJECT_CHARACTERS_MAX),
    text: textOf(message),
    html: htmlOf(message),
    date: new Date(notification.createdAtMs),
    messageId: idOf('message', id),
    threadRoot: trouble === null ? null : idOf('thread', trouble.threadId),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Id': `<${hostLabel(channel)}.${hostLabel(team)}.punctual.${domain}>`,
    },
  }
}

/** The same for all mails of one trouble, because some programs make a thread of equal subjects only. */
function subjectOf(notification: Notification, message: Message): string {
  const trouble = onlyTroubleOf(notification)
  if (trouble === null) return `[Punctual] ${message.title}`
  const reply = notification.entries.some(({ isReply }) => isReply) ? 'Re: ' : ''
  const { alert } = trouble
  const team = printable(notification.team, NAME_CHARACTERS_MAX)
  const owner = alert.resource.kind === 'team' ? '' : ` of team ${team}`
  return `${reply}[Punctual] Alert about ${resourceText(alert)}${owner}`
}

function textOf({ title, entries, more }: Message): string {
  const parts = [title, ...entries.map((entry) => linesOf(entry).join('\n'))]
  return `${(more === 0 ? parts : [...parts, moreText(more)]).join('\n\n')}\n`
}

function htmlOf({ title, entries, more }: Message): string {
  const parts = entries.map((entry) => {
    const heading = entry.heading === '' ? '' : `<b>${escapeHtml(entry.heading)}</b><br>\n`
    return `<p>${heading}${entry.lines.map(escapeHtml).join('<br>\n')}</p>`
  })
  const end = more === 0 ? [] : [`<p>${moreText(more)}</p>`]
  return [`<h3>${escapeHtml(title)}</h3>`, ...parts, ...end, ''].join('\n')
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, ID_CHARACTERS)
}

function hostLabel(text: string): string {
  return text.replace(/[^a-zA-Z0-9-]/g, '-').slice(0, 63) || 'none'
}
