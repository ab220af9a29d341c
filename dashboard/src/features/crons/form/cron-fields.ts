import type { Cron } from '../../../../../clients/typescript/src/client.ts'
import { successText } from '../../../format/values/assertions.ts'
import { textOf } from '../../../format/values/known-values.ts'
import { plural } from '../../../format/numbers.ts'
import { formatSeconds } from '../../../format/times.ts'
import type { Option } from '../../../ui/forms/field.tsx'
import type { CronField } from './cron-draft.ts'

export interface CronFieldText {
  readonly label: string
  readonly hint?: string
  readonly placeholder?: string
  /** A choice of these. */
  readonly options?: ReadonlyArray<Option<string>>
  /** Several lines. */
  readonly rows?: number
  readonly isNumber?: boolean
  readonly isMono?: boolean
  readonly isRequired?: boolean
  /** What is set, in words; absent where the page of a cron tells it otherwise. */
  words?(cron: Cron): string
}

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, label: value }))
const MISSED: Readonly<Record<Cron['missed_run_policy'], string>> = {
  latest: 'The last one runs late',
  all: 'All run late, at most 100',
  skip: 'They do not run',
}
const RECORDED: Readonly<Record<Cron['record_responses'], string>> = {
  all: 'As the queue says',
  none: 'The status alone',
}
const OVERLAPS: Readonly<Record<Cron['concurrency_policy'], string>> = {
  allow: 'Others may start',
  forbid: 'Ticks are skipped',
}

function optionsOf(labels: Readonly<Record<string, string>>): ReadonlyArray<Option<string>> {
  return Object.entries(labels).map(([value, label]) => ({ value, label }))
}

/** What is said of each setting, in the form and beside the values. */
export const CRON_TEXTS: Readonly<Record<CronField, CronFieldText>> = {
  name: { label: 'Name', placeholder: 'Nightly report', isRequired: true },
  cron_expression: {
    label: 'Cron expression',
    placeholder: '0 3 * * *',
    isRequired: true,
    isMono: true,
    hint: 'Minute, hour, day of month, month, day of week.',
  },
  time_zone: { label: 'Time zone', hint: 'Such as Europe/Berlin.', isRequired: true },
  method: { label: 'Method', options: METHODS },
  url: { label: 'URL', placeholder: 'https://api.example.com/report', isRequired: true, isMono: true },
  payload: { label: 'Payload', rows: 4, hint: 'The body of each request, sent exactly as written.' },
  headers: {
    label: 'Headers',
    rows: 2,
    placeholder: 'X-Report: nightly',
    hint: 'One a line, as name: value.',
  },
  queue: {
    label: 'Queue',
    placeholder: 'None',
    hint: 'With its parallelism, retries and dead letters. Without one the next tick is the retry.',
  },
  concurrency_policy: {
    label: 'While a run has not ended',
    options: optionsOf(OVERLAPS),
    words: (cron) => textOf(OVERLAPS, cron.concurrency_policy),
  },
  missed_run_policy: {
    label: 'Missed ticks',
    options: optionsOf(MISSED),
    words: (cron) => textOf(MISSED, cron.missed_run_policy),
  },
  starting_deadline_seconds: {
    label: 'Starts at the latest after',
    placeholder: 'No limit',
    isNumber: true,
    hint: 'Seconds, 1 to 86,400. A tick that is later is missed for good.',
    words: ({ starting_deadline_seconds: seconds, missed_run_policy: missed }) =>
      seconds === null ? (missed === 'skip' ? '60 s' : 'No limit') : formatSeconds(seconds),
  },
  jitter_seconds: {
    label: 'Jitter',
    isNumber: true,
    isRequired: true,
    hint: 'Seconds, 0 to 3,600: runs start up to so much later, always the same for one cron.',
    words: ({ jitter_seconds: seconds }) => (seconds === 0 ? 'None' : `Up to ${formatSeconds(seconds)}`),
  },
  timeout_seconds: {
    label: 'Timeout',
    hint: 'Seconds of one call, 1 to 300.',
    isNumber: true,
    isRequired: true,
    words: ({ timeout_seconds: seconds }) => formatSeconds(seconds),
  },
  alert_threshold: {
    label: 'Failure alert after',
    options: optionsOf({ 1: '1 failure', 2: '2 in a row', 3: '3 in a row' }),
    words: ({ alert_threshold: failures }) => `${plural(failures, 'failure')} in a row`,
  },
  success_assertions: {
    label: 'Success assertions',
    rows: 3,
    hint: 'One a line. All must pass, besides a 2xx status.',
    placeholder: 'status_code_equals: 200\nbody_contains: ok\nresponse_time_under_ms: 500',
    words: ({ success_assertions: assertions }) => successText(assertions),
  },
  record_responses: {
    label: 'Kept of responses',
    options: optionsOf(RECORDED),
    words: ({ record_responses: responses, queue }) =>
      responses === 'all' && queue === null ? 'Status, headers and body' : RECORDED[responses],
  },
  callback_url: {
    label: 'Callback URL',
    hint: 'Gets a POST about each end.',
    isMono: true,
    words: ({ callback_url: url }) => url ?? 'None',
  },
}
