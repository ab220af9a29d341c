import { expect, test } from 'vitest'
import { createCountedLog } from '../../../src/domain/counted-log.ts'

test('the first time is said at once, then once a minute how often it happened, and what came last', () => {
  const lines: unknown[][] = []
  let nowMs = 5
  const say = createCountedLog(
    () => nowMs,
    (...line: [number, string]) => void lines.push(line),
  )
  for (const text of ['a', 'b', 'c']) say(text)
  nowMs += 59_999
  say('d')
  expect(lines).toEqual([[1, 'a']])
  nowMs += 1
  say('e')
  say('f')
  expect(lines.slice(1)).toEqual([[4, 'e']])
})
