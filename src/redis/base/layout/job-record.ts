import { INLINE_REQUEST_BYTES_MAX } from '../../../domain/limits.ts'
import { traceContextOf, type TraceContext } from '../../../domain/net/trace-context.ts'
import {
  BODY_ENCODINGS,
  FAILURE_REASONS,
  METHODS,
  type AttemptSummary,
  type BodyEncoding,
  type CronOrigin,
  type JobRequest,
  type Method,
} from '../../../domain/jobs/job.ts'
import type { SuccessAssertion } from '../../../domain/jobs/assertion.ts'
import { decodeOwnRecorded, encodeRecorded } from './recorded-responses.ts'

/**
 * The format of jobs in Redis. A record is text, so that `redis-cli` shows it; the steps read its head:
 *
 *     due(13) attempt(1) losses(1) flags(1) timeout(3) settings(11) lag '|' chain '\n' meta '\n' payload
 *
 * `lag` is due − created in ms, empty for 0; a cron's run is created after it was due. `chain` is a JSON array of the
 * chain's earlier attempts, empty for none.
 * `meta` is a JSON array. The payload comes last, as its exact source text, or is absent.
 * The part from the first line break on is the request part. If it exceeds 4 KiB, flag bit 0 is set and its tail is kept
 * in `p:`, once per chain: the payload and, if needed, a line before it with headers and assertions, for which `meta` has
 * a 1. So a list needs only the record.
 */

const HEAD_LENGTH = 30
/** Recognizes a sound record as lib/record.lua does, or more strictly. */
const SOUND = /^\d{13}[1-9a-g]\d[0-3]\d{3}[\w-]{11}(?:-?\d{1,13})?\|[^\n]*\n/
/** The prefix of a quarantined dead letter; see execute/finish/settle.lua. */
const QUARANTINED = /^!([1-9a-g])(\d{13})\n/

type Meta = [
  url: string,
  method?: number,
  headers?: Record<string, string> | 0 | 1,
  callbackUrl?: string | 0,
  callbackEvents?: number,
  tags?: Record<string, string> | 0,
  timeoutSeconds?: number,
  retryDelays?: readonly number[] | 0,
  retriesEnabled?: number,
  cron?: EncodedMark | 0,
  successAssertions?: EncodedAssertions | 0,
  callDepth?: number,
  bulkId?: number,
  bodyEncoding?: number,
  recordResponses?: number,
  traceParent?: string | 0,
  traceState?: string | 0,
]

/** A separate line if the request is large. */
type Moved = [headers: Record<string, string>, successAssertions: EncodedAssertions | 0]

export type EncodedMark = [cronId: number, tickMs: number, isManual?: 0 | 1, signer?: string]
export type EncodedAssertions = Array<[type: SuccessAssertion['type'], value: never]>

/** The request part in two pieces: one for the record, one for `p:` ('' if none). */
export interface EncodedRequest {
  readonly inline: string
  readonly large: string
}

export function encodeRequest(request: JobRequest): EncodedRequest {
  const assertions = request.successAssertions === null ? 0 : encodeAssertions(request.successAssertions)
  const head = metaText(request, isEmpty(request.headers) ? 0 : request.headers, assertions)
  const tail = request.payload === null ? '' : `\n${request.payload}`
  if (!isOver(INLINE_REQUEST_BYTES_MAX, head + tail)) return { inline: `\n${head}${tail}`, large: '' }
  if (tail !== '' && !isOver(INLINE_REQUEST_BYTES_MAX, head)) return { inline: `\n${head}`, large: tail }
  const moved: Moved = [request.headers, assertions]
  return { inline: `\n${metaText(request, 1, 0)}`, large: `\n${JSON.stringify(moved)}${tail}` }
}

function metaText(
  request: JobRequest,
  headers: NonNullable<Meta[2]>,
  assertions: EncodedAssertions | 0,
): string {
  const meta: Meta = [
    request.url,
    METHODS.indexOf(request.method),
    headers,
    request.callbackUrl ?? 0,
    request.callbackEvents === null ? 0 : request.callbackEvents === 'terminal' ? 1 : 2,
    isEmpty(request.tags) ? 0 : request.tags,
    request.timeoutSeconds ?? 0,
    request.retryDelays ?? 0,
    request.retriesEnabled === null ? 0 : request.retriesEnabled ? 1 : 2,
    encodeMark(request.cron),
    assertions,
    request.callDepth ?? 0,
    request.bulkId ?? 0,
    encodeBodyEncoding(request.bodyEncoding),
    encodeRecorded(request.recordResponses),
    request.trace?.parent ?? 0,
    request.trace?.state ?? 0,
  ]
  return JSON.stringify(withoutTail(meta, (index) => (index === 1 ? METHODS.indexOf('POST') : 0)))
}

function isOver(bytes: number, text: string): boolean {
  return text.length > bytes || (text.length > bytes / 3 && Buffer.byteLength(text) > bytes)
}

/** Drops trailing elements that have their default value. */
export function withoutTail(values: readonly unknown[], defaultOf: (index: number) => unknown): unknown[] {
  let length = values.length
  while (length > 1 && values[length - 1] === defaultOf(length - 1)) length -= 1
  return values.slice(0, length)
}

/**
 * Reads a request. Without the tail, payload, headers and assertions are left out. Throws when the record is damaged.
 */
export function decodeRequest(part: string): JobRequest {
  const { meta, rest } = splitRequest(part)
  const [
    url,
    method,
    ,
    callbackUrl,
    events,
    tags,
    timeout,
    delays,
    retries,
    cron,
    ,
    callDepth = 0,
    bulkId = 0,
    bodyEncoding = 0,
    recorded,
    traceParent,
    traceState,
  ] = meta as Meta
  const { headers, assertions, payload } = largePartsOf(meta as Meta, rest)
  const request: JobRequest = {
    url,
    method: METHODS[method ?? METHODS.indexOf('POST')] as Method,
    headers: headers === 0 || headers === undefined ? {} : headers,
    payload,
    callbackUrl: callbackUrl === 0 || callbackUrl === undefined ? null : callbackUrl,
    callbackEvents: events === undefined || events === 0 ? null : events === 1 ? 'terminal' : 'every_attempt',
    tags: tags === 0 || tags === undefined ? {} : tags,
    timeoutSeconds: timeout === undefined || timeout === 0 ? null : timeout,
    retryDelays: delays === 0 || delays === undefined ? null : delays,
    retriesEnabled: retries === undefined || retries === 0 ? null : retries === 1,
    successAssertions: assertions === undefined || assertions === 0 ? null : decodeAssertions(assertions),
    cron: decodeMark(cron),
    ...(callDepth === 0 ? {} : { callDepth }),
    ...(bulkId === 0 ? {} : { bulkId }),
    ...decodeBodyEncoding(bodyEncoding),
    ...decodeOwnRecorded(recorded),
    ...decodeTrace(traceParent, traceState),
  }
  if (!isRequest(request)) throw new Error('a request is damaged')
  return request
}

/** Whether everything a call needs has the right type: it was valid when written, but may have been damaged since. */
function isRequest({
  url,
  method,
  headers,
  callbackUrl,
  tags,
  timeoutSeconds,
  retryDelays,
  callDepth = 0,
  bulkId = 0,
}: JobRequest): boolean {
  return (
    typeof url === 'string' &&
    METHODS.includes(method) &&
    [headers, tags].every(isTextMap) &&
    isCount(callDepth) &&
    isCount(bulkId) &&
    (callbackUrl === null || typeof callbackUrl === 'string') &&
    (timeoutSeconds === null || isCount(timeoutSeconds)) &&
    (retryDelays === null || (Array.isArray(retryDelays) && retryDelays.every(isCount)))
  )
}

function isTextMap(value: unknown): boolean {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap && Object.values(value).every((each) => typeof each === 'string')
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function largePartsOf(
  meta: Meta,
  rest: string | null,
): { headers?: Moved[0] | 0 | undefined; assertions?: Moved[1] | undefined; payload: string | null } {
  const [, , headers, , , , , , , , assertions] = meta
  if (headers !== 1) return { headers, assertions, payload: rest }
  if (rest === null) return { payload: null }
  const { meta: moved, rest: payload } = splitRequest(`\n${rest}`)
  const [movedHeaders, movedAssertions] = moved as Moved
  return { headers: movedHeaders, assertions: movedAssertions, payload }
}

/** 0 = none. */
export function encodeBodyEncoding(encoding: BodyEncoding | null | undefined): number {
  return encoding === null || encoding === undefined ? 0 : BODY_ENCODINGS.indexOf(encoding) + 1
}

/** Throws for one that this version does not know: the bytes to send cannot be told. */
export function decodeBodyEncoding(code: number): Pick<JobRequest, 'bodyEncoding'> {
  if (code === 0) return {}
  const bodyEncoding = BODY_ENCODINGS[code - 1]
  if (bodyEncoding === undefined) throw new Error('the encoding of a body is not known')
  return { bodyEncoding }
}

/** Leaves out a context that is not sound: nobody needs it to make a call. */
export function decodeTrace(parent: unknown, state?: unknown): { readonly trace?: TraceContext } {
  const trace = traceContextOf(parent, state)
  return trace === null ? {} : { trace }
}

export function encodeMark(mark: CronOrigin | null): EncodedMark | 0 {
  if (mark === null) return 0
  const { cronId, tickMs, isManual, signer } = mark
  if (signer !== undefined) return [cronId, tickMs, isManual ? 1 : 0, signer]
  return isManual ? [cronId, tickMs, 1] : [cronId, tickMs]
}

export function decodeMark(mark: EncodedMark | 0 | undefined): CronOrigin | null {
  if (mark === undefined || mark === 0) return null
  const [cronId, tickMs, isManual, signer] = mark
  return { cronId, tickMs, isManual: isManual === 1, ...(signer === undefined ? {} : { signer }) }
}

export function encodeAssertions(assertions: readonly SuccessAssertion[]): EncodedAssertions {
  return assertions.map(({ type, value }) => [type, value as never])
}

export function decodeAssertions(assertions: EncodedAssertions): SuccessAssertion[] {
  return assertions.map(([type, value]) => ({ type, value }))
}

/** The two pieces of a request part: what its first line says, and what follows; null = nothing does. */
export function splitRequest(part: string): { meta: unknown[]; rest: string | null } {
  const end = part.indexOf('\n', 1)
  const meta = JSON.parse(end === -1 ? part.slice(1) : part.slice(1, end)) as unknown[]
  return { meta, rest: end === -1 ? null : part.slice(end + 1) }
}

/** Whether a sound record is one of a first attempt, without reading it. */
export function isFirstAttempt(text: string): boolean {
  return SOUND.test(text) && text[13] === '1'
}

export interface JobRecord {
  readonly dueMs: number
  readonly createdAtMs: number
  readonly attempt: number
  /** Leases lost by this attempt so far. */
  readonly losses: number
  /** Whether the tail of the request part is in `p:`. */
  readonly isLarge: boolean
  readonly timeoutSeconds: number
  readonly settingsHash: string
  readonly earlier: readonly AttemptSummary[]
  /** null for a large request whose tail was not read. */
  readonly requestPart: string | null
  /** The piece of the request part that is in the record. */
  readonly inlinePart: string
}

/**
 * Throws when it is damaged; the error reveals nothing of the content.
 *
 * @param largePart the value in `p:`, if the record has its tail there
 */
export function decodeRecord(text: string, largePart: string | null): JobRecord {
  if (!SOUND.test(text)) throw new Error('a record is damaged')
  const bar = text.indexOf('|', HEAD_LENGTH)
  const end = text.indexOf('\n', bar)
  const dueMs = Number(text.slice(0, 13))
  const flags = Number.parseInt(text.slice(15, 16), 16)
  const isLarge = (flags & 1) === 1
  const chain = text.slice(bar + 1, end)
  return {
    dueMs,
    createdAtMs: dueMs - Number(text.slice(HEAD_LENGTH, bar)),
    attempt: Number.parseInt(text.slice(13, 14), 36),
    losses: Number(text.slice(14, 15)),
    isLarge,
    timeoutSeconds: Number(text.slice(16, 19)),
    settingsHash: text.slice(19, HEAD_LENGTH),
    earlier: chain === '' ? [] : decodeAttempts(JSON.parse(chain) as AttemptTuple[]),
    requestPart: !isLarge ? text.slice(end) : largePart === null ? null : text.slice(end) + largePart,
    inlinePart: text.slice(end),
  }
}

/** A dead letter whose record cannot be read, as the step that quarantined it wrote it. */
export interface QuarantinedRecord {
  readonly attempt: number
  readonly quarantinedAtMs: number
}

/** Whether its tail is in `p:`; of a damaged record something harmless. */
export function isLargeRecord(text: string): boolean {
  return (Number.parseInt(text.slice(15, 16), 16) & 1) === 1
}

/** null when the record is not quarantined. */
export function quarantineIn(text: string): QuarantinedRecord | null {
  const [, attempt, at] = QUARANTINED.exec(text) ?? []
  return attempt === undefined ? null : { attempt: Number.parseInt(attempt, 36), quarantinedAtMs: Number(at) }
}

/** Times are offsets from each other, which keeps a common attempt under 40 characters. */
export type AttemptTuple = [
  scheduledAtMs: number,
  createdLagMs: number,
  startedLagMs: number,
  tookMs: number,
  durationMs: number,
  responseStatus: number,
  failure?: number,
  errorMessage?: string,
]

export function encodeAttempts(attempts: readonly AttemptSummary[]): string {
  return JSON.stringify(attempts.map(toTuple))
}

export function toTuple(attempt: AttemptSummary): AttemptTuple {
  const tuple: AttemptTuple = [
    attempt.scheduledAtMs,
    attempt.scheduledAtMs - attempt.createdAtMs,
    attempt.startedAtMs - attempt.scheduledAtMs,
    attempt.completedAtMs - attempt.startedAtMs,
    Math.round(attempt.durationMs),
    attempt.responseStatus ?? 0,
  ]
  if (attempt.failureReason === null) return tuple
  tuple.push(FAILURE_REASONS.indexOf(attempt.failureReason))
  if (attempt.errorMessage !== null) tuple.push(attempt.errorMessage)
  return tuple
}

/** Count of the leading numbers that every attempt has. */
const NUMBERS = 6

function hasNumbers(tuple: AttemptTuple): boolean {
  for (let at = 0; at < NUMBERS; at += 1) if (!Number.isSafeInteger(tuple[at])) return false
  return true
}

/** Throws when an attempt is damaged. */
export function decodeAttempts(tuples: readonly AttemptTuple[]): AttemptSummary[] {
  if (!tuples.every(hasNumbers)) throw new Error('the attempts of a chain are damaged')
  return tuples.map(
    ([scheduledAtMs, createdLag, startedLag, took, durationMs, status, failure, message]) => ({
      createdAtMs: scheduledAtMs - createdLag,
      scheduledAtMs,
      startedAtMs: scheduledAtMs + startedLag,
      completedAtMs: scheduledAtMs + startedLag + took,
      durationMs,
      responseStatus: status === 0 ? null : status,
      failureReason: failure === undefined ? null : (FAILURE_REASONS[failure] ?? 'unknown'),
      errorMessage: message ?? null,
    }),
  )
}

export function isEmpty(object: Readonly<Record<string, string>>): boolean {
  return Object.keys(object).length === 0
}
