import type { Cron, CronEdit } from '../../../../../clients/typescript/src/client.ts'
import { assertionLines, assertionsIn } from '../../../format/values/assertions.ts'
import { changedIn, type Changes } from '../../../editing/drafts.ts'
import { readLines, toLines } from '../../../format/lines.ts'

/** The settings of a cron as they are typed, in the API's order. What is empty here may stay empty. */
export const NEW_CRON = {
  name: '',
  url: '',
  method: 'POST',
  headers: '',
  payload: '',
  callback_url: '',
  cron_expression: '',
  timeout_seconds: '30',
  alert_threshold: '1',
  success_assertions: '',
  time_zone: 'UTC',
  concurrency_policy: 'allow',
  missed_run_policy: 'latest',
  starting_deadline_seconds: '',
  jitter_seconds: '0',
  queue: '',
  record_responses: 'all',
} as const satisfies Readonly<Partial<Record<keyof CronEdit, string>>>

export type CronField = keyof typeof NEW_CRON
export type CronDraft = Readonly<Record<CronField, string>>

const CRON_FIELDS = Object.keys(NEW_CRON) as CronField[]
const IS_NUMBER = /_(?:seconds|threshold)$/

export function draftOf(cron: Cron): CronDraft {
  const texts = CRON_FIELDS.map((name): [CronField, string] => {
    if (name === 'headers') return [name, toLines(cron.headers)]
    if (name === 'success_assertions') return [name, assertionLines(cron.success_assertions)]
    return [name, String(cron[name] ?? '')]
  })
  return Object.fromEntries(texts) as CronDraft
}

export function changesOf(before: CronDraft, draft: CronDraft): Changes<CronEdit> {
  const mistakes: Partial<Record<CronField, string>> = {}
  const changed = changedIn(before, draft).map((name) => {
    const { value, mistake } = valueOf(name, draft[name])
    if (mistake !== null) mistakes[name] = mistake
    return [name, value]
  })
  return { edit: Object.fromEntries(changed) as CronEdit, count: changed.length, mistakes }
}

interface Value {
  readonly value: unknown
  readonly mistake: string | null
}

function valueOf(name: CronField, text: string): Value {
  if (name === 'headers') {
    const { pairs, mistake } = readLines(text)
    return { value: Object.fromEntries(pairs), mistake }
  }
  if (name === 'success_assertions') return { value: assertionsIn(text), mistake: null }
  // A payload may be white space.
  const given = name === 'payload' ? text : text.trim()
  if (given === '' && NEW_CRON[name] === '') return { value: null, mistake: null }
  // What is no number goes as it is: the server says what it should be.
  return { value: IS_NUMBER.test(name) && /^\d+$/.test(given) ? Number(given) : given, mistake: null }
}
