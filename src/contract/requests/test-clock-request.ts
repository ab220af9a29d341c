import { TEST_CLOCK_ADVANCE_SECONDS_MAX, TEST_CLOCK_MS_MAX } from '../../domain/limits.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import { mustBeTimestamp, refusedBecause } from '../fields/validation-texts.ts'
import { parseTimestamp } from './run-at.ts'

const FIELDS: ReadonlySet<string> = new Set(['advance_seconds', 'advance_to'])
const TIME_CHARACTERS_MAX = 64
const ADVANCE_MS_MAX = TEST_CLOCK_ADVANCE_SECONDS_MAX * 1000

/** How the test clock is to be moved: by a span, or to a time. */
export type TestClockMove = { readonly byMs: number } | { readonly toMs: number }

/** Checks the body of `POST /api/test/clock`. Never throws. @param nowMs the time of the test clock */
export function readTestClockMove(body: RequestBody, nowMs: number): BodyResult<TestClockMove> {
  return readJsonBody(body, FIELDS, (fields): TestClockMove => {
    const seconds = fields.integer('advance_seconds', 1, TEST_CLOCK_ADVANCE_SECONDS_MAX)
    const text = fields.text('advance_to', TIME_CHARACTERS_MAX)
    const toMs = text === null ? null : (parseTimestamp(text) ?? fields.refuse('advance_to', mustBeTimestamp))
    if (toMs !== null && toMs < nowMs) {
      const now = new Date(nowMs).toISOString()
      fields.refuse('advance_to', (path) =>
        refusedBecause(path, `must not be before ${now}, the time of the test clock`),
      )
    }
    if (toMs !== null && toMs > nowMs + ADVANCE_MS_MAX) {
      const span = `${TEST_CLOCK_ADVANCE_SECONDS_MAX} seconds`
      fields.refuse('advance_to', (path) => refusedBecause(path, `must not be more than ${span} ahead`))
    }
    if (fields.errors.count > 0) return { byMs: 0 }
    if ((seconds === null) === (toMs === null)) {
      fields.refuse('advance_seconds', (path) =>
        refusedBecause(path, 'or advance_to must be given, and only one of them'),
      )
    }
    const byMs = (seconds ?? 0) * 1000
    if ((toMs ?? nowMs + byMs) > TEST_CLOCK_MS_MAX) {
      const latest = new Date(TEST_CLOCK_MS_MAX).toISOString()
      const field = toMs === null ? 'advance_seconds' : 'advance_to'
      fields.refuse(field, (path) => refusedBecause(path, `must not take the test clock beyond ${latest}`))
    }
    return toMs === null ? { byMs } : { toMs }
  })
}
