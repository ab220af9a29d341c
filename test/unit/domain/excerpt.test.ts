import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerpt } from '../../../src/domain/excerpt.ts'
import { anyText } from '../../support/any-text.ts'

test('a text within the bound stays as it is', () => {
  expect(excerpt('abc', 3)).toBe('abc')
  expect(excerpt('', 1)).toBe('')
})

test('a longer one ends in an ellipsis at the bound', () => {
  expect(excerpt('abcd', 3)).toBe('ab…')
})

test('never ends in half a character', () => {
  expect(excerpt('a😀bc', 3)).toBe('a…')
  fc.assert(
    fc.property(anyText(), fc.integer({ min: 1, max: 20 }), (text, max) => {
      const cut = excerpt(text, max)
      expect(cut.isWellFormed()).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(max)
      expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true)
    }),
  )
})
