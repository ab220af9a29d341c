import type { Job, JobPush } from '../../../../../clients/typescript/src/client.ts'
import { MASK } from '../../../format/curl.ts'
import { indentJson, memberOf } from '../../../format/json-text.ts'
import { toLines } from '../../../format/lines.ts'
import { EMPTY_DRAFT, type JobDraft } from './job-draft.ts'

/**
 * A job's fields, to be changed in a copy.
 *
 * @param text the job as it came, for the digits of its payload
 */
export function draftOfJob(job: Job, text: string): JobDraft {
  const { settings, headers } = job
  return {
    ...EMPTY_DRAFT,
    queue: job.queue ?? '',
    url: job.url,
    method: job.method,
    headers: toLines(shownOf(headers ?? {})),
    ...bodyOfJob(job, text),
    tags: toLines(job.tags),
    callbackUrl: job.callback_url ?? '',
    ...(settings === null
      ? { retries: 'kept' }
      : {
          retries: settings.retries_enabled ? 'own' : 'off',
          retryDelays: settings.retry_delays.join(', '),
          timeout: String(settings.timeout_seconds),
          callbackEvents: settings.callback_events,
        }),
  }
}

function bodyOfJob(
  { payload, body, body_encoding: encoding }: Job,
  text: string,
): Pick<JobDraft, 'payload' | 'bodyKind'> {
  if (encoding === null) {
    return { payload: typeof payload === 'object' ? jsonIn(text, 'payload') : '', bodyKind: 'payload' }
  }
  if (body === MASK) return { payload: '', bodyKind: encoding }
  return { payload: encoding === 'json' ? jsonIn(text, 'body') : textOf(body), bodyKind: encoding }
}

/** The headers that are not masked: a mask would be sent as the value. */
function shownOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== MASK))
}

export type ReadJson =
  | { readonly draft: JobDraft; readonly mistake: null }
  | { readonly draft: null; readonly mistake: string }

/** A body as the contract has it, as a draft. */
export function draftOfJson(text: string, base: JobDraft = EMPTY_DRAFT): ReadJson {
  let given: Partial<Record<string, unknown>>
  try {
    given = JSON.parse(text) as typeof given
  } catch (fault) {
    return { draft: null, mistake: `It is not JSON: ${(fault as Error).message}` }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { draft: null, mistake: 'It must be a JSON object.' }
  }
  const unknown = Object.keys(given).find((name) => !NAMES.has(name))
  if (unknown !== undefined) return { draft: null, mistake: `A job has no field "${unknown}".` }
  return { draft: { ...draftOf(given, text), ...keptIn(given, base) }, mistake: null }
}

const NAMES: ReadonlySet<string> = new Set([
  'queue',
  'url',
  'method',
  'headers',
  'payload',
  'body',
  'body_encoding',
  'content_type',
  'delay',
  'run_at',
  'retries_enabled',
  'retry_delays',
  'timeout_seconds',
  'tags',
  'callback_url',
  'callback_events',
])

/** Retries that the text does not mention stay as they are where they are not known. */
function keptIn(given: object, { retries }: JobDraft): Partial<JobDraft> {
  const isGiven = 'retry_delays' in given || 'retries_enabled' in given
  return retries === 'kept' && !isGiven ? { retries } : {}
}

function draftOf(given: Partial<JobPush>, text: string): JobDraft {
  const delays = given.retry_delays
  return {
    ...EMPTY_DRAFT,
    queue: textOf(given.queue),
    url: textOf(given.url),
    method: given.method ?? 'POST',
    headers: linesOf(withContentType(given)),
    ...bodyGiven(given, text),
    start: isGiven(given.run_at) ? 'at' : isGiven(given.delay) ? 'delay' : 'now',
    delay: textOf(given.delay),
    runAt: textOf(given.run_at),
    retries: given.retries_enabled === false ? 'off' : isGiven(delays) ? 'own' : 'queue',
    retryDelays: Array.isArray(delays) ? delays.join(', ') : textOf(delays),
    timeout: textOf(given.timeout_seconds),
    tags: linesOf(given.tags),
    callbackUrl: textOf(given.callback_url),
    callbackEvents: given.callback_events ?? '',
  }
}

function bodyGiven({ body, body_encoding: encoding }: Partial<JobPush>, text: string) {
  if (!isGiven(body)) return { payload: memberOf(text, 'payload') ?? '' }
  const bodyKind = encoding ?? (typeof body === 'string' ? 'text' : 'json')
  return { payload: bodyKind === 'json' ? (memberOf(text, 'body') ?? '') : textOf(body), bodyKind }
}

/** The form has the content type among the headers. */
function withContentType({ headers, content_type: type }: Partial<JobPush>): unknown {
  return typeof type === 'string' ? { ...headers, 'Content-Type': type } : headers
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function textOf(value: unknown): string {
  if (!isGiven(value)) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function linesOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? toLines(value as Record<string, string>) : ''
}

/** Readable, with all its digits. */
function jsonIn(text: string, member: 'payload' | 'body'): string {
  const source = memberOf(text, member)
  if (source === null || source === 'null') return ''
  return indentJson(source) ?? source
}
