import { describe, expect, it } from 'vitest'
import { effectiveQuotas, isQuota, NO_QUOTAS, QUOTA_NAMES, quotasOf } from '../../../src/domain/quotas.ts'

describe('the quotas that count', () => {
  it.each([
    [null, null, null],
    [5, null, 5],
    [null, 7, 7],
    [5, 7, 5],
    [7, 5, 5],
    [0, 5, 0],
    [5, 0, 0],
  ])('are the lower: of %s and %s it is %s', (own, installation, expected) => {
    for (const name of QUOTA_NAMES) {
      const quotas = effectiveQuotas(quotasOf({ [name]: own }), quotasOf({ [name]: installation }))
      expect(quotas).toEqual({ ...NO_QUOTAS, [name]: expected })
    }
  })
})

it.each([
  [0, true],
  [1, true],
  [Number.MAX_SAFE_INTEGER, true],
  [Number.MAX_SAFE_INTEGER + 1, false],
  [-1, false],
  [0.5, false],
  [Number.NaN, false],
])('%s is a quota: %s', (value, expected) => {
  expect(isQuota(value)).toBe(expected)
})
