import { describe, expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()

const alert = {
  id: 640,
  type: 'failure',
  reason: 'timeout',
  resource: { kind: 'queue', id: 12, name: 'emails \u001b[2J' },
  job_id: 16,
  message: 'A job failed for good.',
  count: 3,
  first_at: '2026-11-21T10:00:00.000+00:00',
  last_at: '2026-11-21T10:00:41.000+00:00',
  read: false,
  suppressed_by: null as string | null,
  deliveries: [
    { channel: 'ops', state: 'sent', answer: '200 ok', at: '2026-11-21T10:00:01.000+00:00' },
    { channel: 'mail', state: 'pending', answer: null, at: null },
  ],
}

describe('alerts', () => {
  test('are a table, in which a name steers no terminal', async () => {
    const ofTeam = {
      ...alert,
      type: 'limit_warning',
      reason: 'quota_nearly_used',
      count: 1,
      read: true,
      resource: { kind: 'team', id: null, name: 'shop' },
      suppressed_by: 'release',
    }
    api.answer = { status: 200, body: JSON.stringify({ alerts: [alert, ofTeam], next_cursor: 'abc' }) }
    const { out } = await api.run(['alerts', '--limit', '2'])
    expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/alerts?limit=2' })
    expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'ALERT  TYPE  REASON  RESOURCE  COUNT  LAST  STATE  MESSAGE',
      '640  failure  timeout  queue emails \\x1b[2J (12)  3  2026-11-21T10:00:41Z  unread  A job failed for good.',
      '640  limit_warning  quota_nearly_used  team shop  1  2026-11-21T10:00:41Z  read, suppressed by release  A job failed for good.',
      'next page: --cursor abc',
      '',
    ])
  })

  const FILTERS =
    '--type failure --reason timeout --queue 12 --read false --after 2026-11-21T10:00:00+01:00 --before 2026-11-22T00:00:00Z'
  const SEARCH =
    'type=failure&reason=timeout&resource_kind=queue&resource_id=12&read=false&after=2026-11-21T10%3A00%3A00%2B01%3A00&before=2026-11-22T00%3A00%3A00Z'

  test('are listed, marked and deleted by every filter', async () => {
    api.firstAnswers = [{ status: 200, body: '{"alerts":[],"next_cursor":null}' }]
    await api.run(['alerts', 'list', ...FILTERS.split(' '), '--cursor', 'c'])
    expect(api.received[0]).toMatchObject({ method: 'GET', url: `/api/alerts?${SEARCH}&cursor=c` })

    api.answer = { status: 200, body: '{"updated":1}' }
    expect((await api.run(['alerts', 'read', ...FILTERS.split(' ')])).out).toBe('1 alert marked as read\n')
    expect(api.received[1]).toMatchObject({ method: 'POST', url: '/api/alerts/read' })
    expect(JSON.parse(api.received[1]?.body ?? '')).toEqual({
      type: 'failure',
      reason: 'timeout',
      resource_kind: 'queue',
      resource_id: 12,
      read: false,
      after: '2026-11-21T10:00:00+01:00',
      before: '2026-11-22T00:00:00Z',
    })

    api.answer = { status: 200, body: '{"deleted":2}' }
    expect((await api.run(['alerts', 'delete', '--yes', ...FILTERS.split(' ')])).out).toBe(
      '2 alerts deleted\n',
    )
    expect(api.received[2]).toMatchObject({ method: 'DELETE', url: `/api/alerts?${SEARCH}` })
  })

  test('are all marked and all deleted when that is said', async () => {
    api.answer = { status: 200, body: '{"updated":0}' }
    expect((await api.run(['alerts', 'read', '--all'])).out).toBe('0 alerts marked as read\n')
    expect(api.received[0]?.body).toBe('{}')
    api.answer = { status: 200, body: '{"deleted":7}' }
    expect((await api.run(['alerts', 'delete', '--yes', '--all', '-o', 'json'])).out).toBe('{"deleted":7}\n')
    expect(api.received[1]?.url).toBe('/api/alerts?all=true')
  })

  test('one is shown, marked and deleted', async () => {
    api.answer = { status: 200, body: JSON.stringify(alert) }
    const page = [
      'alert 640  failure: timeout',
      'queue emails \\x1b[2J (12)',
      'A job failed for good.',
      '3 times, 2026-11-21T10:00:00.000+00:00 to 2026-11-21T10:00:41.000+00:00',
      'unread',
      'job 16',
      'channel ops: sent at 2026-11-21T10:00:01.000+00:00, 200 ok',
      'channel mail: pending',
      '',
    ].join('\n')
    expect((await api.run(['alerts', 'show', '640'])).out).toBe(page)
    expect((await api.run(['alerts', 'read', '640'])).out).toBe(page)
    api.answer = { status: 204, body: '' }
    expect((await api.run(['alerts', 'delete', '--yes', '640'])).out).toBe('alert 640 deleted\n')
    expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/alerts/640',
      'POST /api/alerts/640/read',
      'DELETE /api/alerts/640',
    ])
  })

  test.each([
    ['delete'],
    ['read'],
    ['delete', '640', '--all'],
    ['read', '640', '--type', 'failure'],
    ['delete', '--all', '--read', 'true'],
  ])('%s %s %s: what is meant must be said once', async (...args) => {
    expect(await api.run(['alerts', ...args])).toEqual({
      out: '',
      err: `punctual: no alerts chosen: give an id, filters or --all (see punctual alerts ${args[0]} --help)\n`,
      code: 2,
    })
    expect(api.received).toEqual([])
  })

  test.each([
    [{ warning: 0, failure: 2, recovery: 1, limit_warning: 0 }, '3 unread: failure 2, recovery 1\n'],
    [{ warning: 0, failure: 0, recovery: 0, limit_warning: 0 }, '0 unread\n'],
  ])('the unread ones are counted', async (byType, line) => {
    const unread = byType.failure + byType.recovery
    api.answer = { status: 200, body: JSON.stringify({ unread, by_type: byType }) }
    expect((await api.run(['alerts', 'counts'])).out).toBe(line)
  })

  test('one that is not there is called what it is', async () => {
    api.answer = { status: 404, body: '{"error":"Not found"}' }
    expect((await api.run(['alerts', 'show', '1'])).err).toBe(
      'punctual: Not found: the team of this token has no such alert\n',
    )
  })
})
