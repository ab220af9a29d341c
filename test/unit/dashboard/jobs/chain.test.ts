import { describe, expect, test } from 'vitest'
import type { Call, Me, Waiting } from '../../../../clients/typescript/src/client.ts'
import { actionsOf } from '../../../../dashboard/src/features/jobs/chain/actions.ts'
import { bodyNote } from '../../../../dashboard/src/features/jobs/chain/exchange/body-note.ts'
import { phasesOf } from '../../../../dashboard/src/features/jobs/chain/timeline/phases.ts'
import { plannedOf, spanOf } from '../../../../dashboard/src/features/jobs/chain/timeline/plan.ts'
import {
  attemptText,
  retriesText,
  waitingText,
} from '../../../../dashboard/src/features/jobs/chain/waiting-text.ts'
import { attemptOf, iso, jobOf, NOW, SETTINGS } from './chains.ts'

const ALL: Me['may'] = {
  push: true,
  read: true,
  payloads: true,
  operate: true,
  purge: true,
  edit: true,
  admin: true,
}
const FAILED = attemptOf({
  status: 'failed',
  started_at: iso(0.1),
  completed_at: iso(0.3),
  duration_ms: 200,
  failure_reason: 'http_server_error',
  final_status: 'retrying',
  has_pending_retry: true,
})
const RETRY = attemptOf({ job_id: 11, attempt_number: 2, is_retry: true, scheduled_at: iso(60) })

describe('phases', () => {
  const timings = {
    queue_wait_ms: 0,
    dns_ms: 3,
    connect_ms: 4,
    tls_ms: null,
    first_byte_ms: 90,
    body_ms: 0.2,
  }
  const call = { timings, duration_ms: 97.2 } as Call

  test('of a call are its parts that took time, after the wait', () => {
    const names = phasesOf(FAILED, call, NOW).map(({ kind, ms }) => [kind, ms])
    expect(names).toEqual([
      ['wait', 100],
      ['dns', 3],
      ['connect', 4],
      ['first-byte', 90],
    ])
  })

  test('have a last part for what never ended', () => {
    const cut = { ...call, duration_ms: 10_000 }
    expect(phasesOf(FAILED, cut, NOW).at(-1)).toMatchObject({ name: 'Until it failed', kind: 'call' })
  })

  test('without a record are the wait and the call', () => {
    expect(phasesOf(FAILED, null, NOW).map(({ name }) => name)).toEqual(['Waited for its start', 'Call'])
  })

  test('grow while it waits and while it is in flight, and are none before it is due', () => {
    expect(phasesOf(attemptOf(), null, NOW + 500)).toEqual([{ name: 'Waits', kind: 'wait', ms: 500 }])
    expect(phasesOf(RETRY, null, NOW)).toEqual([])
    const flying = attemptOf({ status: 'processing', started_at: iso(1) })
    expect(phasesOf(flying, null, NOW + 3_000).at(-1)).toMatchObject({ name: 'In flight', ms: 2_000 })
  })
})

describe('retries to come', () => {
  test('follow the open attempt, each after the failure before it', () => {
    const planned = plannedOf(jobOf([FAILED, RETRY]), NOW)
    expect(planned).toEqual([{ attempt: 3, delayMs: 600_000, earliestMs: NOW + 660_000 }])
    expect(plannedOf(jobOf([attemptOf()]), NOW).map(({ attempt }) => attempt)).toEqual([2, 3])
  })

  test('are none when the chain has ended, when they are off, and after the last', () => {
    expect(plannedOf(jobOf([FAILED]), NOW)).toEqual([])
    expect(plannedOf(jobOf([attemptOf()], { settings: null }), NOW)).toEqual([])
    const off = { ...SETTINGS, retries_enabled: false }
    expect(plannedOf(jobOf([attemptOf()], { settings: off }), NOW)).toEqual([])
    expect(plannedOf(jobOf([attemptOf({ attempt_number: 3 })]), NOW)).toEqual([])
  })

  test('are on one axis with the attempts, none of them beside it', () => {
    const span = spanOf(jobOf([FAILED, RETRY]), NOW + 30_000)
    expect(span?.marks.map(({ attempt, kind }) => [attempt, kind])).toEqual([
      [1, 'wait'],
      [1, 'call'],
      [2, 'planned'],
      [3, 'planned'],
    ])
    for (const { from, width } of span?.marks ?? []) {
      expect(from).toBeGreaterThanOrEqual(0)
      expect(from + width).toBeLessThanOrEqual(1)
    }
    expect(span?.now).toBeCloseTo(30 / 660, 5)
    expect(spanOf(jobOf([FAILED]), NOW)).toBe(null)
  })
})

describe('what can be done', () => {
  const names = (...given: Parameters<typeof actionsOf>) =>
    actionsOf(...given).map(({ name, refusal }) => (refusal === null ? name : `${name}: ${refusal}`))
  const dead = jobOf([{ ...FAILED, final_status: 'dead_lettered' }])

  test('depends on the state', () => {
    expect(names(jobOf([FAILED, RETRY]), ALL, NOW)).toEqual(['fire', 'duplicate', 'cancel'])
    expect(names(jobOf([attemptOf()]), ALL, NOW)[0]).toMatch(/^fire: It is already due/)
    const flying = jobOf([attemptOf({ status: 'processing' })])
    expect(names(flying, ALL, NOW)).toEqual([
      'fire: The job is in flight.',
      'duplicate',
      'cancel: The job is in flight.',
    ])
    expect(names(dead, ALL, NOW)).toEqual(['replay', 'edit', 'duplicate', 'purge'])
    const failed = jobOf([{ ...FAILED, final_status: 'failed_no_retries' }])
    expect(names(failed, ALL, NOW)).toEqual(['retry', 'duplicate', 'delete'])
    const done = jobOf([attemptOf({ status: 'completed', final_status: 'success' })])
    expect(names(done, ALL, NOW)[0]).toMatch(/^retry: The job has succeeded/)
  })

  test('is done once', () => {
    const replayed = jobOf([{ ...FAILED, final_status: 'dead_lettered', replayed_as: 99 }])
    expect(names(replayed, ALL, NOW)).toEqual([
      'replay: It was done already, as job 99.',
      'duplicate',
      'delete',
    ])
  })

  test('depends on rights', () => {
    expect(names(dead, { ...ALL, operate: false }, NOW)).toEqual([])
    const operator = { ...ALL, push: false, purge: false }
    expect(actionsOf(dead, operator, NOW).filter(({ refusal }) => refusal === null)).toEqual([
      { name: 'replay', refusal: null },
    ])
  })
})

describe('why it waits', () => {
  const waiting: Waiting = {
    reason: 'queue_at_limit',
    jobs_before: 3,
    is_exact: true,
    in_flight: 5,
    limit: 5,
    window: null,
    until: null,
    estimated_start_at: null,
  }

  test('is told with its numbers', () => {
    expect(waitingText(waiting, 'emails')).toBe(
      'The queue emails has 5 of 5 calls in flight, its limit. 3 jobs start before it.',
    )
    const rough = { ...waiting, reason: 'behind' as const, is_exact: false, jobs_before: 12_345 }
    expect(waitingText(rough, 'emails')).toBe('It waits for a slot. About 12,345 jobs start before it.')
    expect(waitingText({ ...waiting, reason: 'queue_paused', jobs_before: 0 }, null)).toBe(
      'Its queue is paused.',
    )
    const told = (reason: Waiting['reason'], queue: string | null) =>
      waitingText({ ...waiting, reason }, queue)
    expect(told('circuit_open', 'emails')).toBe(
      'Too many calls of the queue emails failed, so none begins for a while (circuit breaker). 3 jobs start before it.',
    )
    expect(told('target_asks_to_wait', null)).toBe(
      'The target asks its queue to wait. 3 jobs start before it.',
    )
    expect(told('rate_limited', 'emails')).toBe(
      'The queue emails is at its rate limit. 3 jobs start before it.',
    )
    expect(waitingText({ ...waiting, reason: 'held_by_window', window: 'night' }, 'emails')).toContain(
      'night',
    )
  })

  test('names the retry', () => {
    expect(attemptText(1, SETTINGS)).toBe('It')
    expect(attemptText(2, SETTINGS)).toBe('Retry 1 of 2')
    expect(attemptText(2, null)).toBe('Retry 1')
    expect(retriesText(SETTINGS)).toBe('2, after 1\u00A0min, 10\u00A0min')
    expect(retriesText({ ...SETTINGS, retries_enabled: false })).toBe('None')
  })
})

test('a body is told by its type, its size and what is missing', () => {
  expect(bodyNote('{"é":1}', 'application/json', false)).toBe('application/json, 8 B')
  expect(bodyNote('abc', '(hidden)', true)).toBe('cut: its first 3 B were kept')
  expect(bodyNote('a\uFFFDb', undefined, false)).toContain('not text')
  expect(bodyNote('a\u0000b', undefined, false)).toContain('not text')
})
