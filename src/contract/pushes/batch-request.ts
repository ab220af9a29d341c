import { BATCH_JOBS_MAX, REQUEST_BODY_BYTES_MAX } from '../../domain/limits.ts'
import { singleProblem } from '../fields/field-errors.ts'
import {
  type BodyResult,
  type ItemResult,
  malformedText,
  malformedUtf8Text,
  readJsonItem,
  refusedEarly,
} from '../fields/json-body.ts'
import { type JsonItem, type JsonItemsScan, scanJsonItems, piecesOfItems } from '../fields/json-items.ts'
import {
  mustBeArray,
  mustHaveItemsBetween,
  mustNotBeMoreBytes,
  mustNotRepeat,
  required,
  unknownField,
} from '../fields/validation-texts.ts'
import { readKeyField } from '../fields/idempotency-key.ts'
import {
  type AcceptedPush,
  PUSH_FIELDS,
  type PushContext,
  readPushFields,
} from '../requests/pushes/push-request.ts'

const FIELD = 'jobs'
const ITEM_FIELDS: ReadonlySet<string> = new Set([...PUSH_FIELDS, 'idempotency_key'])

export type BatchItem = ItemResult<AcceptedPush>

type BatchContext = Omit<PushContext, 'idempotencyKey' | 'acceptedUrls'>

/**
 * Checks the pushes in the body of `POST /api/jobs/batch`, each by itself, and refuses the body as a whole when it has
 * another shape. Yields now and then, so that the caller can let others go on. Never throws.
 */
export function* readBatch(
  body: Buffer,
  context: BatchContext,
): Generator<undefined, BodyResult<readonly BatchItem[]>> {
  const items: BatchItem[] = []
  const itemContext = { ...context, acceptedUrls: new Set<string>() }
  const pieces = piecesOfItems(body, REQUEST_BODY_BYTES_MAX)
  const work = scanJsonItems(pieces, FIELD, {
    items: BATCH_JOBS_MAX,
    bytes: REQUEST_BODY_BYTES_MAX,
    isEnough: () => refusedEarly(ITEM_FIELDS),
  })
  let step = work.next()
  while (step.done !== true) {
    if (step.value !== undefined) items.push(readItem(step.value, items.length, itemContext))
    yield
    step = work.next()
  }
  const badUtf8At = yield* pieces.malformedUtf8()
  if (badUtf8At !== null) return { kind: 'malformed', error: malformedUtf8Text(badUtf8At) }
  const scan = step.value
  if (scan.kind === 'malformed' || scan.kind === 'other') {
    const where = yield* pieces.describe(scan.position)
    return { kind: 'malformed', error: malformedText(scan.kind, where, scan.position === pieces.text.length) }
  }
  if (scan.kind !== 'items') return { kind: 'invalid', problem: problemOf(scan) }
  return items.length === 0
    ? { kind: 'invalid', problem: singleProblem(FIELD, mustHaveItemsBetween(FIELD, 1, BATCH_JOBS_MAX)) }
    : { kind: 'valid', value: items }
}

type Refused = Exclude<JsonItemsScan, { kind: 'items' | 'malformed' | 'other' }>

function problemOf(scan: Refused) {
  switch (scan.kind) {
    case 'absent':
      return singleProblem(FIELD, required(FIELD))
    case 'no_array':
      return singleProblem(FIELD, mustBeArray(FIELD))
    case 'too_many':
      return singleProblem(FIELD, mustHaveItemsBetween(FIELD, 1, BATCH_JOBS_MAX))
    case 'too_long': {
      const path = `${FIELD}.${scan.index}`
      return singleProblem(path, mustNotBeMoreBytes(path, REQUEST_BODY_BYTES_MAX))
    }
    case 'unexpected': {
      const name = scan.name.slice(0, 100).toWellFormed()
      return singleProblem(name, name === FIELD ? mustNotRepeat(name) : unknownField(name))
    }
  }
}

function readItem(item: JsonItem, index: number, context: Omit<PushContext, 'idempotencyKey'>): BatchItem {
  return readJsonItem(item, `${FIELD}.${index}`, {
    known: ITEM_FIELDS,
    read: (fields) => readPushFields(fields, context, () => readKeyField(fields)),
  })
}
