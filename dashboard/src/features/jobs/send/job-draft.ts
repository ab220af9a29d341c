import type { BodyEncoding, Method } from '../../../../../clients/typescript/src/client.ts'
import { numberOr, numbersIn } from '../../../format/delays.ts'
import { readLines } from '../../../format/lines.ts'

/** A push as it is typed. Empty texts count as absent; what only looks wrong is left to the server to judge. */
export interface JobDraft {
  readonly queue: string
  readonly url: string
  readonly method: Method
  /** `name: value`, one a line, as the tags. */
  readonly headers: string
  /** Sent as it is, but for base64. */
  readonly payload: string
  /** `payload`: a JSON object; else a body of this encoding. */
  readonly bodyKind: 'payload' | BodyEncoding
  readonly start: 'now' | 'delay' | 'at'
  /** Seconds. */
  readonly delay: string
  /** ISO 8601. */
  readonly runAt: string
  /** `kept`: of a copy, those of the first job, which are not known. */
  readonly retries: 'kept' | 'queue' | 'own' | 'off'
  /** Seconds, with commas between them. */
  readonly retryDelays: string
  readonly timeout: string
  readonly tags: string
  readonly callbackUrl: string
  readonly callbackEvents: '' | 'terminal' | 'every_attempt'
}

export const EMPTY_DRAFT: JobDraft = {
  queue: '',
  url: '',
  method: 'POST',
  headers: '',
  payload: '',
  bodyKind: 'payload',
  start: 'now',
  delay: '',
  runAt: '',
  retries: 'queue',
  retryDelays: '',
  timeout: '',
  tags: '',
  callbackUrl: '',
  callbackEvents: '',
}

/** The names that fields have in the contract. */
export type FieldName =
  | 'queue'
  | 'url'
  | 'method'
  | 'headers'
  | 'payload'
  | 'body'
  | 'body_encoding'
  | 'delay'
  | 'run_at'
  | 'retries_enabled'
  | 'retry_delays'
  | 'timeout_seconds'
  | 'tags'
  | 'callback_url'
  | 'callback_events'

/** The source text, as JSON, of each field that is given. */
export type Fields = ReadonlyMap<FieldName, string>
export type Mistakes = Readonly<Partial<Record<FieldName, string>>>

export interface ReadDraft {
  readonly fields: Fields
  /** What cannot be sent at all. */
  readonly mistakes: Mistakes
}

export function fieldsOf(draft: JobDraft): ReadDraft {
  const mistakes: { -readonly [Name in FieldName]?: string } = {}
  const fields = new Map<FieldName, string>()
  const give = (name: FieldName, value: unknown): void => void fields.set(name, JSON.stringify(value))
  const giveText = (name: FieldName, text: string): void => {
    if (text.trim() !== '') give(name, text.trim())
  }
  const givePairs = (name: 'headers' | 'tags', text: string): void => {
    const { pairs, mistake } = readLines(text)
    if (mistake !== null) mistakes[name] = mistake
    if (pairs.length > 0) give(name, Object.fromEntries(pairs))
  }
  giveText('queue', draft.queue)
  giveText('url', draft.url)
  if (draft.method !== 'POST') give('method', draft.method)
  givePairs('headers', draft.headers)
  giveBody(draft, fields, mistakes)
  if (draft.start === 'delay') give('delay', numberOr(draft.delay))
  if (draft.start === 'at') giveText('run_at', draft.runAt)
  if (draft.retries === 'off') give('retries_enabled', false)
  if (draft.retries === 'own') {
    // The job wants retries even if its queue has them off.
    give('retries_enabled', true)
    give('retry_delays', numbersIn(draft.retryDelays))
  }
  if (draft.timeout.trim() !== '') give('timeout_seconds', numberOr(draft.timeout))
  givePairs('tags', draft.tags)
  giveText('callback_url', draft.callbackUrl)
  giveText('callback_events', draft.callbackEvents)
  return { fields, mistakes }
}

/** White space belongs to a text, and not to JSON. */
function giveBody(
  { payload, bodyKind }: JobDraft,
  fields: Map<FieldName, string>,
  mistakes: { -readonly [Name in FieldName]?: string },
): void {
  const text = payload.trim()
  if (bodyKind === 'payload' || bodyKind === 'json') {
    if (text === '') return
    const name = bodyKind === 'json' ? 'body' : 'payload'
    fields.set(name, text)
    const mistake = bodyKind === 'json' ? jsonMistake(text) : payloadMistake(text)
    if (mistake !== null) mistakes[name] = mistake
  } else if (payload === '') return
  else fields.set('body', JSON.stringify(bodyKind === 'base64' ? text : payload))
  if (bodyKind !== 'payload') fields.set('body_encoding', JSON.stringify(bodyKind))
}

/** A body with a field a line; the payload as it was typed. */
export function bodyOf(fields: Fields): string {
  const lines = [...fields].map(([name, json]) => `  ${JSON.stringify(name)}: ${json}`)
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`
}

/** What is wrong with a payload before it is sent; null = nothing. */
export function payloadMistake(text: string): string | null {
  const mistake = jsonMistake(text)
  if (mistake !== null || text.trim().startsWith('{')) return mistake
  return 'It must be a JSON object, such as {"order": 1042}.'
}

function jsonMistake(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (fault) {
    return `It is not JSON: ${(fault as Error).message.replace(/^JSON\.parse: /, '')}`
  }
}
