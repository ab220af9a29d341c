import { BATCH_JOBS_MAX, REQUEST_BODY_BYTES_MAX } from '../../domain/limits.ts'
import { singleProblem } from '../fields/field-errors.ts'
import {
  type BodyResult,
  type ItemResult,
  malformedText,
  readJsonItem,
  refusedEarly,
  textOf,
} from '../fields/json-body.ts'
import { type JsonItem, type JsonItemsScan, scanJsonItems } from '../fields/json-items.ts'
import {
  mustBeArray,
  mustHaveItemsBetween,
  mustNotBeMoreBytes,
  mustNotRepeat,
  required,
  unknownField,
} from '../fields/validation-texts.ts'
import { readKeyField } from '../requests/idempotency-key.ts'
import { type AcceptedPush, PUSH_FIELDS, type PushContext, readPushFields } from '../requests/push-request.ts'

const FIELD = 'jobs'
const ITEM_FIELDS: ReadonlySet<string> = new Set([...PUSH_FIELDS, 'idempotency_key'])

/**
 * Finds the pushes in the body of `POST /api/jobs/batch`, and refuses the body as a whole when it has another shape. Yields
 * now and then, so that the caller can let others go on. Never throws.
 */
export function* readBatch(body: Buffer): Generator<undefined, BodyResult<readonly JsonItem[]>> {
  const text = textOf(body)
  if (typeof text !== 'string') return text
  yield
  const scan = yield* scanJsonItems(text, FIELD, {
    items: BATCH_JOBS_MAX,
    characters: REQUEST_BODY_BYTES_MAX,
    isEnough: () => refusedEarly(ITEM_FIELDS),
  })
  if (scan.kind === 'malformed' || scan.kind === 'other') {
    return { kind: 'malformed', error: malformedText(text, scan) }
  }
  if (scan.kind !== 'items') return { kind: 'invalid', problem: problemOf(scan) }
  const { items } = scan
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

/** Checks one push of a batch. Never throws. */
export function readBatchItem(
  item: JsonItem,
  index: number,
  context: Omit<PushContext, 'idempotencyKey'>,
): ItemResult<AcceptedPush> {
  return readJsonItem(item, `${FIELD}.${index}`, {
    known: ITEM_FIELDS,
    read: (fields) => readPushFields(fields, context, () => readKeyField(fields)),
  })
}
