import type { RequestListener } from 'node:http'
import type { ValidationProblem } from '../../contract/fields/field-errors.ts'
import type { JsonItem } from '../../contract/fields/json-items.ts'
import { readBatch, readBatchItem } from '../../contract/pushes/batch-request.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { BATCH_BODY_BYTES_MAX, RETRY_AFTER_SECONDS } from '../../domain/limits.ts'
import type { PushResult } from '../../ports/jobs.ts'
import type { Clock } from '../../ports/runtime.ts'
import { answerError, answerFault, answerJson, answerProblem, OTHER_QUEUES_TEXT } from '../answers.ts'
import { createHotRoute, type PushExchange } from '../pushes/hot-route.ts'
import { pushRefusal, scheduledFields } from '../pushes/push-answers.ts'
import type { PushRouteParts } from './push.ts'

/** How long a batch is read and checked before others have a turn. */
const SLICE_MS = 5

/** What became of one push: its JSON, or why the store did not take it. */
type ItemEnd = { readonly text: string } | { readonly fault: unknown }

/** `POST /api/jobs/batch`. Each push is checked, counted and answered as if it came alone. */
export function createBatchRoute(parts: PushRouteParts): RequestListener {
  return createHotRoute(parts, BATCH_BODY_BYTES_MAX, async (body, exchange) => {
    const { response } = exchange
    const read = await finished(parts.clock, readBatch(body))
    if (read.kind === 'malformed') return answerError(response, 400, read.error)
    if (read.kind === 'invalid') return answerProblem(response, read.problem)
    const started = await finished(parts.clock, startPushes(parts, exchange, read.value))
    const ends = await Promise.all(started)
    const texts: string[] = []
    for (const end of ends) texts.push('text' in end ? end.text : faultText(end.fault, parts))
    const [first] = ends
    // Nothing was stored: the whole batch may be sent again.
    if (first !== undefined && 'fault' in first && ends.every((end) => 'fault' in end)) {
      return answerFault(exchange.request, response, first.fault, parts.logger)
    }
    answerJson(response, 200, `{"results":[${texts.join(',')}]}`)
  })
}

/** Runs `work` to its end, with a turn for others whenever it has taken SLICE_MS. */
async function finished<T>(clock: Clock, work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const startedMs = clock.monotonicMs()
    while (clock.monotonicMs() - startedMs < SLICE_MS) {
      const step = work.next()
      if (step.done === true) return step.value
    }
    await new Promise<void>((resolve) => clock.nextTurn(resolve))
  }
}

/** Pushes each as soon as it has been checked, so that the store works while the others are. */
function* startPushes(
  parts: PushRouteParts,
  { team, principal }: PushExchange,
  items: readonly JsonItem[],
): Generator<undefined, ReadonlyArray<Promise<ItemEnd>>> {
  const { clock, egress, intake } = parts
  const settings = parts.teamSettings.of(team)
  const nowMs = clock.wallMs()
  const context = { nowMs, isBlocked: (url: URL) => egress.refusalOf(url, settings) !== null }
  const ends: Array<Promise<ItemEnd>> = []
  for (const [index, item] of items.entries()) {
    const read = readBatchItem(item, index, context)
    if (read.kind === 'invalid') ends.push(Promise.resolve({ text: refusedText(422, read.problem) }))
    else if (!mayUseQueue(principal, read.value.queue)) ends.push(Promise.resolve(NOT_ITS_QUEUE))
    else {
      const now = () => ({ quotas: parts.quotasOf(team), nowMs: clock.wallMs() })
      ends.push(
        intake.push({ ...read.value, team }).then(
          (result) => ({ text: resultText(result, now) }),
          (fault: unknown) => ({ fault }),
        ),
      )
    }
    yield
  }
  return ends
}

function resultText(result: PushResult, now: () => Parameters<typeof pushRefusal>[1]): string {
  if ('jobId' in result) return `{"status":201,${scheduledFields(result)}}`
  const refusal = pushRefusal(result, now())
  if (refusal === null) return ''
  if (refusal.status === 422) return refusedText(422, refusal.problem)
  const seconds = 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : undefined
  return refusedText(refusal.status, { message: refusal.error, errors: {} }, seconds)
}

function faultText(fault: unknown, { logger }: PushRouteParts): string {
  const isFull = fault instanceof StorageFullError
  if (!isFull && !(fault instanceof StoreUnavailableError)) logger.error('a push failed', { fault })
  const message = isFull ? 'The job store is full' : 'The job store is unavailable, try again'
  return refusedText(503, { message, errors: {} }, RETRY_AFTER_SECONDS)
}

function refusedText(status: number, { message, errors }: ValidationProblem, retryAfter?: number): string {
  return JSON.stringify({ status, message, errors, retry_after: retryAfter })
}

const NOT_ITS_QUEUE = { text: refusedText(403, { message: OTHER_QUEUES_TEXT, errors: {} }) }
