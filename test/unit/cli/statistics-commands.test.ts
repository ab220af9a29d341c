import { expect, test } from 'vitest'
import { waitingText } from '../../../src/cli/jobs/waiting-text.ts'
import { useApi } from './cli-fixture.ts'

const api = useApi()

const POINT = {
  ...{ at: '2026-11-21T10:00:00.000+00:00', done: 8, failed: 8, retried: 7, dead: 1 },
  ...{ latency_ms: { p50: 45.25, p95: 181, p99: 2896 }, lateness_ms: { p50: 0, p99: 2.828 } },
  ...{ depth: 12, oldest_ready_seconds: 3 },
}
const EMPTY = {
  ...{ at: '2026-11-21T10:01:00.000+00:00', done: 0, failed: 0, retried: 0, dead: 0 },
  ...{ latency_ms: null, lateness_ms: null, depth: 0, oldest_ready_seconds: null },
}

test('statistics are a table and a line of bars', async () => {
  const points = [POINT, EMPTY, { ...EMPTY, done: 1 }]
  api.answer = { status: 200, body: JSON.stringify({ since: POINT.at, step: 60, points }) }
  const { out } = await api.run(['stats'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/stats' })
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'AT  DONE  FAILED  RETRIED  DEAD  P50  P95  P99  LATE  DEPTH  OLDEST',
    '2026-11-21T10:00  8  8  7  1  45 ms  180 ms  2.9 s  2.8 ms  12  3 s',
    '2026-11-21T10:01  0  0  0  0  -  -  -  -  0  -',
    '2026-11-21T10:01  1  0  0  0  -  -  -  -  0  -',
    '',
    'ended █ ▁',
    '',
  ])
  await api.run(['stats', '12', '--since', '2026-11-21T10:00:00Z', '--step', '300'])
  expect(api.received.at(-1)?.url).toBe('/api/queues/12/stats?since=2026-11-21T10%3A00%3A00Z&step=300')
})

test.each([
  [{ reason: 'not_due', until: 'AT' }, 'it waits: it is due at AT'],
  [
    { reason: 'queue_paused', jobs_before: 2, is_exact: true },
    'it waits: its queue is paused, with 2 ready jobs before it',
  ],
  [
    { reason: 'held_by_window', window: 'w', until: 'AT' },
    'it waits: the maintenance window w holds it until AT',
  ],
  [{ reason: 'no_executor' }, 'it waits: no executor is running'],
  [{ reason: 'team_at_limit', in_flight: 2, limit: 2 }, 'it waits: its team makes 2 of 2 calls at once'],
  [
    { reason: 'queue_at_limit', in_flight: 1, limit: 1, jobs_before: 1, estimated_start_at: 'AT' },
    'it waits: its queue makes 1 of 1 calls at once, and about 1 ready job before it; it may start at AT',
  ],
  [{ reason: 'behind', jobs_before: 0 }, 'it waits: it is the next of its queue'],
] as const)('%j is said in a sentence', (change, sentence) => {
  const nothing = { jobs_before: null, is_exact: false, in_flight: null, limit: null, window: null }
  expect(waitingText({ ...nothing, until: null, estimated_start_at: null, ...change })).toBe(sentence)
})
