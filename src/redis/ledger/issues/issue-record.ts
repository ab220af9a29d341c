import type { IssueGroup, IssueHour, IssueState } from '../../../domain/issues/issue.ts'
import type { FailureReason } from '../../../domain/jobs/job.ts'

const HOUR_MS = 3_600_000

/** What is stored of an issue, as issues.lua describes it. */
export interface IssueRecord extends IssueGroup {
  readonly localId: string
  readonly state: IssueState
  readonly mutedUntilMs: number | null
  readonly firstAtMs: number
  readonly openedAtMs: number
  readonly lastAtMs: number
  readonly sampleJobId: number
  /** Oldest first. */
  readonly hours: readonly IssueHour[]
}

const STATES: Readonly<Record<string, IssueState>> = {
  o: 'open',
  a: 'acknowledged',
  m: 'muted',
  r: 'resolved',
}

/** The form of fields that hold an issue; the others hold what is free. */
const FIELD = /^(\d+)-([0-9a-f]{10}|other)$/
const RECORD =
  /^([oamr])\|(\d{13}|)\|(\d{13})\|(\d{13})\|(\d{13})\|(\d+)\|([a-z_]*)\|(\d*)\|([^|]*)\|(\d+:\d+:\d+(?:,\d+:\d+:\d+)*)$/

export function isIssueField(field: string): boolean {
  return FIELD.test(field)
}

/** Whether a field and its value say what is free in a queue's share. */
export function isShareNote(field: string, text: string): boolean {
  return /^#\d+$/.test(field) && /^\d+\|\d+$/.test(text)
}

/** null = it is damaged, or no issue. */
export function issueIn(field: string, text: string): IssueRecord | null {
  const [, localId] = FIELD.exec(field) ?? []
  const parts = RECORD.exec(text)
  if (localId === undefined || parts === null) return null
  const [, state = '', until = '', first, opened, last, sample, reason, status, host, hours = ''] = parts
  return {
    localId,
    state: STATES[state] as IssueState,
    mutedUntilMs: until === '' ? null : Number(until),
    firstAtMs: Number(first),
    openedAtMs: Number(opened),
    lastAtMs: Number(last),
    sampleJobId: Number(sample),
    failureReason: reason === '' ? null : (reason as FailureReason),
    responseStatus: status === '' ? null : Number(status),
    host: host === '' ? null : (host ?? null),
    hours: hours.split(',').map(hourIn).toReversed(),
  }
}

function hourIn(text: string): IssueHour {
  const [hour, failed, dead] = text.split(':').map(Number)
  return { atMs: Number(hour) * HOUR_MS, failed: Number(failed), deadLettered: Number(dead) }
}
