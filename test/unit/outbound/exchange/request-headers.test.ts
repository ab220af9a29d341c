import { expect, test } from 'vitest'
import { headersAsSent, headersToSend } from '../../../../src/outbound/exchange/request-headers.ts'
import type { HttpCall } from '../../../../src/ports/http-caller.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'

const BODY = '{}'

function callWith(fields: Partial<HttpCall>): HttpCall {
  return {
    team: 'a',
    settings: NO_TEAM_SETTINGS,
    url: 'http://example.com/',
    method: 'POST',
    headers: {},
    body: null,
    sought: [],
    timeoutMs: 1000,
    webhookId: 'id',
    timestampSeconds: 7,
    identity: {},
    ...fields,
  }
}

const OURS = ['webhook-id', 'id', 'webhook-timestamp', '7']

test('the caller names and values stand first, as given', () => {
  const call = callWith({ headers: { 'X-Ab': '1', authorization: 'Bearer x' }, identity: { 'Job-Id': '42' } })
  expect(headersToSend(call, BODY, 'punctual/1')).toEqual(
    [
      ['X-Ab', '1', 'authorization', 'Bearer x'],
      ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'punctual/1'],
      ['X-Punctual-Job-Id', '42'],
      OURS,
    ].flat(),
  )
})

test('defaults give way to the caller', () => {
  const headers = { 'Content-Type': 'text/plain', 'Accept-Encoding': 'gzip', 'USER-AGENT': 'me' }
  expect(headersToSend(callWith({ headers }), BODY, 'punctual/1')).toEqual([
    ...Object.entries(headers).flat(),
    ...OURS,
  ])
})

test('no content type without a body', () => {
  expect(headersToSend(callWith({}), null, 'p')).not.toContain('content-type')
})

test('what the API should have refused is dropped', () => {
  const headers = {
    Host: 'evil',
    'Transfer-Encoding': 'chunked',
    'webhook-id': 'x',
    'X-A': 'a\r\nX-B: b',
    'a b': 'c',
    ok: '1',
  }
  const sent = headersToSend(callWith({ headers }), null, 'p')
  expect(sent.slice(0, 2)).toEqual(['ok', '1'])
  expect(sent.join(' ')).not.toMatch(/evil|chunked|X-B|a b/)
})

test.each([
  ['POST', 0, '0'],
  ['PUT', 0, '0'],
  ['PATCH', 3, '3'],
  ['GET', 0, null],
  ['GET', 5, '5'],
  ['DELETE', 0, null],
] as const)('%s with %i bytes sends content-length %s', (method, bodyBytes, length) => {
  const sent = headersAsSent(['a', 'b'], callWith({ method }), { host: 'example.com', bodyBytes })
  expect(sent.slice(0, 3)).toEqual([
    ['host', 'example.com'],
    ['connection', 'keep-alive'],
    ['a', 'b'],
  ])
  expect(Object.fromEntries(sent)['content-length'] ?? null).toBe(length)
})
