import type { Call, HeaderLine, Job } from '../../../../clients/typescript/src/client.ts'
import { scanJsonObject } from '../../../contract/fields/json-members.ts'
import { AGE_SECONDS_MAX } from '../signature.ts'

/** A call as the target got it. */
export interface CallCopy {
  readonly jobId: number
  readonly attempt: number
  readonly method: string
  /** Of the target. */
  readonly url: string
  /** As sent, without those of the connection and the secret ones. */
  readonly headers: readonly HeaderLine[]
  /** Byte for byte; empty = none. */
  readonly body: Buffer
  /** Names of the secret headers that the call had. */
  readonly leftOut: readonly string[]
  /** How the target answered: a status, or why there is none. */
  readonly outcome: string
}

/**
 * Why there is no copy. `not_recorded`: no record of the call is kept · `cut`: the record has the first 16 KiB of the body
 * alone, and the whole of it is no longer kept · `old`: its signature counts no more
 */
export type NoCopy = 'not_recorded' | 'cut' | 'old'

/** Stands in place of values that nobody is shown. */
const HIDDEN = '(hidden)'
/** They are of a connection, or of the length that the copy has. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['host', 'connection', 'content-length'])

/**
 * The copy of the call of a job that has ended.
 * @param text of the answer: the JSON of a payload has bytes there that `JSON.parse` would lose
 */
export function copyOf(job: Job, text: string, nowMs: number): CallCopy | NoCopy {
  const call = job.calls.at(-1)
  if (call === undefined) return 'not_recorded'
  const { request, response } = call
  if (isOld(request.headers, nowMs)) return 'old'
  const body = bodyOf(job, call, text)
  if (body === null) return 'cut'
  const lines = request.headers.filter(({ name }) => !OF_CONNECTION.has(name.toLowerCase()))
  return {
    jobId: job.job_id,
    attempt: call.attempt_number,
    method: request.method,
    url: request.url,
    headers: lines.filter(({ value }) => value !== HIDDEN),
    body,
    leftOut: lines.filter(({ value }) => value === HIDDEN).map(({ name }) => name),
    outcome: response === null ? (call.failure_reason ?? 'no answer') : String(response.status),
  }
}

/** Whether the reader has lost the right to see it since: then even what Punctual adds is hidden. */
export function isMasked({ calls }: Job): boolean {
  return calls.some(({ request }) =>
    request.headers.some(({ name, value }) => name.toLowerCase() === 'webhook-id' && value === HIDDEN),
  )
}

/** Receivers judge a call by its timestamp, and so may the copy be judged. */
function isOld(headers: readonly HeaderLine[], nowMs: number): boolean {
  const timestamp = headers.find(({ name }) => name.toLowerCase() === 'webhook-timestamp')?.value
  return timestamp !== undefined && nowMs / 1000 - Number(timestamp) > AGE_SECONDS_MAX
}

/** null = only its beginning is kept. */
function bodyOf(job: Job, { request }: Call, text: string): Buffer | null {
  const { body, body_truncated: isCut } = request
  const sent = isCut ? wholeBodyOf(job, text) : (body ?? '')
  return sent === null ? null : Buffer.from(sent, job.body_encoding === 'base64' ? 'base64' : 'utf8')
}

/** A job keeps its body while its chain may go on. */
function wholeBodyOf(
  { payload, body, body_encoding: encoding, cron_id: cronId }: Job,
  text: string,
): string | null {
  const isText = encoding === 'text' || encoding === 'base64' || cronId !== null
  const kept: unknown = encoding === null ? payload : body
  if (kept === null || kept === undefined) return null
  if (isText) return typeof kept === 'string' ? kept : null
  const scan = scanJsonObject(text, () => false)
  const member = scan.kind === 'object' ? scan.members.get(encoding === null ? 'payload' : 'body') : undefined
  return member === undefined ? null : text.slice(member.start, member.end)
}
