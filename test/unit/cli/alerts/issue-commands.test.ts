import { describe, expect, test } from 'vitest'
import { NOW_MS, useApi } from '../cli-fixture.ts'

const api = useApi()

const issue = {
  id: '12-9f86d08188',
  resource: { kind: 'queue', id: 12, name: 'emails \u001b[2J' },
  failure_reason: 'http_server_error' as string | null,
  response_status: 503 as number | null,
  host: 'a.example.com' as string | null,
  state: 'muted',
  muted_until: '2026-11-22T10:00:00.000+00:00',
  count: 412,
  dead_lettered: 330,
  first_at: '2026-11-20T10:00:00.000+00:00',
  opened_at: '2026-11-21T10:00:00.000+00:00',
  last_at: '2026-11-21T10:00:41.000+00:00',
  sample_job_id: 16,
  by_hour: [{ at: '2026-11-21T10:00:00.000+00:00', failed: 412, dead_lettered: 330 }],
}

describe('issues', () => {
  test('are a table, by state and queue, in which a name steers no terminal', async () => {
    const others = [
      { ...issue, failure_reason: null, response_status: null, host: null },
      { ...issue, failure_reason: 'timeout', response_status: null },
    ]
    api.answer = { status: 200, body: JSON.stringify({ issues: [issue, ...others], next_cursor: null }) }
    const { out } = await api.run(['issues', '--state', 'open', '--queue', 'emails'])
    expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/issues?state=open&queue=emails' })
    const rest = 'queue emails \\x1b[2J (12)  412  330  2026-11-21T10:00:00Z  2026-11-21T10:00:41Z'
    expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'ISSUE  STATE  FAILURE  RESOURCE  COUNT  DEAD  SINCE  LAST',
      `12-9f86d08188  muted  503 from a.example.com  ${rest}`,
      `12-9f86d08188  muted  other failures  ${rest}`,
      `12-9f86d08188  muted  timeout from a.example.com  ${rest}`,
      '',
    ])
  })

  test('are those that somebody should look at, unless another state or all are asked for', async () => {
    api.answer = { status: 200, body: JSON.stringify({ issues: [], next_cursor: null }) }
    await api.run(['issues'])
    await api.run(['issues', '--state', 'resolved'])
    await api.run(['issues', '--state', 'all'])
    expect(api.received.map(({ url }) => url)).toEqual([
      '/api/issues?state=open%2Cacknowledged',
      '/api/issues?state=resolved',
      '/api/issues',
    ])
    expect((await api.run(['issues', '--state', 'closed'])).code).not.toBe(0)
  })

  test('are shown, acknowledged, resolved and reopened', async () => {
    api.answer = { status: 200, body: JSON.stringify(issue) }
    const page = [
      'issue 12-9f86d08188  muted until 2026-11-22T10:00:00.000+00:00',
      'queue emails \\x1b[2J (12)',
      '503 from a.example.com',
      '412 failed, 330 dead letters, in the last 7 days',
      'first 2026-11-20T10:00:00.000+00:00, open since 2026-11-21T10:00:00.000+00:00, last 2026-11-21T10:00:41.000+00:00',
      'job 16',
      '2026-11-21T10:00:00.000+00:00  412 failed, 330 dead',
      '',
    ].join('\n')
    for (const verb of ['show', 'acknowledge', 'resolve', 'reopen']) {
      expect((await api.run(['issues', verb, 'issue/12-9f86d08188'])).out).toBe(page)
    }
    expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/issues/12-9f86d08188',
      ...['acknowledge', 'resolve', 'reopen'].map((verb) => `POST /api/issues/12-9f86d08188/${verb}`),
    ])
  })

  test('are muted for a while or until a time, and for nothing else', async () => {
    api.answer = { status: 200, body: JSON.stringify(issue) }
    await api.run(['issues', 'mute', '12-9f86d08188', '--for', '2h'])
    const { until } = JSON.parse(api.received[0]?.body ?? '') as { until: string }
    expect(until).toBe(new Date(NOW_MS + 7_200_000).toISOString())
    await api.run(['issues', 'mute', '12-9f86d08188', '--until', '2026-12-07T09:00:00+01:00'])
    expect(JSON.parse(api.received[1]?.body ?? '')).toEqual({ until: '2026-12-07T09:00:00+01:00' })
    for (const flags of [[], ['--for', '2h', '--until', '2026-12-07T09:00:00Z'], ['--for', 'soon']]) {
      expect((await api.run(['issues', 'mute', '12-9f86d08188', ...flags])).code).toBe(2)
    }
    expect(api.received.length).toBe(2)
  })
})
