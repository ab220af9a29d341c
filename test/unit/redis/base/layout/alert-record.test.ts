import { expect, test } from 'vitest'
import { alertIn, alertTotalIn, encodeAlertFacts } from '../../../../../src/redis/base/layout/alert-record.ts'

const FACTS = encodeAlertFacts('a|b "c"\n', [1, 503, 60])
const RECORD = `1|3|1960000000001|7|1960000000000|warning|timeout|queue|12|night|96|${FACTS}`

test('a record is read whole, whatever is in the name', () => {
  expect(alertIn('640', RECORD)).toEqual({
    alert: {
      id: 640,
      type: 'warning',
      reason: 'timeout',
      resource: { kind: 'queue', id: 12, name: 'a|b "c"\n' },
      jobId: 96,
      message:
        'Job 96 of queue a|b "c"\n failed at attempt 1 (timeout, status 503); it is tried again in 60 s.',
      count: 3,
      firstAtMs: 1_960_000_000_000,
      lastAtMs: 1_960_000_000_001,
      isRead: false,
      suppressedBy: 'night',
    },
    totalBefore: 7,
  })
  expect(alertIn('640', RECORD.replace('night|96', '|').replace('1|', '0|'))?.alert).toMatchObject({
    isRead: true,
    suppressedBy: null,
    jobId: null,
  })
})

test.each([
  ['no record', 'nonsense'],
  ['an unknown type', RECORD.replace('warning', 'alarm')],
  ['an unknown reason', RECORD.replace('timeout', 'moon')],
  ['an unknown kind of resource', RECORD.replace('queue', 'job')],
  ['facts that are no JSON', RECORD.replace(FACTS, '[,]')],
  ['facts without a name', RECORD.replace(FACTS, '[]')],
])('%s is damaged', (_, text) => {
  expect(alertIn('640', text)).toBeNull()
})

test('a total is read, or is damaged', () => {
  expect(alertTotalIn('640|3|704|1960000000000')).toEqual({
    bornId: 640,
    total: 3,
    openId: 704,
    lastAtMs: 1_960_000_000_000,
  })
  expect(alertTotalIn('640|3')).toBeNull()
})
