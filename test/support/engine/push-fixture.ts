import type { ValidationProblem } from '../../../src/contract/fields/field-errors.ts'
import type { BodyResult } from '../../../src/contract/fields/json-body.ts'
import {
  type AcceptedPush,
  type PushContext,
  readPush,
} from '../../../src/contract/requests/pushes/push-request.ts'

export const NOW_MS = Date.UTC(2026, 10, 21, 10, 0, 0)
export const GOOD = { queue: 'emails', url: 'https://example.com/hook' }

export function read(body: unknown, change: Partial<PushContext> = {}): BodyResult<AcceptedPush> {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return readPush(bytes, {
    idempotencyKey: undefined,
    nowMs: NOW_MS,
    isBlocked: (url) => url.hostname === '127.0.0.1',
    headerSecrets: [],
    ...change,
  })
}

/** The value of a push that must be accepted. */
export function accepted(body: unknown, change: Partial<PushContext> = {}): AcceptedPush {
  const result = read(body, change)
  if (result.kind !== 'valid') throw new Error(`refused: ${JSON.stringify(result)}`)
  return result.value
}

/** The problem of a push that must be a 422. */
export function refused(body: unknown, change: Partial<PushContext> = {}): ValidationProblem {
  const result = read(body, change)
  if (result.kind !== 'invalid') throw new Error(`not a 422: ${JSON.stringify(result)}`)
  return result.problem
}
