import {
  ALERT_REASONS,
  ALERT_RESOURCE_KINDS,
  ALERT_TYPES,
  type Alert,
  type AlertReason,
  type AlertResourceKind,
  type AlertType,
} from '../../../domain/alerts/alert.ts'
import { alertMessage, type AlertFacts } from '../../../domain/alerts/alert-message.ts'

/** An alert in Redis; alerts/alerts.lua says how it is written. */
export interface AlertRecord {
  readonly alert: Alert
  /** The total of its fingerprint before it: with `count` it says which of those alerts this record holds. */
  readonly totalBefore: number
}

/** unread, count, last, before, first, type, reason, kind, resource, suppressed by, job, facts. */
const RECORD =
  /^([01])\|(\d+)\|(\d{13})\|(\d+)\|(\d{13})\|(\w+)\|(\w+)\|(\w+)\|(\d*)\|([^|]*)\|(\d*)\|(\[.*\])$/s

/** The end of a record: the resource's name, and what its message is made of. */
export function encodeAlertFacts(name: string, facts: AlertFacts): string {
  return JSON.stringify([name, ...facts])
}

/** null when it is damaged. */
export function alertIn(id: string, text: string): AlertRecord | null {
  const [, unread, count, last, before, first, type, reason, kind, resource, window, job, rest] =
    RECORD.exec(text) ?? []
  if (rest === undefined || !isType(type) || !isReason(reason) || !isKind(kind)) return null
  const [name, ...facts] = factsIn(rest)
  if (name === undefined) return null
  const shown = {
    id: Number(id),
    type,
    reason,
    resource: { kind, id: numberIn(resource), name: String(name) },
    jobId: numberIn(job),
    count: Number(count),
    firstAtMs: Number(first),
    lastAtMs: Number(last),
    isRead: unread === '0',
    suppressedBy: window === undefined || window === '' ? null : window,
  }
  return { alert: { ...shown, message: alertMessage(shown, facts) }, totalBefore: Number(before) }
}

/** Key under which the totals count an alert, unless the team has too many. */
export function fingerprintOf({
  type,
  reason,
  resource,
}: Pick<Alert, 'type' | 'reason' | 'resource'>): string {
  return `${type}|${reason}|${resource.kind}|${resource.id ?? ''}`
}

/** Total of one fingerprint; see alerts/alerts.lua. */
export interface AlertTotal {
  /** Id of its first record. */
  readonly bornId: number
  /** Alerts that no window suppressed; only rises. */
  readonly total: number
  /** Id of its newest record. */
  readonly openId: number
  readonly lastAtMs: number
}

/** null when it is damaged. */
export function alertTotalIn(text: string): AlertTotal | null {
  const [, born, total, open, last] = /^(\d+)\|(\d+)\|(\d+)\|(\d{13})$/.exec(text) ?? []
  if (last === undefined) return null
  return { bornId: Number(born), total: Number(total), openId: Number(open), lastAtMs: Number(last) }
}

function factsIn(json: string): AlertFacts {
  try {
    return JSON.parse(json) as AlertFacts
  } catch {
    return []
  }
}

function numberIn(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : Number(text)
}

const isType = (word: string | undefined): word is AlertType => ALERT_TYPES.includes(word as AlertType)
const isKind = (word: string | undefined): word is AlertResourceKind =>
  ALERT_RESOURCE_KINDS.includes(word as AlertResourceKind)
const isReason = (word: string | undefined): word is AlertReason =>
  ALERT_REASONS.includes(word as AlertReason)
