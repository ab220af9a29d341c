import type { Alert, AlertType } from '../../domain/alerts/alert.ts'
import type { Notification, NotificationEntry } from '../../ports/notifications.ts'
import { printable } from './printable.ts'

/** A message's text about one resource. One line each, not yet escaped for the service it goes to. */
export interface MessageEntry {
  readonly heading: string
  readonly lines: readonly string[]
}

/** A message's text, for any service. */
export interface Message {
  readonly title: string
  /** The most severe type; null for a test. */
  readonly type: AlertType | null
  readonly entries: readonly MessageEntry[]
  /** Entries that are left out. */
  readonly more: number
}

const NAME_CHARACTERS_MAX = 100
const TEXT_CHARACTERS_MAX = 600

const TYPE_TEXTS: Readonly<Record<AlertType, string>> = {
  warning: 'Warning',
  failure: 'Failure',
  recovery: 'Recovery',
  limit_warning: 'Limit warning',
}

/** @param channel its name */
export function messageOf(notification: Notification, channel: string): Message {
  const team = printable(notification.team, NAME_CHARACTERS_MAX)
  const [first] = notification.entries
  if (notification.kind === 'test' || first === undefined) {
    const line = `Channel ${printable(channel, NAME_CHARACTERS_MAX)} of team ${team} works.`
    return { title: 'Test message', type: null, entries: [{ heading: '', lines: [line] }], more: 0 }
  }
  const entries = notification.entries.map((entry) => entryOf(entry, team))
  const type = first.alert.type
  const more = notification.moreEntries
  if (entries.length === 1 && more === 0) {
    const { heading = '', lines = [] } = entries[0] ?? {}
    return { title: heading, type, entries: [{ heading: '', lines }], more }
  }
  const trouble = onlyTroubleOf(notification)
  const subject = trouble === null ? `of team ${team}` : `about ${resourceText(trouble.alert)}`
  return { title: `${countOf(notification.alerts, 'alert')} ${subject}`, type, entries, more }
}

/** The first entry, if all that the message tells of is one trouble of one resource; null if not. */
export function onlyTroubleOf({ entries, moreEntries }: Notification): NotificationEntry | null {
  const [first] = entries
  if (first === undefined || moreEntries > 0) return null
  return entries.every(({ threadId }) => threadId === first.threadId) ? first : null
}

/** The subject of an alert, such as `queue "emails"`. */
export function resourceText({ resource }: Alert): string {
  const name = printable(resource.name, NAME_CHARACTERS_MAX)
  return resource.kind === 'team' ? `team ${name}` : `${resource.kind} "${name}"`
}

/** The lines of an entry, the heading first. */
export function linesOf({ heading, lines }: MessageEntry): readonly string[] {
  return heading === '' ? lines : [heading, ...lines]
}

/** The last line of a message that leaves out entries. */
export function moreText(more: number): string {
  return `… and ${more} more`
}

/** A message with as many entries, from the first one on, as fit; the others are counted with those left out before. */
export function largestFitting<E, T>(
  { entries, more }: { readonly entries: readonly E[]; readonly more: number },
  render: (entries: readonly E[], more: number) => T,
  fits: (rendered: T) => boolean,
): T {
  for (let shown = entries.length; ; shown -= 1) {
    const rendered = render(entries.slice(0, shown), more + entries.length - shown)
    if (shown <= 1 || fits(rendered)) return rendered
  }
}

function entryOf({ alert, count, isReply }: NotificationEntry, team: string): MessageEntry {
  const reason = alert.reason.replaceAll('_', ' ')
  const cause = alert.type === 'recovery' ? `after ${reason}` : reason
  const times = isReply ? `${countOf(count, 'time')} since the last message` : countOf(count, 'time')
  const when = `${timeText(alert.lastAtMs)} UTC`
  const ids = [`Team ${team}`, ...(alert.jobId === null ? [] : [`job ${alert.jobId}`]), `alert ${alert.id}`]
  return {
    heading: `${TYPE_TEXTS[alert.type]}: ${resourceText(alert)} (${cause})`,
    lines: [
      printable(alert.message, TEXT_CHARACTERS_MAX),
      count === 1 ? `At ${when}` : `${times}, last at ${when}`,
      ids.join(' · '),
    ].filter((line) => line !== ''),
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')
}
