import { CALL_RECORD_BODY_BYTES_MAX } from '../../domain/limits.ts'
import type { CallRecord } from '../../domain/jobs/job.ts'
import type { EndedCall, HttpCallResult } from '../../ports/http-caller.ts'
import type { ClaimedJob } from '../../ports/jobs.ts'
import type { Judgement } from './call-judgement.ts'

/** The record to keep of a call. Bodies are cut at 16 KiB, between two characters. */
export function recordCall(work: ClaimedJob, result: EndedCall, judgement: Judgement): CallRecord {
  const payload = cut(Buffer.from(work.request.payload ?? ''), false)
  return {
    jobId: work.jobId,
    attempt: work.attempt,
    startedAtMs: work.startedAtMs,
    durationMs: Math.round(result.durationMs),
    request: {
      method: work.request.method,
      url: work.request.url,
      headers: result.requestHeaders,
      body: work.request.payload === null ? null : payload.text,
      bodyTruncated: payload.isCut,
    },
    response: result.kind === 'answered' ? recordResponse(result) : null,
    failureReason: judgement.failureReason,
    errorMessage: judgement.errorMessage,
    timings: { queueWaitMs: work.startedAtMs - work.scheduledAtMs, ...roundTimings(result.timings) },
  }
}

/** Rounds to tenths of a millisecond; the rest is noise. */
function roundTimings(timings: HttpCallResult['timings']): HttpCallResult['timings'] {
  const round = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
  return {
    dnsMs: round(timings.dnsMs),
    connectMs: round(timings.connectMs),
    tlsMs: round(timings.tlsMs),
    firstByteMs: round(timings.firstByteMs),
    bodyMs: round(timings.bodyMs),
  }
}

function recordResponse(result: Extract<HttpCallResult, { kind: 'answered' }>): CallRecord['response'] {
  const body = cut(result.body, result.bodyTruncated)
  return {
    status: result.status,
    headers: result.headers,
    body: body.text,
    bodyTruncated: body.isCut,
  }
}

/** @param goesOn whether the body was longer than these bytes */
function cut(bytes: Uint8Array, goesOn: boolean): { text: string; isCut: boolean } {
  if (bytes.length <= CALL_RECORD_BODY_BYTES_MAX && !goesOn) {
    return { text: Buffer.from(bytes).toString('utf8'), isCut: false }
  }
  // In streaming mode the decoder omits a character that is cut in two.
  const text = new TextDecoder().decode(bytes.subarray(0, CALL_RECORD_BODY_BYTES_MAX), { stream: true })
  return { text, isCut: true }
}
