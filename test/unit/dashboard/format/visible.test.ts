import { expect, test } from 'vitest'
import { visible } from '../../../../dashboard/src/format/visible.ts'

test.each([
  ['\u202Egnp.exe', '\\u202egnp.exe'],
  ['a\u2067b\u2069', 'a\\u2067b\\u2069'],
  ['no\u200Bbody \uFEFF', 'no\\u200bbody \\ufeff'],
  ['\u001B[31m \u0007\u009B', '\\x1b[31m \\x07\\x9b'],
  ['one\u2028two', 'one\\u2028two'],
  ['\uD800', '\\ud800'],
  ['\u{E0041}', '\\ue0041'],
])('%j is written out as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

test.each(['Zoë טקסט', '👩‍👩‍👧', 'two\r\n\tlines', '\\u202e', ''])('%j stays as it is', (text) => {
  expect(visible(text)).toBe(text)
})
