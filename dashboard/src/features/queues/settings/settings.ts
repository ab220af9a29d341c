import type { Queue, QueueEdit } from '../../../../../clients/typescript/src/client.ts'
import { assertionLines, assertionsIn, successText } from '../../../format/values/assertions.ts'
import { changedIn, type Changes } from '../../../editing/drafts.ts'
import { numberOr, numbersIn, toldDelays } from '../../../format/delays.ts'
import { textOf } from '../../../format/values/known-values.ts'
import { plural } from '../../../format/numbers.ts'
import { formatSeconds } from '../../../format/times.ts'
import { toldBreaker, toldRate } from './flow-text.ts'

/** What call records keep of what targets answer. */
export const RECORDED: Readonly<Record<Queue['record_responses'], string>> = {
  all: 'Status, headers and body',
  none: 'The status alone',
}

interface Setting {
  readonly label: string
  /** The fields of the API that it stands for. */
  readonly names: ReadonlyArray<keyof QueueEdit & keyof Queue>
  /** Whether a change is in force for jobs that are there already. */
  readonly isAtOnce?: boolean
  words(queue: Queue): string
}

/** What there is to set, in the order in which it is shown. */
export const SETTINGS: readonly Setting[] = [
  {
    label: 'State',
    names: ['is_active', 'is_draining'],
    isAtOnce: true,
    words: ({ is_active: isActive, is_draining: isDraining }) =>
      [isActive ? 'Running' : 'Paused', ...(isDraining ? ['draining'] : [])].join(', '),
  },
  {
    label: 'Calls at once',
    names: ['max_parallelism'],
    isAtOnce: true,
    words: ({ max_parallelism: limit }) => (limit === null ? 'No limit' : `At most ${plural(limit, 'call')}`),
  },
  {
    label: 'Rate limit',
    names: ['rate_limit'],
    isAtOnce: true,
    words: ({ rate_limit: rate }) => (rate === null ? 'None' : toldRate(rate)),
  },
  {
    label: 'Retry-After of the target',
    names: ['respect_retry_after'],
    isAtOnce: true,
    words: (queue) => (queue.respect_retry_after ? 'Keeps the queue waiting' : 'Is ignored'),
  },
  {
    label: 'Circuit breaker',
    names: ['circuit_breaker'],
    isAtOnce: true,
    words: ({ circuit_breaker: breaker }) => (breaker === null ? 'None' : toldBreaker(breaker)),
  },
  {
    label: 'Timeout of a call',
    names: ['timeout_seconds'],
    words: ({ timeout_seconds: seconds }) => formatSeconds(seconds),
  },
  {
    label: 'Retries',
    names: ['retries_enabled', 'retry_delays', 'retry_jitter_percent', 'no_retry_statuses'],
    words: toldRetries,
  },
  {
    label: 'An attempt succeeds if',
    names: ['success_assertions'],
    words: (queue) => successText(queue.success_assertions),
  },
  {
    label: 'Callbacks',
    names: ['callback_events'],
    words: ({ callback_events: events }) =>
      textOf({ terminal: 'When the chain has ended', every_attempt: 'After every attempt' }, events),
  },
  {
    label: 'Kept of responses',
    names: ['record_responses'],
    words: (queue) => RECORDED[queue.record_responses],
  },
  {
    label: 'Dead letters are kept',
    names: ['dlq_retention_days'],
    words: (queue) => `${queue.dlq_retention_days} days`,
  },
  {
    label: 'Alerts',
    names: ['alerts_enabled'],
    words: (queue) => (queue.alerts_enabled ? 'When jobs fail or limits are near' : 'None'),
  },
]

function toldRetries(queue: Queue): string {
  const { retry_jitter_percent: percent, no_retry_statuses: statuses } = queue
  if (!queue.retries_enabled) return 'None'
  return [
    toldDelays(queue.retry_delays).slice(0, -1),
    ...(percent > 0 ? [`each up to ${percent} % later`] : []),
    ...(statuses.length > 0 ? [`none after status ${statuses.join(', ')}`] : []),
  ].join('; ')
}

export interface Difference {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** What somebody has changed from one version to the other. */
export function differencesOf(before: Queue, after: Queue): readonly Difference[] {
  const changed = new Set<string>(changedIn(before, after))
  return SETTINGS.filter(({ names }) => names.some((name) => changed.has(name))).map(({ label, words }) => ({
    label,
    before: words(before),
    after: words(after),
  }))
}

/** The settings as the fields of a form. */
export interface SettingsDraft {
  /** Empty = no limit. */
  readonly limit: string
  /** Empty = no limit. */
  readonly rate: string
  readonly ratePeriod: string
  readonly respectsRetryAfter: boolean
  readonly hasBreaker: boolean
  readonly failurePercent: string
  readonly minCalls: string
  readonly windowSeconds: string
  readonly openSeconds: string
  readonly timeout: string
  readonly hasRetries: boolean
  readonly delays: string
  readonly jitter: string
  readonly noRetryStatuses: string
  /** One a line. */
  readonly assertions: string
  readonly events: Queue['callback_events']
  readonly records: Queue['record_responses']
  readonly days: '3' | '7' | '14' | '30'
  readonly hasAlerts: boolean
}

/** What a form offers to a queue without a breaker: what the API takes where nothing is said. */
const BREAKER = { failure_percent: 50, min_calls: 10, window_seconds: 60, open_seconds: 30 }

export function draftOf(queue: Queue): SettingsDraft {
  const breaker = queue.circuit_breaker ?? BREAKER
  return {
    limit: String(queue.max_parallelism ?? ''),
    rate: String(queue.rate_limit?.limit ?? ''),
    ratePeriod: String(queue.rate_limit?.period_seconds ?? 1),
    respectsRetryAfter: queue.respect_retry_after,
    hasBreaker: queue.circuit_breaker !== null,
    failurePercent: String(breaker.failure_percent),
    minCalls: String(breaker.min_calls),
    windowSeconds: String(breaker.window_seconds),
    openSeconds: String(breaker.open_seconds),
    timeout: String(queue.timeout_seconds),
    hasRetries: queue.retries_enabled,
    delays: queue.retry_delays.join(', '),
    jitter: String(queue.retry_jitter_percent),
    noRetryStatuses: queue.no_retry_statuses.join(', '),
    assertions: assertionLines(queue.success_assertions),
    events: queue.callback_events,
    records: queue.record_responses,
    days: `${queue.dlq_retention_days}`,
    hasAlerts: queue.alerts_enabled,
  }
}

/** What a queue has of which nothing is said: only what differs from it is sent, so that the API has the last word. */
export const NEW_SETTINGS: SettingsDraft = {
  limit: '',
  rate: '',
  ratePeriod: '1',
  respectsRetryAfter: false,
  hasBreaker: false,
  failurePercent: String(BREAKER.failure_percent),
  minCalls: String(BREAKER.min_calls),
  windowSeconds: String(BREAKER.window_seconds),
  openSeconds: String(BREAKER.open_seconds),
  timeout: '30',
  hasRetries: true,
  delays: '60, 1800, 10800',
  jitter: '0',
  noRetryStatuses: '',
  assertions: '',
  events: 'terminal',
  records: 'all',
  days: '14',
  hasAlerts: false,
}

/** The rate limit as it goes to the API, which judges the values; null = none. */
export function rateIn({ rate, ratePeriod }: SettingsDraft) {
  return rate.trim() === '' ? null : { limit: numberOr(rate), period_seconds: numberOr(ratePeriod) }
}

/** The circuit breaker as it goes to the API; null = none. */
export function breakerIn(draft: SettingsDraft) {
  if (!draft.hasBreaker) return null
  return {
    failure_percent: numberOr(draft.failurePercent),
    min_calls: numberOr(draft.minCalls),
    window_seconds: numberOr(draft.windowSeconds),
    open_seconds: numberOr(draft.openSeconds),
  }
}

/** All fields of a draft as they go to the API. */
function editOf(draft: SettingsDraft) {
  return {
    max_parallelism: draft.limit.trim() === '' ? null : numberOr(draft.limit),
    rate_limit: rateIn(draft),
    respect_retry_after: draft.respectsRetryAfter,
    circuit_breaker: breakerIn(draft),
    timeout_seconds: numberOr(draft.timeout),
    retries_enabled: draft.hasRetries,
    retry_delays: numbersIn(draft.delays),
    retry_jitter_percent: numberOr(draft.jitter),
    no_retry_statuses: numbersIn(draft.noRetryStatuses),
    success_assertions: assertionsIn(draft.assertions),
    callback_events: draft.events,
    record_responses: draft.records,
    dlq_retention_days: Number(draft.days),
    alerts_enabled: draft.hasAlerts,
  } satisfies Readonly<Record<Exclude<keyof QueueEdit, NotHere>, unknown>>
}

/** Fields that the form does not have. */
type NotHere = 'is_active' | 'is_draining' | 'strict_parallelism'

/** Only the fields that differ. */
export function changesOf(before: SettingsDraft, draft: SettingsDraft): Changes<QueueEdit> {
  const all = editOf(draft)
  const changed = changedIn(editOf(before), all).map((name) => [name, all[name]])
  const edit = Object.fromEntries(changed) as QueueEdit
  return { edit, count: SETTINGS.filter(({ names }) => names.some((name) => name in edit)).length }
}
