import { describe, expect, test } from 'vitest'
import { readBulk } from '../../../../src/contract/requests/bulk/bulk-request.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'

const JOB_IDS = new JobIds(1, '0123456789ab')
const NOW_MS = 1_800_000_000_000
const read = (body: unknown) => readBulk(Buffer.from(JSON.stringify(body)), JOB_IDS, NOW_MS)
const valid = (body: unknown) => {
  const result = read(body)
  return result.kind === 'valid' ? result.value : expect.fail(JSON.stringify(result))
}
const errors = (body: unknown) => {
  const result = read(body)
  return result.kind === 'invalid' ? result.problem.errors : expect.fail(JSON.stringify(result))
}

test('ids are numbers or UUIDs, each of them once', () => {
  const uuid = JOB_IDS.uuidOf(32)
  expect(valid({ action: 'cancel', ids: [16, uuid, 32, 16] })).toEqual({
    action: 'cancel',
    target: { kind: 'ids', ids: [16, 32] },
    isDryRun: false,
    ratePerSecond: null,
    stopWhen: null,
  })
  expect(valid({ action: 'cancel', ids: Array.from({ length: 1_000 }, (_, i) => i) }).target).toMatchObject({
    kind: 'ids',
  })
})

describe('a filter', () => {
  test('is that of the list, in JSON', () => {
    const filter = { queue: 'emails', response_status: 503, tag: 'a:b', ended_after: '2026-11-21T00:00:00Z' }
    expect(valid({ action: 'replay', filter, rate: 50, dry_run: true })).toEqual({
      action: 'replay',
      target: {
        kind: 'filter',
        filter: {
          ...ANY_JOB,
          queue: 'emails',
          status: 'dead_lettered',
          responseStatus: 503,
          tag: { name: 'a', value: 'b' },
          ended: { afterMs: Date.UTC(2026, 10, 21), beforeMs: null },
        },
      },
      isDryRun: true,
      ratePerSecond: 50,
      stopWhen: null,
    })
  })

  test.each([
    ['cancel', 'pending'],
    ['fire', 'pending'],
    ['purge', 'dead_lettered'],
    ['replay', 'dead_lettered'],
    ['retry', 'failed'],
    ['delete', null],
  ])('without a status is for the jobs that %s is for', (action, status) => {
    expect(valid({ action, filter: {} }).target).toEqual({ kind: 'filter', filter: { ...ANY_JOB, status } })
  })

  test.each([
    ['cancel', 'dead_lettered'],
    ['replay', 'pending'],
    ['delete', 'processing'],
    ['retry', 'completed'],
    ['retry', 'pending'],
  ])('of %s cannot ask for %s', (action, status) => {
    expect(errors({ action, filter: { status } })).toEqual({
      'filter.status': ['The selected filter.status is invalid.'],
    })
  })
})

test.each([
  ['retry', 'dead_lettered'],
  ['delete', 'completed'],
  ['delete', 'failed'],
])('a filter of %s may ask for %s', (action, status) => {
  expect(valid({ action, filter: { status } }).target).toMatchObject({ filter: { status } })
})

test.each([
  [{ ids: [16] }, 'action', 'The action field is required.'],
  [{ action: 'explode', ids: [16] }, 'action', 'The selected action is invalid.'],
  [{ action: 'cancel' }, 'ids', 'The ids field is required when none of filter are present.'],
  [{ action: 'cancel', ids: [16], filter: {} }, 'ids', 'The ids field prohibits filter from being present.'],
  [{ action: 'cancel', ids: [] }, 'ids', 'The ids field must have between 1 and 1000 items.'],
  [
    { action: 'cancel', ids: Array(1_001).fill(16) },
    'ids',
    'The ids field must have between 1 and 1000 items.',
  ],
  [
    { action: 'cancel', ids: ['x'.repeat(70_000)] },
    'ids',
    'The ids field must have between 1 and 1000 items.',
  ],
  [{ action: 'cancel', ids: 16 }, 'ids', 'The ids field must be an array.'],
  [{ action: 'cancel', ids: [16, { job: 32 }] }, 'ids.1', 'The selected ids.1 is invalid.'],
  [{ action: 'cancel', ids: ['x'] }, 'ids.0', 'The selected ids.0 is invalid.'],
  [{ action: 'cancel', filter: [] }, 'filter', 'The filter field must be an object.'],
  [{ action: 'cancel', filter: { queue: '' } }, 'filter.queue', 'The filter.queue field must have a value.'],
  [{ action: 'cancel', filter: { size: 1 } }, 'filter.size', 'The filter.size field is unknown.'],
  [{ action: 'cancel', ids: [16], rate: 0 }, 'rate', 'The rate field must be between 1 and 100000.'],
  [{ action: 'cancel', ids: [16], rate: '5' }, 'rate', 'The rate field must be an integer.'],
  [{ action: 'cancel', ids: [16], all: true }, 'all', 'The all field is unknown.'],
])('%j is refused', (body, field, text) => {
  expect(errors(body)).toEqual({ [field]: [text] })
})

describe('stop_when', () => {
  const replay = { action: 'replay', filter: {} }

  test('is a share of failures, judged once some jobs have ended', () => {
    expect(valid({ ...replay, stop_when: { failed_again_percent: 20, min: 10 } }).stopWhen).toEqual({
      failedAgainPercent: 20,
      min: 10,
    })
    const alone = { failed_again_percent: 100 }
    expect(valid({ action: 'retry', ids: [16], stop_when: alone }).stopWhen).toMatchObject({ min: 50 })
    expect(valid({ ...replay, stop_when: null }).stopWhen).toBeNull()
  })

  test.each([
    [[], 'stop_when', 'The stop when field must be an object.'],
    [{}, 'stop_when.failed_again_percent', 'The stop_when.failed_again_percent field is required.'],
    [
      { failed_again_percent: 0 },
      'stop_when.failed_again_percent',
      'The stop_when.failed_again_percent field must be between 1 and 100.',
    ],
    [
      { failed_again_percent: 101 },
      'stop_when.failed_again_percent',
      'The stop_when.failed_again_percent field must be between 1 and 100.',
    ],
    [
      { failed_again_percent: 20, min: 0 },
      'stop_when.min',
      'The stop_when.min field must be between 1 and 10000.',
    ],
    [{ failed_again_percent: 20, max: 1 }, 'stop_when.max', 'The stop_when.max field is unknown.'],
  ])('%j is refused', (given, field, text) => {
    expect(errors({ ...replay, stop_when: given })).toEqual({ [field]: [text] })
  })

  test.each(['cancel', 'fire', 'purge', 'delete'])('is refused for %s, which makes no jobs', (action) => {
    expect(errors({ action, filter: {}, stop_when: { failed_again_percent: 20 } })).toEqual({
      stop_when: ['The stop when field is only for the actions retry and replay.'],
    })
  })
})

test('a bulk cannot have the jobs of another one for its filter', () => {
  expect(Object.keys(errors({ action: 'replay', filter: { bulk_id: 7 } }))).toEqual(['filter.bulk_id'])
})

test('a filter may give spans back from now', () => {
  const result = read({ action: 'retry', filter: { ended_after: '1h' } })
  expect(result).toMatchObject({
    value: { target: { filter: { ended: { afterMs: NOW_MS - 3_600_000, beforeMs: null } } } },
  })
})
