import { expect, test } from 'vitest'
import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { bodyOf, chipsOf, filterOf, seenOf } from '../../../../dashboard/src/features/alerts/alert-filter.ts'
import { headlineOf, jobsOf, toldText } from '../../../../dashboard/src/features/alerts/alert-text.ts'

const AT = '2026-11-23T10:00:00.000Z'

function alertOf(given: Partial<Alert> = {}): Alert {
  return {
    id: 7,
    type: 'failure',
    reason: 'timeout',
    resource: { kind: 'queue', id: 12, name: 'mail' },
    job_id: 3,
    message: 'It failed.',
    count: 1,
    first_at: AT,
    last_at: AT,
    read: false,
    suppressed_by: null,
    deliveries: [],
    ...given,
  }
}

function delivered(...states: ReadonlyArray<Alert['deliveries'][number]['state']>): Alert['deliveries'] {
  return states.map((state, i) => ({ channel: `c${i}`, state, answer: null, at: null }))
}

test('what the address asks for becomes a filter, with numbers and truths in a body', () => {
  const filter = filterOf({
    type: 'failure',
    resource_kind: 'queue',
    resource_id: '12',
    read: 'false',
    q: 'x',
  })
  expect(filter).toEqual({ type: 'failure', resource_kind: 'queue', resource_id: '12', read: 'false' })
  expect(bodyOf(filter)).toEqual({ type: 'failure', resource_kind: 'queue', resource_id: 12, read: false })
})

test('what was raised after the last alert that is shown is not meant', () => {
  const rows = [alertOf(), alertOf({ last_at: '2026-11-23T10:00:40.250Z' })]
  expect(seenOf({ type: 'failure' }, rows)).toEqual({ type: 'failure', before: '2026-11-23T10:00:40.251Z' })
})

test('chips name the queue, and keep what nobody knows', () => {
  const chips = chipsOf(
    { type: 'failure', resource_kind: 'queue', resource_id: '12', reason: 'odd', after: AT },
    (kind, id) => (kind === 'queue' && id === '12' ? 'mail' : undefined),
    'Europe/Berlin',
  )
  expect(chips.map(({ label, value }) => `${label}: ${value}`)).toEqual([
    'Type: Failure',
    'Reason: odd',
    'Queue: mail',
    'Last raised from: 2026-11-23 11:00:00',
  ])
})

test.each([
  [alertOf(), 'No channel'],
  [alertOf({ deliveries: delivered('sent', 'failed', 'pending') }), '1 failed, 1 under way, 1 sent'],
  [alertOf({ deliveries: delivered('suppressed'), suppressed_by: 'night' }), 'Muted by night'],
])('an alert says who was told (%#)', (alert, text) => {
  expect(toldText(alert)).toBe(text)
})

test.each([
  [alertOf(), '/jobs', { queue: 'mail', status: 'failed' }],
  [
    alertOf({ type: 'warning' }),
    '/jobs',
    { queue: 'mail', failure_reason: 'timeout', ended_after: '2026-11-23T09:59:59.000Z' },
  ],
  [alertOf({ resource: { kind: 'cron', id: 4, name: 'nightly' } }), '/jobs', { cron_id: '4' }],
  [alertOf({ type: 'limit_warning', reason: 'queue_saturated' }), '/jobs', { status: 'pending' }],
  [alertOf({ type: 'limit_warning', reason: 'dead_letters_growing' }), '/dead-letters', { queue: 'mail' }],
])('the jobs behind an alert are found (%#)', (alert, path, query) => {
  expect(jobsOf(alert)).toMatchObject({ path, query })
})

test('nothing failed in a recovery, nor a job for a limit of the team', () => {
  expect(jobsOf(alertOf({ type: 'recovery' }))).toBeNull()
  expect(jobsOf(alertOf({ resource: { kind: 'team', id: null, name: 'shop' } }))).toBeNull()
  expect(headlineOf({ type: 'recovery', reason: 'timeout' })).toBe('Recovered: timeout')
})

test('a breaker that opens leads to the jobs that wait, as no job fails for that', () => {
  expect(jobsOf(alertOf({ type: 'warning', reason: 'circuit_open' }))).toEqual({
    label: 'Jobs that wait',
    path: '/jobs',
    query: { queue: 'mail', status: 'pending' },
  })
  expect(headlineOf({ type: 'warning', reason: 'circuit_open' })).toBe('Target fails, calls stopped')
})
