import type { Cron, CronEdit } from '../../../../../clients/typescript/src/client.ts'
import { assertionLines, assertionsIn } from '../../../format/assertions.ts'
import { readLines, toLines } from '../../../format/lines.ts'

/** The settings of a cron as they are typed, in the API's order. What is empty here may stay empty. */
export const NEW_CRON = {
  ...{ name: '', url: '', method: 'POST', headers: '', payload: '', callback_url: '' },
  ...{ cron_expression: '', timeout_seconds: '30', alert_threshold: '1', success_assertions: '' },
  ...{ time_zone: 'UTC', concurrency_policy: 'allow', missed_run_policy: 'latest' },
  ...{ starting_deadline_seconds: '', jitter_seconds: '0', queue: '' },
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

export interface ReadDraft {
  /** What differs from the draft before. */
  readonly changes: CronEdit
  /** What can be said before the server is asked. */
  readonly mistakes: Readonly<Partial<Record<CronField, string>>>
}

export function changesOf(before: CronDraft, draft: CronDraft): ReadDraft {
  const mistakes: Partial<Record<CronField, string>> = {}
  const changed = CRON_FIELDS.filter((name) => draft[name] !== before[name]).map((name) => {
    const { value, mistake } = valueOf(name, draft[name])
    if (mistake !== null) mistakes[name] = mistake
    return [name, value]
  })
  return { changes: Object.fromEntries(changed) as CronEdit, mistakes }
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

/** Which fields somebody else has changed meanwhile. */
export function changedFields(before: CronDraft, now: CronDraft): CronField[] {
  return CRON_FIELDS.filter((name) => before[name] !== now[name])
}

/** A draft on newer settings: what was not touched in it is as it is now. */
export function rebased(before: CronDraft, draft: CronDraft, now: CronDraft): CronDraft {
  const texts = CRON_FIELDS.map((name) => [name, draft[name] === before[name] ? now[name] : draft[name]])
  return Object.fromEntries(texts) as CronDraft
}
