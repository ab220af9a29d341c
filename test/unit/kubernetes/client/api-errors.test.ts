import { expect, test } from 'vitest'
import { errorOfAnswer, errorOfSilence } from '../../../../src/kubernetes/client/api-errors.ts'

function errorOf(code: number, text: string, retryAfter?: string) {
  return errorOfAnswer({ code, text, retryAfter })
}

test.each([
  ['7', 7_000],
  [' 7 ', 7_000],
  ['86400', 60_000],
  ['Sat, 21 Nov 2026 09:00:00 GMT', null],
  ['-1', null],
  [undefined, null],
])('Retry-After %o is %o ms', (header, ms) => {
  expect(errorOf(429, '', header).retryAfterMs).toBe(ms)
})

test.each([
  ['a Status', JSON.stringify({ kind: 'Status', message: 'no such queue' }), 'no such queue'],
  ['a page of a proxy', '<html>bad gateway</html>\n', '<html>bad gateway</html>'],
  ['other JSON', '{"error":"x"}', '{"error":"x"}'],
  ['nothing', '', 'HTTP 502'],
])('the reason of %s is what it says', (_what, text, reason) => {
  expect(errorOf(502, text).message).toBe(`Kubernetes API: ${reason}`)
})

test('a long reason is cut', () => {
  expect(errorOf(500, 'x'.repeat(5_000)).message).toHaveLength(1_000 + 'Kubernetes API: '.length)
})

test('a patch for another life of the object is a conflict, other fields that cannot change are not', () => {
  const refused = (field: string) => JSON.stringify({ kind: 'Status', details: { causes: [{ field }] } })
  expect(errorOf(422, refused('metadata.uid')).fault).toBe('conflict')
  expect(errorOf(422, refused('spec.queueName')).fault).toBe('invalid')
})

test('what was thrown stays as the cause', () => {
  const cause = new Error('connect ECONNREFUSED')
  expect(errorOfSilence('GET /api failed', cause)).toMatchObject({
    fault: 'unavailable',
    message: 'Kubernetes API: GET /api failed: connect ECONNREFUSED',
    cause,
  })
})
