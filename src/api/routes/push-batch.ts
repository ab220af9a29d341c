import type { RequestListener } from 'node:http'
import type { ValidationProblem } from '../../contract/fields/field-errors.ts'
import { type BatchItem, readBatch } from '../../contract/pushes/batch-request.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import type { SlicedWork } from '../../domain/shares/cost-gate.ts'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { deepened, traced } from '../../domain/jobs/job-copy.ts'
import { traceFields } from '../../domain/net/trace-context.ts'
import { BATCH_BODY_BYTES_MAX, RETRY_AFTER_SECONDS } from '../../domain/limits.ts'
import type { JobIntake, NewJob, PushEnd } from '../../ports/jobs.ts'
import { answerError, answerFault, answerJson, answerProblem, OTHER_QUEUES_TEXT } from '../answers.ts'
import { notedTrace } from '../measuring/request-trace.ts'
import { bodyInTurns, inTurnsToTheEnd } from '../bounds/costly-work.ts'
import { callDepthOf } from '../pushes/call-depth.ts'
import { createHotRoute, type PushExchange } from '../pushes/hot-route.ts'
import { beginSend, endSend, type TracedSend } from '../pushes/push-trace.ts'
import { pushRefusal, type QuotasNow, scheduledFields } from '../pushes/push-answers.ts'
import type { PushRouteParts } from './push.ts'

/** Characters of payloads and headers that are pushed in one go; a single job may have more. */
const PIECE_CHARACTERS = 512 * 1024

/** `POST /api/jobs/batch`. Each push is checked, counted and answered as if it came alone. */
export function createBatchRoute(parts: PushRouteParts): RequestListener {
  const { clock, egress, intake, teamSettings } = parts
  return createHotRoute(parts, BATCH_BODY_BYTES_MAX, async (body, exchange) => {
    const { request, response, team } = exchange
    const settings = teamSettings.of(team)
    const isBlocked = (url: URL): boolean => egress.refusalOf(url, settings) !== null
    const { headerSecrets } = settings
    const context = { nowMs: clock.wallMs(), isBlocked, headerSecrets }
    const read = await bodyInTurns(exchange, readBatch(body, context))
    if (read === null) return
    if (read.kind === 'malformed') return answerError(response, 400, read.error)
    if (read.kind === 'invalid') return answerProblem(response, read.problem)
    const sorted = await bodyInTurns(exchange, sortOut(read.value, exchange))
    if (sorted === null) return
    const { texts, jobs, sends } = sorted
    const started = await inTurnsToTheEnd(exchange, startPushes(intake, jobs))
    const ends = (await Promise.all(started)).flat()
    sends.forEach((send, i) => endSend(send, ends[i] ?? NO_ANSWER))
    const [first] = ends
    // Nothing was stored: the whole batch may be sent again.
    if (first?.status === 'failed' && ends.length === texts.length && ends.every(hasFailed)) {
      return answerFault(request, response, first.fault, parts.logger)
    }
    const now = { quotas: parts.quotasOf(team), nowMs: clock.wallMs() }
    const answer = await bodyInTurns(
      exchange,
      writeResults(texts, ends, (end) => endText(end, now, { logger: parts.logger, response })),
    )
    if (answer !== null) answerJson(response, 200, answer)
  })
}

/** @param texts null = that of the next end */
function* writeResults(
  texts: ReadonlyArray<string | null>,
  ends: readonly PushEnd[],
  textOf: (end: PushEnd) => string,
): SlicedWork<string> {
  let next = 0
  const results: string[] = []
  for (const text of texts) {
    results.push(text ?? textOf(ends[next++] ?? NO_ANSWER))
    yield
  }
  return `{"results":[${results.join(',')}]}`
}

/** Starts the pushes piece by piece: the store's intake copies what it takes. */
function* startPushes(
  intake: JobIntake,
  jobs: readonly NewJob[],
): SlicedWork<ReadonlyArray<Promise<readonly PushEnd[]>>> {
  const started: Array<Promise<readonly PushEnd[]>> = []
  let [first, characters] = [0, 0]
  for (const [index, { request }] of jobs.entries()) {
    characters += charactersOf(request)
    if (characters < PIECE_CHARACTERS && index < jobs.length - 1) continue
    started.push(pushPiece(intake, jobs.slice(first, index + 1)))
    ;[first, characters] = [index + 1, 0]
    yield
  }
  return started
}

function charactersOf({ payload, headers }: NewJob['request']): number {
  let characters = payload?.length ?? 0
  for (const [name, value] of Object.entries(headers)) characters += name.length + value.length
  return characters
}

/** One end for each job, whatever the intake answers: a missing one must not give a job another's id. */
async function pushPiece(intake: JobIntake, jobs: readonly NewJob[]): Promise<readonly PushEnd[]> {
  const ends = await intake.pushAll(jobs)
  return jobs.map((_, i) => ends[i] ?? NO_ANSWER)
}

function hasFailed({ status }: PushEnd): boolean {
  return status === 'failed'
}

interface SortedPushes {
  readonly texts: ReadonlyArray<string | null>
  readonly jobs: readonly NewJob[]
  /** What is traced of each of them. */
  readonly sends: readonly TracedSend[]
}

/** The jobs to be stored, and in their places null between the answers to the others. */
function* sortOut(
  items: readonly BatchItem[],
  { team, principal, request: sent, trace }: PushExchange,
): SlicedWork<SortedPushes> {
  const jobs: NewJob[] = []
  const sends: TracedSend[] = []
  const callDepth = callDepthOf(sent)
  const texts: Array<string | null> = []
  for (const item of items) {
    if (item.kind === 'invalid') texts.push(refusedText(422, item.problem))
    else if (!mayUseQueue(principal, item.value.queue)) texts.push(NOT_ITS_QUEUE)
    else {
      const { queue, request, start, idempotency } = item.value
      const send = beginSend(trace, queue)
      const made = traced(deepened(request, callDepth), send.context)
      jobs.push({ team, queue, request: made, start, idempotency })
      sends.push(send)
      texts.push(null)
    }
    yield
  }
  return { texts, jobs, sends }
}

function endText(end: PushEnd, now: QuotasNow, told: FaultReport): string {
  if ('jobId' in end) return `{"status":201,${scheduledFields(end)}}`
  if (end.status === 'failed') return faultText(end.fault, told)
  const refusal = pushRefusal(end, now)
  if (refusal === null) return ''
  if (refusal.status === 422) return refusedText(422, refusal.problem)
  const seconds = 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : undefined
  return refusedText(refusal.status, { message: refusal.error, errors: {} }, seconds)
}

/** Where a fault is logged, and the response whose trace it belongs to. */
type FaultReport = Pick<PushRouteParts, 'logger'> & Pick<PushExchange, 'response'>

function faultText(fault: unknown, { logger, response }: FaultReport): string {
  const isFull = fault instanceof StorageFullError
  if (!isFull && !(fault instanceof StoreUnavailableError)) {
    logger.error('a push failed', { fault, ...traceFields(notedTrace(response)) })
  }
  const message = isFull ? 'The job store is full' : 'The job store is unavailable, try again'
  return refusedText(503, { message, errors: {} }, RETRY_AFTER_SECONDS)
}

function refusedText(status: number, { message, errors }: ValidationProblem, retryAfter?: number): string {
  return JSON.stringify({ status, message, errors, retry_after: retryAfter })
}

const NO_ANSWER: PushEnd = { status: 'failed', fault: new Error('the intake has lost a push') }
const NOT_ITS_QUEUE = refusedText(403, { message: OTHER_QUEUES_TEXT, errors: {} })
