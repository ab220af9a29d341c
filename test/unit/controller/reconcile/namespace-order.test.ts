import { expect, test } from 'vitest'
import { inTurns } from '../../../../src/controller/reconcile/namespace-order.ts'

test('namespaces take turns, and keep the order of their keys', () => {
  expect(inTurns(['a/3', 'a/1', 'a/2', 'c/x/y', 'b/2', 'b/1'])).toEqual([
    'a/3',
    'c/x/y',
    'b/2',
    'a/1',
    'b/1',
    'a/2',
  ])
  expect(inTurns([])).toEqual([])
})
