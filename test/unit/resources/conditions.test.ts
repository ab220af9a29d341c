import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSameStatus, mergeConditions } from '../../../src/resources/conditions.ts'
import type { Condition } from '../../../src/resources/generated/kinds.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 10, 0, 0, 789)
const EARLIER = '2026-11-20T08:00:00Z'

const ready: Condition = {
  type: 'Ready',
  status: 'True',
  observedGeneration: 1,
  lastTransitionTime: EARLIER,
  reason: 'Reconciled',
  message: 'In force.',
}

function merged(
  before: readonly Condition[],
  wanted: Parameters<typeof mergeConditions<'HttpQueue'>>[1],
): readonly Condition[] {
  return mergeConditions<'HttpQueue'>(before, wanted, { generation: 2, wallMs: NOW_MS })
}

describe('the time of the last transition', () => {
  test('stays while the status does, whatever else changes', () => {
    expect(
      merged([ready], [{ type: 'Ready', status: 'True', reason: 'Reconciled', message: 'Again.' }]),
    ).toEqual([{ ...ready, observedGeneration: 2, message: 'Again.' }])
  })

  test('is now, in whole seconds, when the status changes or is new', () => {
    const wanted = [{ type: 'Ready', status: 'False', reason: 'NameTaken', message: 'Taken.' }] as const
    for (const before of [[ready], []]) {
      expect(merged(before, wanted)[0]?.lastTransitionTime).toBe('2026-11-21T10:00:00Z')
    }
  })
})

test('conditions stand in the order of their types', () => {
  const types = merged(
    [],
    [
      { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message: '' },
      { type: 'Dispatching', status: 'False', reason: 'Paused', message: '' },
      { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: '' },
    ],
  ).map(({ type }) => type)
  expect(types).toEqual(['Dispatching', 'Ready', 'Stalled'])
})

test('what tells of trouble is left off when there is none', () => {
  const trouble: Condition = { ...ready, type: 'Reconciling', reason: 'ProgressingWithRetry' }
  const kept = merged(
    [ready, trouble],
    [
      { type: 'Ready', status: 'True', reason: 'Reconciled', message: 'In force.' },
      { type: 'Reconciling', status: 'False', reason: 'ProgressingWithRetry', message: '' },
      { type: 'Stalled', status: 'Unknown', reason: 'InvalidSpec', message: '' },
    ],
  )
  expect(kept.map(({ type }) => type)).toEqual(['Ready'])
})

test('a message longer than 1,024 characters is cut, and not within a character', () => {
  const wanted = {
    type: 'Ready',
    status: 'False',
    reason: 'InvalidSpec',
    message: `a${'😀'.repeat(600)}`,
  } as const
  const message = merged([], [wanted])[0]?.message ?? ''
  expect(message.length).toBeLessThanOrEqual(1_024)
  expect(message).toMatch(/^a(?:😀)+…$/u)
})

test('merging what was merged changes nothing', () => {
  const statuses = fc.constantFrom('True', 'False', 'Unknown')
  fc.assert(
    fc.property(statuses, statuses, fc.string({ maxLength: 2_000 }), (first, second, message) => {
      const wanted = [
        { type: 'Ready', status: first, reason: 'BackendUnavailable', message },
        { type: 'Reconciling', status: second, reason: 'ProgressingWithRetry', message },
      ] as const
      const once = merged([], wanted)
      const later = mergeConditions<'HttpQueue'>(once, wanted, { generation: 2, wallMs: NOW_MS + 60_000 })
      expect(isSameStatus(once, later)).toBe(true)
    }),
  )
})

describe('the same status', () => {
  test('is the same in any order of fields, undefined or absent', () => {
    expect(isSameStatus({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1, d: undefined })).toBe(true)
    expect(isSameStatus(undefined, undefined)).toBe(true)
  })

  test.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, {}],
    [{ a: null }, {}],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: [1] }, { a: [1, 2] }],
    [{ a: [] }, { a: {} }],
    [undefined, {}],
    ['1', 1],
  ])('%j is not %j', (before, after) => {
    expect(isSameStatus(before, after)).toBe(false)
    expect(isSameStatus(after, before)).toBe(false)
  })
})
