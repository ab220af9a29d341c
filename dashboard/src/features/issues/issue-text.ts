import type { Issue } from '../../../../clients/typescript/src/client.ts'
import { answerText } from '../../format/failure-reasons.ts'
import { plural } from '../../format/numbers.ts'
import type { TonedLabel } from '../../ui/tone.ts'

export const STATES: Readonly<Record<Issue['state'], TonedLabel>> = {
  open: { tone: 'bad', label: 'Open' },
  acknowledged: { tone: 'busy', label: 'Acknowledged' },
  muted: { tone: 'plain', label: 'Muted' },
  resolved: { tone: 'good', label: 'Resolved' },
}

/** What fails, in a few words: such as `503 from api.example.com`. */
export function failureOf({ failure_reason: reason, response_status: status, host }: Issue): string {
  if (reason === null) return 'Other failures'
  const what = answerText(reason, status)
  if (host === null) return what
  return what === String(status) ? `${what} from ${host}` : `${what}: ${host}`
}

/** Dead letters if there are any, else failed attempts. */
export function countOf({ count, dead_lettered: dead }: Issue): string {
  return dead > 0 ? plural(dead, 'dead letter') : plural(count, 'failed attempt')
}

/** The filter that finds an issue among dead letters; null where none does, or where there are none. */
export function deadLettersOf(issue: Issue): Readonly<Record<string, string>> | null {
  const { resource, host, failure_reason: reason, response_status: status, dead_lettered: dead } = issue
  if (dead === 0 || resource.kind !== 'queue' || host === null || reason === null) return null
  return {
    queue: resource.name,
    host,
    failure_reason: reason,
    ...(status !== null && status <= 599 && { response_status: String(status) }),
  }
}

const HOUR_MS = 3_600_000

/** How many attempts failed in each of the last hours, oldest first. */
export function hourly({ by_hour: hours }: Issue, count: number, nowMs: number): readonly number[] {
  const failed = new Map(hours.map((hour) => [Math.floor(Date.parse(hour.at) / HOUR_MS), hour.failed]))
  const last = Math.floor(nowMs / HOUR_MS)
  return Array.from({ length: count }, (_, i) => failed.get(last - count + 1 + i) ?? 0)
}
