import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyText } from '../../support/any-text.ts'
import { BEARER, call, push, type RunningApi, startApi } from './api-fixture.ts'

let api: RunningApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

test('no body makes a 5xx', async () => {
  const name = fc.constantFrom(
    'queue',
    'url',
    'headers',
    'payload',
    'delay',
    'tags',
    'retry_delays',
    'run_at',
    '__proto__',
  )
  const source = fc.oneof(
    anyText(),
    fc
      .array(fc.tuple(name, fc.jsonValue()), { maxLength: 6 })
      .map(
        (entries) => `{${entries.map(([field, value]) => `"${field}":${JSON.stringify(value)}`).join(',')}}`,
      ),
  )
  await fc.assert(
    fc.asyncProperty(source, async (body) => {
      const answer = await push(api.port, body)
      expect([201, 400, 422]).toContain(answer.status)
    }),
    { numRuns: 300 },
  )
  expect(api.logged).toEqual([])
})

test('no path and no query makes a 5xx', async () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'api',
      'jobs',
      'queues',
      '7',
      '16',
      '..',
      '%2e%2e',
      '%00',
      '%',
      'replay',
      'pause',
      '__proto__',
      '?',
      '?limit=',
    ),
  )
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE')
  // What the client side of node:http would not send.
  // oxlint-disable-next-line no-control-regex
  const sendable = (text: string) => text.replaceAll(/[^\u0021-\u007e]/g, '~')
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 5 }), method, async (pieces, verb) => {
      const answer = await call(api.port, sendable(`/api/${pieces.join('/')}`), {
        method: verb,
        headers: BEARER,
      })
      expect(answer.status).toBeLessThan(500)
    }),
    { numRuns: 300 },
  )
  expect(api.logged).toEqual([])
})
