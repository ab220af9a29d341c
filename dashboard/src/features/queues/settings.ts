import type { Queue, QueueEdit } from '../../../../clients/typescript/src/client.ts'
import { assertionLines, assertionsIn, successText } from '../../format/assertions.ts'
import { changedIn, type Changes } from '../../format/drafts.ts'
import { numberOr, numbersIn, toldDelays } from '../../format/delays.ts'
import { plural } from '../../format/numbers.ts'
import { formatSeconds } from '../../format/times.ts'

interface Setting {
  readonly label: string
  /** Of the API. */
  readonly names: ReadonlyArray<keyof QueueEdit & keyof Queue>
  /** Whether a change is in force for jobs that are there already. */
  readonly isAtOnce?: boolean
  words(queue: Queue): string
}

/** What there is to set, in the order in which it is shown. */
export const SETTINGS: readonly Setting[] = [
  {
    ...{ label: 'State', names: ['is_active', 'is_draining'], isAtOnce: true },
    words: ({ is_active: isActive, is_draining: isDraining }) =>
      [isActive ? 'Running' : 'Paused', ...(isDraining ? ['draining'] : [])].join(', '),
  },
  {
    ...{ label: 'Calls at once', names: ['max_parallelism'], isAtOnce: true },
    words: ({ max_parallelism: limit }) => (limit === null ? 'No limit' : `At most ${plural(limit, 'call')}`),
  },
  {
    ...{ label: 'Timeout of a call', names: ['timeout_seconds'] },
    words: ({ timeout_seconds: seconds }) => formatSeconds(seconds),
  },
  {
    ...{ label: 'Retries', names: ['retries_enabled', 'retry_delays'] },
    words: (queue) => (queue.retries_enabled ? toldDelays(queue.retry_delays).slice(0, -1) : 'None'),
  },
  {
    ...{ label: 'An attempt succeeds if', names: ['success_assertions'] },
    words: (queue) => successText(queue.success_assertions),
  },
  {
    ...{ label: 'Callbacks', names: ['callback_events'] },
    words: ({ callback_events: events }) =>
      events === 'terminal' ? 'When the chain has ended' : 'After every attempt',
  },
  {
    ...{ label: 'Dead letters are kept', names: ['dlq_retention_days'] },
    words: (queue) => `${queue.dlq_retention_days} days`,
  },
  {
    ...{ label: 'Alerts', names: ['alerts_enabled'] },
    words: (queue) => (queue.alerts_enabled ? 'When jobs fail or limits are near' : 'None'),
  },
]

export interface Difference {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** What somebody has changed from one version to the other. */
export function differencesOf(before: Queue, after: Queue): readonly Difference[] {
  const changed = new Set<string>(changedIn(before, after))
  return SETTINGS.filter(({ names }) => names.some((name) => changed.has(name))).map(({ label, words }) => ({
    ...{ label, before: words(before), after: words(after) },
  }))
}

/** The settings as the fields of a form. */
export interface SettingsDraft {
  /** Empty = no limit. */
  readonly limit: string
  readonly timeout: string
  readonly hasRetries: boolean
  readonly delays: string
  /** One a line. */
  readonly assertions: string
  readonly events: Queue['callback_events']
  readonly days: '3' | '7' | '14' | '30'
  readonly hasAlerts: boolean
}

export function draftOf(queue: Queue): SettingsDraft {
  return {
    limit: String(queue.max_parallelism ?? ''),
    timeout: String(queue.timeout_seconds),
    hasRetries: queue.retries_enabled,
    delays: queue.retry_delays.join(', '),
    assertions: assertionLines(queue.success_assertions),
    events: queue.callback_events,
    days: `${queue.dlq_retention_days}`,
    hasAlerts: queue.alerts_enabled,
  }
}

/** Only the fields that differ. */
export function changesOf(before: SettingsDraft, draft: SettingsDraft): Changes<QueueEdit> {
  const fields: Readonly<Record<keyof SettingsDraft, Readonly<Record<string, unknown>>>> = {
    limit: { max_parallelism: draft.limit.trim() === '' ? null : numberOr(draft.limit) },
    timeout: { timeout_seconds: numberOr(draft.timeout) },
    hasRetries: { retries_enabled: draft.hasRetries },
    delays: { retry_delays: numbersIn(draft.delays) },
    assertions: { success_assertions: assertionsIn(draft.assertions) },
    events: { callback_events: draft.events },
    days: { dlq_retention_days: Number(draft.days) },
    hasAlerts: { alerts_enabled: draft.hasAlerts },
  }
  const edit = Object.assign({}, ...changedIn(before, draft).map((name) => fields[name])) as QueueEdit
  return { edit, count: SETTINGS.filter(({ names }) => names.some((name) => name in edit)).length }
}
