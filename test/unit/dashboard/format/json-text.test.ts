import { expect, test } from 'vitest'
import { indentJson, memberOf } from '../../../../dashboard/src/format/json-text.ts'

test.each([
  ['{}', '{}'],
  ['[ ]', '[]'],
  ['{"a":1}', '{\n  "a": 1\n}'],
  ['{"a":[1,{"b":null}],"c":{}}', JSON.stringify({ a: [1, { b: null }], c: {} }, null, 2)],
  // What parsing would change.
  ['{"n":12345678901234567890,"e":1.50,"n":2}', '{\n  "n": 12345678901234567890,\n  "e": 1.50,\n  "n": 2\n}'],
  [String.raw`{"q":"a\"{,:[\\"}`, `{\n  "q": ${String.raw`"a\"{,:[\\"`}\n}`],
])('%s is indented', (text, indented) => {
  expect(indentJson(text)).toBe(indented)
})

test.each(['', '1', '"text"', 'null', '{"a":', '<html>', '{"a":1} x'])('%j is not', (text) => {
  expect(indentJson(text)).toBe(null)
})

test.each([
  ['payload', '{"big":12345678901234567890, "e":1.50}'],
  ['a', '[1, {"payload": 2}]'],
  ['text', String.raw`"}, \"payload\": 3"`],
  ['nothing', 'null'],
  ['absent', null],
])('the source of %s is found', (name, source) => {
  const text = String.raw`{"a": [1, {"payload": 2}], "text":"}, \"payload\": 3", "nothing":null,
    "payload":{"big":12345678901234567890, "e":1.50}, "z":{}}`
  expect(memberOf(text, name)).toBe(source)
})

test('the last one of a name counts, as for JSON.parse', () => {
  expect(memberOf('{"a":1,"a":2}', 'a')).toBe('2')
  expect(memberOf('{}', 'a')).toBe(null)
})
