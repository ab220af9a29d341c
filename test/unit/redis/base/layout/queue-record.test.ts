import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_FLOW, type FlowSettings } from '../../../../../src/domain/jobs/flow.ts'
import {
  decodeFlow,
  decodeFlowState,
  encodeFlow,
  throttleMark,
  throttleOf,
} from '../../../../../src/redis/base/layout/queue-record.ts'

const count = fc.integer({ min: 1, max: 86_400 })
const flow: fc.Arbitrary<FlowSettings> = fc.record({
  rateLimit: fc.option(fc.record({ limit: count, periodSeconds: count })),
  respectRetryAfter: fc.boolean(),
  circuitBreaker: fc.option(
    fc.record({ failurePercent: count, minCalls: count, windowSeconds: count, openSeconds: count }),
  ),
})

describe('the flow of a queue', () => {
  test('comes back as it was, and is nothing where nothing is set', () => {
    expect(encodeFlow(NO_FLOW)).toBe('')
    expect(decodeFlow('')).toEqual(NO_FLOW)
    fc.assert(
      fc.property(flow, (settings) => {
        expect(decodeFlow(encodeFlow(settings))).toEqual(settings)
      }),
    )
  })

  test.each(['10', '10|1000', 'a|b|c|d|e|f|g', '10|1000|||||x', '|1000|||||'])(
    'counts %j as not set',
    (text) => {
      expect(decodeFlow(text).rateLimit).toBe(null)
    },
  )

  test.each(['', '|', '1.5|0|0|0||0|0|0|0|0', '1|0|0|0|x|0|0|0|0|0', '1|0|0|0||0|0|0|0'])(
    'has no state in %j',
    (text) => expect(decodeFlowState(text)).toBe(null),
  )

  test('has a mark that is no job', () => {
    expect(throttleMark('7')).toBe('7|0')
  })
})

describe('what throttles a queue', () => {
  test.each([
    ['1', '5000000|0|0|0||0|0|0|0|0', null],
    ['0', '5000000|0|0|0||0|0|0|0|0', null],
    ['2', '5000200|0|0|0||0|0|0|0|0', { reason: 'rate_limited', untilMs: 5001 }],
    ['2', '5000000|7000|0|0||0|0|0|0|0', { reason: 'target_asks_to_wait', untilMs: 7000 }],
    ['2', '9000000|7000|8000|1||0|0|0|0|0', { reason: 'rate_limited', untilMs: 9000 }],
    ['2', '5000000|7000|8000|1||0|0|0|0|0', { reason: 'circuit_open', untilMs: 8000 }],
    ['1', '5000000|7000|8000|1||0|0|0|0|0', { reason: 'circuit_open', untilMs: 8000 }],
    ['1', '9000000|7000|0|0||0|0|0|0|0', { reason: 'rate_limited', untilMs: 9000 }],
    ['1', '5000000|3000|2000|1||0|0|0|0|0', null],
    ['0', '5000000|7000|8000|1||0|0|0|0|0', null],
    ['1', '5000000|0|0|1|w|0|0|0|0|0', null],
    ['2', '5000000|0|0|2|64|0|0|0|0|0', { reason: 'circuit_open', untilMs: null }],
    ['1', '5000000|0|0|2|64|0|0|0|0|0', { reason: 'circuit_open', untilMs: null }],
    ['2', '5000000|0|0|0|64|0|0|0|0|0', { reason: 'target_asks_to_wait', untilMs: null }],
    ['2', 'damaged', { reason: 'rate_limited', untilMs: 0 }],
  ])('of the active flag %s and the state %s at 6 s is %j', (active, state, throttle) => {
    expect(throttleOf(active, state, 6_000)).toEqual(throttle)
  })
})
