import { expect, test } from 'vitest'
import { answerText, failureText, isMessageNews } from '../../../../dashboard/src/format/failure-reasons.ts'

test.each([
  ['http_server_error', 503, '503', 'Answered with 503', false],
  ['http_redirect', 302, '302', 'Answered with 302', false],
  ['assertion_failed', 200, 'An assertion failed (200)', 'An assertion failed, answered with 200', true],
  ['timeout', null, 'Timeout', 'Timeout', true],
] as const)('%s with %s reads as %s', (reason, status, cell, sentence, isNews) => {
  expect(answerText(reason, status)).toBe(cell)
  expect(failureText(reason, status)).toBe(sentence)
  expect(isMessageNews(reason)).toBe(isNews)
})

test('a failure without a known reason says at least with what it was answered', () => {
  expect(failureText(null, 418)).toBe('Answered with 418')
  expect(failureText(null, null)).toBe('Unknown')
})
