import {
  METHODS,
  type AttemptSummary,
  type JobChain,
  type JobRequest,
  type Method,
} from '../../../domain/jobs/job.ts'
import {
  decodeAssertions,
  decodeAttempts,
  decodeBodyEncoding,
  decodeMark,
  decodeTrace,
  encodeAssertions,
  encodeBodyEncoding,
  encodeMark,
  isEmpty,
  toTuple,
  withoutTail,
  type AttemptTuple,
  type EncodedAssertions,
  type EncodedMark,
} from './job-record.ts'
import { decodeOwnRecorded, encodeRecorded } from './recorded-responses.ts'

/** The first part of a record. */
export const END_CODES = { success: 's', failed_no_retries: 'f', dead_lettered: 'd' } as const
export type ChainEnd = keyof typeof END_CODES

/** Headers of a finished chain are kept up to this many characters of JSON. */
const KEPT_HEADERS_CHARACTERS_MAX = 1024

/**
 * The record of an ended chain. Its payload is kept only as long as its call records. Its call depth is not kept: a job
 * made from it is as deep as the call that makes it.
 * Of its trace context the state is not kept: only tracing systems read it, and the job sends it no more.
 */
export interface FinishedRecord {
  readonly end: ChainEnd
  readonly attempts: readonly AttemptSummary[]
  /** Headers are null if they were too long to keep. */
  readonly request: Omit<JobRequest, 'headers' | 'payload' | 'callDepth'> &
    Pick<JobChain['request'], 'headers'>
  /** The job that a replay or a retry of this chain created. */
  readonly replayedAs: number | null
  /** Whether there was no payload, and not one that is no longer kept. */
  readonly hadNoPayload: boolean
}

/** The job's own settings. */
type OwnSettings = [
  timeoutSeconds: number,
  retryDelays?: readonly number[] | 0,
  retriesEnabled?: number,
  callbackEvents?: number,
  successAssertions?: EncodedAssertions | 0,
  recordResponses?: number,
]

export function encodeFinished(record: FinishedRecord): string {
  const { request } = record
  return JSON.stringify(
    withoutTail(
      [
        END_CODES[record.end],
        record.attempts.map(toTuple),
        request.url,
        METHODS.indexOf(request.method),
        request.callbackUrl ?? 0,
        isEmpty(request.tags) ? 0 : request.tags,
        record.replayedAs ?? 0,
        keptHeaders(request.headers),
        encodeMark(request.cron),
        encodeOwn(request),
        record.hadNoPayload ? 1 : 0,
        request.bulkId ?? 0,
        encodeBodyEncoding(request.bodyEncoding),
        request.trace?.parent ?? 0,
      ],
      (index) => (index === 3 ? METHODS.indexOf('POST') : 0),
    ),
  )
}

/** 0 = none, 1 = not kept. */
function keptHeaders(headers: Readonly<Record<string, string>> | null): Record<string, string> | 0 | 1 {
  if (headers === null) return 1
  if (isEmpty(headers)) return 0
  return JSON.stringify(headers).length <= KEPT_HEADERS_CHARACTERS_MAX ? headers : 1
}

function encodeOwn(request: FinishedRecord['request']): OwnSettings | 0 {
  const { timeoutSeconds, retryDelays, retriesEnabled, callbackEvents, successAssertions } = request
  const own: OwnSettings = [
    timeoutSeconds ?? 0,
    retryDelays ?? 0,
    retriesEnabled === null ? 0 : retriesEnabled ? 1 : 2,
    callbackEvents === null ? 0 : callbackEvents === 'terminal' ? 1 : 2,
    successAssertions === null ? 0 : encodeAssertions(successAssertions),
    encodeRecorded(request.recordResponses),
  ]
  return own.every((part) => part === 0) ? 0 : (withoutTail(own, () => 0) as OwnSettings)
}

function decodeOwn(
  own: OwnSettings | 0 | undefined,
): Pick<
  JobRequest,
  | 'timeoutSeconds'
  | 'retryDelays'
  | 'retriesEnabled'
  | 'callbackEvents'
  | 'successAssertions'
  | 'recordResponses'
> {
  const [timeout = 0, delays = 0, retries = 0, events = 0, ...rest] = own === 0 ? [] : (own ?? [])
  const [assertions = 0, recorded] = rest
  return {
    timeoutSeconds: timeout === 0 ? null : timeout,
    retryDelays: delays === 0 ? null : delays,
    retriesEnabled: retries === 0 ? null : retries === 1,
    callbackEvents: events === 0 ? null : events === 1 ? 'terminal' : 'every_attempt',
    successAssertions: assertions === 0 ? null : decodeAssertions(assertions),
    ...decodeOwnRecorded(recorded),
  }
}

export function decodeFinished(text: string): FinishedRecord {
  const [
    code,
    attempts,
    url,
    method,
    callbackUrl,
    tags,
    replayedAs,
    headers,
    cron,
    own,
    hadNoPayload,
    bulkId = 0,
    bodyEncoding = 0,
    traceParent,
  ] = JSON.parse(text) as [
    string,
    AttemptTuple[],
    string,
    number?,
    (string | 0)?,
    (Record<string, string> | 0)?,
    number?,
    (Record<string, string> | 0 | 1)?,
    (EncodedMark | 0)?,
    (OwnSettings | 0)?,
    number?,
    number?,
    number?,
    unknown?,
  ]
  if (typeof url !== 'string') throw new Error('the summary of a chain is damaged')
  return {
    end: code === 's' ? 'success' : code === 'f' ? 'failed_no_retries' : 'dead_lettered',
    attempts: decodeAttempts(attempts),
    request: {
      url,
      method: METHODS[method ?? METHODS.indexOf('POST')] as Method,
      headers: headers === undefined || headers === 0 ? {} : headers === 1 ? null : headers,
      callbackUrl: callbackUrl === undefined || callbackUrl === 0 ? null : callbackUrl,
      tags: tags === undefined || tags === 0 ? {} : tags,
      ...decodeOwn(own),
      cron: decodeMark(cron),
      ...(bulkId === 0 ? {} : { bulkId }),
      ...decodeBodyEncoding(bodyEncoding),
      ...decodeTrace(traceParent),
    },
    replayedAs: replayedAs === undefined || replayedAs === 0 ? null : replayedAs,
    hadNoPayload: hadNoPayload === 1,
  }
}
