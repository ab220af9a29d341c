import { expect, test } from 'vitest'
import { orderText } from '../../../../dashboard/src/features/jobs/list/order-text.ts'
import {
  bulkFilterOf,
  chipsOf,
  filterOf,
  type JobOrder,
  orderByTime,
  orderOf,
  valuesOf,
} from '../../../../dashboard/src/features/jobs/job-filter.ts'

const values = {
  response_status: '503',
  queue: 'emails',
  status: 'dead_lettered',
  ended_after: '2026-11-23T01:30:00.000Z',
  cursor: 'abc',
  other: 'x',
}

test('what is no filter is left out', () => {
  expect(Object.keys(filterOf(values)).toSorted()).toEqual([
    'ended_after',
    'queue',
    'response_status',
    'status',
  ])
})

test('a bulk has numbers where the API wants them', () => {
  expect(bulkFilterOf(values)).toEqual({
    status: 'dead_lettered',
    queue: 'emails',
    response_status: 503,
    ended_after: '2026-11-23T01:30:00.000Z',
  })
  expect(bulkFilterOf(valuesOf(bulkFilterOf(values)))).toEqual(bulkFilterOf(values))
})

test('chips are in one order, in words and in the zone of the viewer', () => {
  expect(chipsOf(values, 'Europe/Berlin').map(({ label, value }) => `${label}: ${value}`)).toEqual([
    'Status: dead letters',
    'Queue: emails',
    'Answered with: 503',
    'Ended from: 2026-11-23 02:30:00',
  ])
  expect(chipsOf({ created_after: 'yesterday' }, 'UTC')).toMatchObject([{ value: 'yesterday' }])
})

test('the head of the times chooses the newest, then the oldest', () => {
  let values: Record<string, string> = {}
  const shown: Array<[JobOrder | null, string]> = []
  for (let click = 0; click < 3; click += 1) {
    values = { ...values, order: orderByTime(orderOf(values) ?? 'queue') }
    shown.push([orderOf(values), orderText({ ...values, status: 'completed' })])
    expect(filterOf(values)).toEqual(values)
  }
  expect(shown).toEqual([
    ['newest', 'The newest end first.'],
    ['oldest', 'The oldest end first.'],
    ['newest', 'The newest end first.'],
  ])
})
