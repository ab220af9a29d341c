import { expect, test } from 'vitest'
import { toWireAlert } from '../../../src/contract/responses/alert-wire.ts'
import { webhookMessage } from '../../../src/senders/messages/webhook-message.ts'
import { anAlert, aNotification, anEntry } from '../../support/notifications.ts'

const record = {
  id: 4711,
  type: 'failure',
  reason: 'timeout',
  resource: { kind: 'queue', id: 12, name: 'emails' },
  job_id: 815,
  message: 'POST to example.com failed after 3 attempts: no answer within 30 s.',
  count: 1,
  first_at: '2026-11-22T22:10:02.000+00:00',
  last_at: '2026-11-22T22:10:02.000+00:00',
  read: false,
  suppressed_by: null,
}

test('one alert is its record', () => {
  expect(JSON.parse(webhookMessage(aNotification(), 'ops'))).toEqual({
    event: 'alert',
    ...record,
    team: 'acme',
    raised: 1,
    alerts: [{ ...record, raised: 1 }],
    more: 0,
  })
})

test('the record is that of the API, whose readers know it', () => {
  const { deliveries, ...shown } = toWireAlert(anAlert(), [])
  expect(deliveries).toEqual([])
  expect(JSON.parse(webhookMessage(aNotification(), 'ops'))).toMatchObject(shown)
})

test('of several the first one stands at the top, and all are in the list', () => {
  const recovery = anAlert({ id: 5, type: 'recovery', resource: { kind: 'cron', id: 1, name: '<b>' } })
  const entries = [anEntry({ count: 37 }), anEntry({ alert: recovery })]
  const body = JSON.parse(
    webhookMessage(aNotification({ entries, alerts: 50, moreEntries: 2 }), 'ops'),
  ) as Record<string, unknown>
  expect(body).toMatchObject({ ...record, raised: 50, more: 2 })
  expect(body['alerts']).toMatchObject([
    { ...record, raised: 37 },
    { id: 5, type: 'recovery', resource: { kind: 'cron', id: 1, name: '<b>' }, raised: 1 },
  ])
})

test('a test is told by its event', () => {
  expect(JSON.parse(webhookMessage(aNotification({ kind: 'test', entries: [], alerts: 0 }), 'ops'))).toEqual({
    event: 'test',
    team: 'acme',
    channel: 'ops',
    at: '2026-11-22T22:10:03.000+00:00',
  })
})
