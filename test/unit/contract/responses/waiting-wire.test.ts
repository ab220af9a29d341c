import { expect, test } from 'vitest'
import { toWireWaiting } from '../../../../src/contract/responses/waiting-wire.ts'
import { explainWait, type WaitFacts } from '../../../../src/domain/jobs/waiting.ts'

const NOW_MS = Date.UTC(2026, 10, 21)
const FACTS: WaitFacts = {
  nowMs: NOW_MS,
  dueMs: NOW_MS - 1,
  isActive: true,
  hold: null,
  executors: 1,
  throttle: null,
  rate: null,
  team: { taken: 1, limit: 9 },
  queue: { taken: 1, limit: 9 },
  before: { jobs: 3, isExact: true },
  endsPerSecond: null,
}
const shown = (facts: Partial<WaitFacts>) => toWireWaiting(explainWait({ ...FACTS, ...facts }))
const IN_5_S = '2026-11-21T00:00:05.000+00:00'

test.each(['rate_limited', 'target_asks_to_wait', 'circuit_open'] as const)(
  'a job that is %s waits until its queue may go on',
  (reason) => {
    const throttle = { reason, untilMs: NOW_MS + 5_000 }
    expect(shown({ throttle })).toMatchObject({ reason, until: IN_5_S, window: null, limit: null })
    expect(shown({ throttle: { reason, untilMs: null } })).toMatchObject({
      reason,
      until: null,
      estimated_start_at: null,
    })
  },
)

test('a job whose queue is not throttled yet waits for its turn', () => {
  const rate = { nextMs: NOW_MS + 2_000, intervalMs: 1_000 }
  expect(shown({ rate })).toMatchObject({ reason: 'rate_limited', until: null, estimated_start_at: IN_5_S })
})

test('what keeps the queue is not told where something else is the reason', () => {
  const throttle = { reason: 'circuit_open', untilMs: NOW_MS + 5_000 } as const
  expect(shown({ throttle, isActive: false })).toMatchObject({ reason: 'queue_paused', until: null })
  const untilMs = NOW_MS + 1_000
  const until = '2026-11-21T00:00:01.000+00:00'
  expect(shown({ throttle, hold: { window: 'w', untilMs } })).toMatchObject({ window: 'w', until })
  expect(shown({ throttle, dueMs: untilMs })).toMatchObject({ reason: 'not_due', until })
})
