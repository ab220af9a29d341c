import { MASK, withoutSecretLines } from '../../domain/access/masking.ts'
import { repeatsInOtherForm } from '../../domain/secrets/repeated-secrets.ts'
import { secretTextsOf, withoutSecretTexts } from '../../domain/secrets/secret-headers.ts'
import { isFromSecret } from '../../domain/secrets/secret-values.ts'
import { CALL_RECORD_BODY_BYTES_MAX, CALL_RECORD_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import type { CallRecord } from '../../domain/jobs/job.ts'
import type { EndedCall, HttpCallResult } from '../../ports/http-caller.ts'
import type { ClaimedJob } from '../../ports/jobs.ts'
import type { Judgement } from './call-judgement.ts'

/**
 * The record to keep of a call. Bodies are cut at 16 KiB, between two characters. Values of secret headers are left out,
 * also where the target repeats them; a body that repeats one in another form is left out as a whole. Where responses are
 * not to be recorded, nothing is kept that the target has written.
 * @param masked names of the team's further secret headers, in lower case
 */
export function recordCall(
  work: ClaimedJob,
  result: EndedCall,
  { judgement, masked }: { readonly judgement: Judgement; readonly masked: ReadonlySet<string> },
): CallRecord {
  const given = Object.entries(work.request.headers)
  const fromSecrets = given.flatMap(([name, text]) => (isFromSecret(text) ? [name.toLowerCase()] : []))
  const hidden = fromSecrets.length === 0 ? masked : masked.union(new Set(fromSecrets))
  const secrets = secretTextsOf(result.requestHeaders, hidden)
  const payload = cut(Buffer.from(work.request.payload ?? ''), false)
  return {
    jobId: work.jobId,
    attempt: work.attempt,
    startedAtMs: work.startedAtMs,
    durationMs: Math.round(result.durationMs),
    request: {
      method: work.request.method,
      url: work.request.url,
      headers: withoutSecretLines(result.requestHeaders, hidden),
      body: work.request.payload === null ? null : payload.text,
      bodyTruncated: payload.isCut,
    },
    response: responseOf(result, work, { secrets, masked }),
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

interface Hidden {
  readonly secrets: readonly string[]
  readonly masked: ReadonlySet<string>
}

function responseOf(result: EndedCall, { settings }: ClaimedJob, hidden: Hidden): CallRecord['response'] {
  if (result.kind !== 'answered') return null
  // Another version may write another form of less.
  if (settings.recordResponses === 'all') return recordResponse(result, hidden)
  return { status: result.status, headers: [], body: '', bodyTruncated: false, isLeftOut: true }
}

function recordResponse(
  result: Extract<HttpCallResult, { kind: 'answered' }>,
  { secrets, masked }: Hidden,
): CallRecord['response'] {
  const body = cut(result.body, result.bodyTruncated)
  const headers = fittingHeaders(result.headers)
  // A secret may stand where the body was cut.
  const isCut = body.isCut || result.isBodyCutShort
  const scrubbed = (text: string, isCut = false) => {
    const rest = withoutSecretTexts(text, secrets, { mask: MASK, isCut })
    // Where it begins and ends cannot be told.
    return repeatsInOtherForm(rest, secrets) ? MASK : rest
  }
  return {
    status: result.status,
    headers: withoutSecretLines(headers, masked).map(([name, value]) => [name, scrubbed(value)] as const),
    body: scrubbed(body.text, isCut),
    bodyTruncated: body.isCut,
    ...(headers.length < result.headers.length && { headersTruncated: true }),
    ...(result.protocolNotes.length > 0 && { protocolNotes: result.protocolNotes }),
  }
}

/** What a header takes in a record beside its name and value. */
const HEADER_OVERHEAD_BYTES = 8

/** Leaves out the headers that do not fit into a record any more. */
function fittingHeaders(
  headers: ReadonlyArray<readonly [string, string]>,
): ReadonlyArray<readonly [string, string]> {
  let bytes = 0
  return headers.filter(([name, value]) => {
    const more = Buffer.byteLength(name) + Buffer.byteLength(value) + HEADER_OVERHEAD_BYTES
    if (bytes + more > CALL_RECORD_HEADER_BYTES_MAX) return false
    bytes += more
    return true
  })
}

/** @param goesOn whether the body was longer than these bytes */
function cut(bytes: Uint8Array, goesOn: boolean): { text: string; isCut: boolean } {
  if (bytes.length <= CALL_RECORD_BODY_BYTES_MAX && !goesOn) {
    return { text: Buffer.from(bytes).toString('utf8'), isCut: false }
  }
  // In streaming mode the decoder omits a character that is cut in two. A byte order mark is kept, as in a body that is whole.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    bytes.subarray(0, CALL_RECORD_BODY_BYTES_MAX),
    { stream: true },
  )
  return { text, isCut: true }
}
