import { describe, expect, test } from 'vitest'
import { waitingText } from '../../../src/cli/jobs/waiting-text.ts'
import { useApi } from './cli-fixture.ts'

const api = useApi()

const POINT = {
  at: '2026-11-21T10:00:00.000+00:00',
  done: 8,
  failed: 8,
  retried: 7,
  dead: 1,
  latency_ms: { p50: 45.25, p95: 181, p99: 2896 },
  lateness_ms: { p50: 0, p99: 2.828 },
  depth: 12,
  oldest_ready_seconds: 95,
  startable: 4,
  stopped: 8,
  oldest_startable_seconds: 3,
  oldest_queue_id: 7,
}
const EMPTY = {
  at: '2026-11-21T10:01:00.000+00:00',
  done: 0,
  failed: 0,
  retried: 0,
  dead: 0,
  latency_ms: null,
  lateness_ms: null,
  depth: 0,
  oldest_ready_seconds: null,
  startable: 0,
  stopped: 0,
  oldest_startable_seconds: null,
  oldest_queue_id: null,
}

test('statistics are a table and a line of bars', async () => {
  const points = [POINT, EMPTY, { ...EMPTY, done: 1 }]
  api.answer = { status: 200, body: JSON.stringify({ since: POINT.at, step: 60, points }) }
  const { out } = await api.run(['stats'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/stats' })
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'AT  DONE  FAILED  RETRIED  DEAD  P50  P95  P99  LATE  STARTABLE  STOPPED  OLDEST',
    '2026-11-21T10:00  8  8  7  1  45 ms  180 ms  2.9 s  2.8 ms  4  8  3 s',
    '2026-11-21T10:01  0  0  0  0  -  -  -  -  0  0  -',
    '2026-11-21T10:01  1  0  0  0  -  -  -  -  0  0  -',
    '',
    'ended █ ▁',
    '',
  ])
  await api.run(['stats', '12', '--after', '2h', '--step', '5m'])
  expect(api.received.at(-1)?.url).toBe('/api/queues/12/stats?since=2026-11-21T10%3A00%3A00.000Z&step=300')
})

test('rows of zeros at both ends are left out, those between stay', async () => {
  const at = (minute: number) => `2026-11-21T10:0${minute}:00.000+00:00`
  const waits = { ...EMPTY, depth: 1, oldest_ready_seconds: 9 }
  const points = [EMPTY, waits, EMPTY, { ...EMPTY, dead: 1 }, EMPTY, EMPTY]
  const since = at(0)
  const numbered = points.map((point, index) => ({ ...point, at: at(index) }))
  api.answer = { status: 200, body: JSON.stringify({ since, step: 60, points: numbered }) }
  const { out } = await api.run(['stats'])
  expect(out.match(/^2026-\S+/gm)).toEqual([1, 2, 3].map((minute) => at(minute).slice(0, 16)))
})

test('a time in which nothing was is one line', async () => {
  api.answer = { status: 200, body: JSON.stringify({ since: POINT.at, step: 60, points: [EMPTY, EMPTY] }) }
  expect((await api.run(['stats'])).out).toBe(
    'Nothing ran and nothing waited from 2026-11-21T10:00:00Z to 2026-11-21T10:02:00Z.\n',
  )
})

describe('the span before', () => {
  const at = (minute: number) => `2026-11-21T10:${String(minute).padStart(2, '0')}:00.000+00:00`
  const done = (minute: number, count: number) => ({ ...EMPTY, at: at(minute), done: count })
  const points = [done(10, 1), done(11, 2), done(12, 40)]
  const answered = async (previous: object, flags: readonly string[] = []) => {
    api.answer = { status: 200, body: JSON.stringify({ since: at(10), step: 60, points, previous }) }
    return (await api.run(['stats', '--compare', ...flags])).out.split('\n').slice(-4, -1)
  }

  test('is asked for, and shown beside it without the point that is not over', async () => {
    const lines = await answered({ since: at(8), points: [done(8, 30), done(9, 0)] }, ['--until', '2h'])
    expect(api.received.at(-1)?.url).toBe('/api/stats?until=2026-11-21T10%3A00%3A00.000Z&compare=previous')
    expect(lines).toEqual([
      'ended  ▁▁█',
      'before ▆',
      '3 jobs ended, 30 in the span before: -90 %; what is not over yet is left out',
    ])
  })

  test('is compared as a whole or not at all', async () => {
    expect(await answered({ since: at(8), points: [done(8, 0), done(9, 2)] })).toContain(
      '3 jobs ended, 2 in the span before: +50 %; what is not over yet is left out',
    )
    expect((await answered({ since: at(7), points: [done(7, 0), done(8, 0), done(9, 0)] })).at(-1)).toBe(
      '43 jobs ended, 0 in the span before',
    )
    expect((await answered({ since: at(8), points: [done(9, 2)] })).slice(-2)).toEqual([
      'before  ▁',
      'The span before is no longer kept as a whole.',
    ])
  })

  test('is told of where nothing was since', async () => {
    const previous = { since: at(8), points: [done(8, 1), done(9, 1)] }
    const quiet = { since: at(10), step: 60, points: [done(10, 0), done(11, 0)], previous }
    api.answer = { status: 200, body: JSON.stringify(quiet) }
    expect((await api.run(['stats', '--compare'])).out).toBe(
      'Nothing ran and nothing waited from 2026-11-21T10:10:00Z to 2026-11-21T10:12:00Z.\n' +
        '0 jobs ended, 2 in the span before: -100 %\n',
    )
  })
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
  [
    { reason: 'circuit_open', until: 'AT', estimated_start_at: 'AT' },
    'it waits: the circuit breaker of its queue is open until AT; it may start at AT',
  ],
  [
    { reason: 'circuit_open' },
    'it waits: the circuit breaker of its queue is open, and one job tries the target',
  ],
  [{ reason: 'target_asks_to_wait', until: 'AT' }, 'it waits: its target asks to wait until AT'],
  [{ reason: 'target_asks_to_wait' }, 'it waits: its target has asked to wait, and one job tries it'],
  [
    { reason: 'rate_limited', jobs_before: 2, is_exact: true, estimated_start_at: 'AT' },
    'it waits: its queue is at its rate limit, with 2 ready jobs before it; it may start at AT',
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
