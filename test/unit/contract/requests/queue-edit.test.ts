import { describe, expect, test } from 'vitest'
import { readQueueEdit } from '../../../../src/contract/requests/queue-edit.ts'
import { toEditedQueue, toWireQueue } from '../../../../src/contract/responses/queue-wire.ts'
import type { Throttle } from '../../../../src/domain/jobs/flow.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'

const COUNTS = { pending: 1, delayed: 2, processing: 3, dead: 4 }

const read = (body: unknown) => readQueueEdit(Buffer.from(JSON.stringify(body)))

function assertion(value: unknown) {
  return { success_assertions: [value] }
}

describe('every mistake has its field and text', () => {
  test.each<[unknown, string, string]>([
    [{ name: 'x' }, 'name', 'The name field cannot be changed.'],
    [{ is_active: 1 }, 'is_active', 'The is active field must be true or false.'],
    [{ timeout_seconds: 1.5 }, 'timeout_seconds', 'The timeout seconds field must be an integer.'],
    [{ timeout_seconds: 301 }, 'timeout_seconds', 'The timeout seconds field must be between 1 and 300.'],
    [{ retries_enabled: 'yes' }, 'retries_enabled', 'The retries enabled field must be true or false.'],
    [{ retry_delays: [] }, 'retry_delays', 'The retry delays field must have between 1 and 10 items.'],
    [{ retry_delays: [86401] }, 'retry_delays.0', 'The retry_delays.0 field must be between 1 and 86400.'],
    [{ alerts_enabled: 0 }, 'alerts_enabled', 'The alerts enabled field must be true or false.'],
    [{ max_parallelism: 0 }, 'max_parallelism', 'The max parallelism field must be between 1 and 1000000.'],
    [{ max_parallelism: '4' }, 'max_parallelism', 'The max parallelism field must be an integer.'],
    [{ dlq_retention_days: 5 }, 'dlq_retention_days', 'The selected dlq retention days is invalid.'],
    [{ dlq_retention_days: '7' }, 'dlq_retention_days', 'The selected dlq retention days is invalid.'],
    [{ record_responses: 'None' }, 'record_responses', 'The selected record responses is invalid.'],
    [{ callback_events: 'x' }, 'callback_events', 'The selected callback events is invalid.'],
    [
      { strict_parallelism: 'x' },
      'strict_parallelism',
      'The strict parallelism field must be true or false.',
    ],
    [{ no_retry_statuses: 410 }, 'no_retry_statuses', 'The no retry statuses field must be an array.'],
    [
      { no_retry_statuses: Array.from({ length: 21 }, (_, i) => 400 + i) },
      'no_retry_statuses',
      'The no retry statuses field must not have more than 20 items.',
    ],
    [
      { no_retry_statuses: [410, 399] },
      'no_retry_statuses.1',
      'The no_retry_statuses.1 field must be between 400 and 599.',
    ],
    [
      { no_retry_statuses: [600] },
      'no_retry_statuses.0',
      'The no_retry_statuses.0 field must be between 400 and 599.',
    ],
    [
      { no_retry_statuses: [410, 404, 410] },
      'no_retry_statuses.2',
      'The no_retry_statuses.2 field has a duplicate value.',
    ],
    [
      { no_retry_statuses: [null] },
      'no_retry_statuses.0',
      'The no_retry_statuses.0 field must be an integer.',
    ],
    [
      { retry_jitter_percent: 101 },
      'retry_jitter_percent',
      'The retry jitter percent field must be between 0 and 100.',
    ],
    [
      { respect_retry_after: 1 },
      'respect_retry_after',
      'The respect retry after field must be true or false.',
    ],
    [{ rate_limit: '10/s' }, 'rate_limit', 'The rate limit field must be an object.'],
    [{ rate_limit: [] }, 'rate_limit', 'The rate limit field must be an object.'],
    [{ rate_limit: { period_seconds: 1 } }, 'rate_limit.limit', 'The rate_limit.limit field is required.'],
    [
      { rate_limit: { limit: 1, period_seconds: null } },
      'rate_limit.period_seconds',
      'The rate_limit.period_seconds field is required.',
    ],
    [
      { rate_limit: { limit: 1_000_001, period_seconds: 1 } },
      'rate_limit.limit',
      'The rate_limit.limit field must be between 1 and 1000000.',
    ],
    [
      { rate_limit: { limit: 1, period_seconds: 86_401 } },
      'rate_limit.period_seconds',
      'The rate_limit.period_seconds field must be between 1 and 86400.',
    ],
    [
      { rate_limit: { limit: '1', period_seconds: 1 } },
      'rate_limit.limit',
      'The rate_limit.limit field must be an integer.',
    ],
    [
      { rate_limit: { limit: 1, period_seconds: 1, burst: 5 } },
      'rate_limit.burst',
      'The rate_limit.burst field is unknown.',
    ],
    [{ circuit_breaker: true }, 'circuit_breaker', 'The circuit breaker field must be an object.'],
    [
      { circuit_breaker: { failure_percent: 101 } },
      'circuit_breaker.failure_percent',
      'The circuit_breaker.failure_percent field must be between 1 and 100.',
    ],
    [
      { circuit_breaker: { min_calls: 10_001 } },
      'circuit_breaker.min_calls',
      'The circuit_breaker.min_calls field must be between 1 and 10000.',
    ],
    [
      { circuit_breaker: { window_seconds: 3601 } },
      'circuit_breaker.window_seconds',
      'The circuit_breaker.window_seconds field must be between 1 and 3600.',
    ],
    [
      { circuit_breaker: { open_seconds: 901 } },
      'circuit_breaker.open_seconds',
      'The circuit_breaker.open_seconds field must be between 1 and 900.',
    ],
    [
      { circuit_breaker: { percent: 50 } },
      'circuit_breaker.percent',
      'The circuit_breaker.percent field is unknown.',
    ],
    [{ throttled: null }, 'throttled', 'The throttled field is unknown.'],
    [{ counts: {} }, 'counts', 'The counts field is unknown.'],
    [{ success_assertions: {} }, 'success_assertions', 'The success assertions field must be an array.'],
    [
      { success_assertions: Array(11).fill({ type: 'body_contains', value: 'x' }) },
      'success_assertions',
      'The success assertions field must not have more than 10 items.',
    ],
    [assertion(5), 'success_assertions.0', 'The success_assertions.0 field must be an object.'],
    [
      assertion({ value: 1 }),
      'success_assertions.0.type',
      'The success_assertions.0.type field is required.',
    ],
    [
      assertion({ type: 'regex', value: 'x' }),
      'success_assertions.0.type',
      'The selected success_assertions.0.type is invalid.',
    ],
    [
      assertion({ type: 'status_code_equals' }),
      'success_assertions.0.value',
      'The success_assertions.0.value field is required.',
    ],
    [
      assertion({ type: 'status_code_equals', value: '2xx' }),
      'success_assertions.0.value',
      'The success_assertions.0.value field must be an integer.',
    ],
    [
      assertion({ type: 'status_code_equals', value: 600 }),
      'success_assertions.0.value',
      'The success_assertions.0.value field must be between 100 and 599.',
    ],
    [
      assertion({ type: 'response_time_under_ms', value: 0 }),
      'success_assertions.0.value',
      'The success_assertions.0.value field must be between 1 and 300000.',
    ],
    [
      assertion({ type: 'body_contains', value: '' }),
      'success_assertions.0.value',
      'The success_assertions.0.value field is required.',
    ],
    [
      assertion({ type: 'body_contains', value: 200 }),
      'success_assertions.0.value',
      'The success_assertions.0.value field must be a string.',
    ],
    [
      assertion({ type: 'body_contains', value: 'x'.repeat(4097) }),
      'success_assertions.0.value',
      'The success_assertions.0.value field must not be greater than 4096 characters.',
    ],
    [
      assertion({ type: 'body_contains', value: 'x', flags: 'i' }),
      'success_assertions.0.flags',
      'The success_assertions.0.flags field is unknown.',
    ],
  ])('%j', (body, field, text) => {
    expect(read(body)).toEqual({
      kind: 'invalid',
      problem: { message: text, errors: { [field]: [text] } },
    })
  })

  test('the unknown fields of an assertion are shortened and bounded as those of the body', () => {
    const names = Array.from({ length: 21 }, (_, i) => `${'y'.repeat(10_000)}${i}`)
    const flags = Object.fromEntries(names.map((name) => [name, 1]))
    const short = read(assertion({ type: 'body_contains', value: 'x', ...flags }))
    expect(JSON.stringify(short).length).toBeLessThan(10_000)
    const many = Object.fromEntries(names.map((_, i) => [`flag${i}`, 1]))
    const { problem } = read(assertion({ type: 'body_contains', value: 'x', ...many })) as never
    const { errors } = problem as { errors: Record<string, string[]> }
    expect(Object.keys(errors)).toHaveLength(20)
    expect(errors['success_assertions.0.flag19']?.[1]).toBe('There are more unknown fields than these 20.')
  })
})

describe('what is accepted', () => {
  test('only what is given changes; null is absent, but for what it ends', () => {
    expect(read({})).toEqual({ kind: 'valid', value: {} })
    expect(read({ is_active: null, retry_delays: null, success_assertions: null, name: null })).toEqual({
      kind: 'valid',
      value: {},
    })
    const absent = { no_retry_statuses: null, retry_jitter_percent: null, respect_retry_after: null }
    expect(read(absent)).toEqual({ kind: 'valid', value: {} })
    expect(read({ max_parallelism: null, rate_limit: null, circuit_breaker: null })).toEqual({
      kind: 'valid',
      value: { maxParallelism: null, rateLimit: null, circuitBreaker: null },
    })
  })

  test('what a circuit breaker leaves out has its default', () => {
    const defaults = { failurePercent: 50, minCalls: 10, windowSeconds: 60, openSeconds: 30 }
    expect(read({ circuit_breaker: {} })).toEqual({ kind: 'valid', value: { circuitBreaker: defaults } })
    expect(read({ circuit_breaker: { min_calls: 3, open_seconds: null } })).toEqual({
      kind: 'valid',
      value: { circuitBreaker: { ...defaults, minCalls: 3 } },
    })
  })

  test('a throttle is shown until when it lasts, if that is known', () => {
    const queue = { queueId: 3, name: 'q', settings: DEFAULT_QUEUE_SETTINGS, counts: COUNTS }
    const throttled = (throttle: Throttle | null) => toWireQueue({ ...queue, throttle }).throttled
    expect(throttled(null)).toBeNull()
    expect(throttled({ reason: 'rate_limited', untilMs: Date.UTC(2026, 10, 21) })).toEqual({
      reason: 'rate_limited',
      until: '2026-11-21T00:00:00.000+00:00',
    })
    expect(throttled({ reason: 'circuit_open', untilMs: null })).toEqual({
      reason: 'circuit_open',
      until: null,
    })
  })

  test('every field, numbers of assertions as strings too', () => {
    const body = {
      is_active: false,
      is_draining: true,
      timeout_seconds: 5,
      retries_enabled: false,
      retry_delays: [1],
      no_retry_statuses: [410, 404],
      retry_jitter_percent: 20,
      success_assertions: [
        { type: 'status_code_equals', value: '204' },
        { type: 'status_code_equals', value: 404 },
        { type: 'body_contains', value: '200' },
        { type: 'response_time_under_ms', value: '5000' },
      ],
      alerts_enabled: true,
      max_parallelism: 4,
      rate_limit: { limit: 10, period_seconds: 2 },
      respect_retry_after: true,
      circuit_breaker: { failure_percent: 1, min_calls: 2, window_seconds: 3, open_seconds: 4 },
      dlq_retention_days: 30,
      callback_events: 'every_attempt',
      record_responses: 'none',
      strict_parallelism: true,
    }
    const result = read(body)
    if (result.kind !== 'valid') throw new Error(JSON.stringify(result))
    const queue = {
      queueId: 3,
      name: 'q',
      settings: { ...DEFAULT_QUEUE_SETTINGS, ...result.value },
      counts: COUNTS,
      throttle: null,
    }
    const shown = {
      ...body,
      queue_id: 3,
      name: 'q',
      throttled: null,
      counts: queue.counts,
      managed_by: null,
      success_assertions: [
        { type: 'status_code_equals', value: 204 },
        { type: 'status_code_equals', value: 404 },
        { type: 'body_contains', value: '200' },
        { type: 'response_time_under_ms', value: 5000 },
      ],
    }
    expect(toWireQueue(queue)).toEqual(shown)
    expect(toEditedQueue(queue)).toEqual({
      ...shown,
      warnings: ['success_assertions.1: only a 2xx response is a success, so status 404 can never pass.'],
    })
  })
})
