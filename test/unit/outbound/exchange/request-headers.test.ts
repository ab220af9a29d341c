import { expect, test } from 'vitest'
import { headersToSend, requestOf } from '../../../../src/outbound/exchange/request-headers.ts'
import type { HttpCall } from '../../../../src/ports/http-caller.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'

const NO_BODY = { content: null, bytes: 0 }
const BODY = { content: '{}', bytes: 2 }
const AROUND = { host: 'example.com', userAgent: 'punctual/1' }
const FIRST = ['host', 'example.com', 'connection', 'keep-alive']

function callWith(fields: Partial<HttpCall>): HttpCall {
  return {
    team: 'a',
    settings: NO_TEAM_SETTINGS,
    url: 'http://example.com/',
    method: 'POST',
    headers: {},
    body: null,
    contentType: 'application/json',
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
  expect(headersToSend(call, BODY, AROUND)).toEqual(
    [
      FIRST,
      ['X-Ab', '1', 'authorization', 'Bearer x'],
      ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'punctual/1'],
      ['X-Punctual-Job-Id', '42'],
      OURS,
      ['content-length', '2'],
    ].flat(),
  )
})

test('defaults give way to the caller', () => {
  const headers = { 'Content-Type': 'text/plain', 'Accept-Encoding': 'gzip', 'USER-AGENT': 'me' }
  expect(headersToSend(callWith({ headers }), BODY, AROUND)).toEqual([
    ...FIRST,
    ...Object.entries(headers).flat(),
    ...OURS,
    'content-length',
    '2',
  ])
})

test('no content type without a body', () => {
  expect(headersToSend(callWith({}), NO_BODY, AROUND)).not.toContain('content-type')
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
  const sent = headersToSend(callWith({ headers }), NO_BODY, AROUND)
  expect(sent.slice(FIRST.length, FIRST.length + 2)).toEqual(['ok', '1'])
  expect(sent.join(' ')).not.toMatch(/evil|chunked|X-B|a b/)
})

test.each([
  ['POST', 0, '0'],
  ['PUT', 0, '0'],
  ['PATCH', 3, '3'],
  ['GET', 0, null],
  ['GET', 5, '5'],
  ['DELETE', 0, null],
] as const)('%s with %i bytes sends content-length %s', (method, bytes, length) => {
  const body = bytes === 0 ? NO_BODY : { content: 'x'.repeat(bytes), bytes }
  const sent = headersToSend(callWith({ method }), body, AROUND)
  const at = sent.indexOf('content-length')
  expect(at === -1 ? null : sent[at + 1]).toBe(length)
})

test.each([
  [NO_BODY, ''],
  [BODY, '{}'],
  [{ content: '\u00e9\u{1f600}', bytes: 6 }, '\u00e9\u{1f600}'],
  [{ content: Buffer.from('\u00e9'), bytes: 2 }, '\u00e9'],
])('the request is one piece, with the body %j', (body, text) => {
  const request = requestOf('POST / HTTP/1.1\r\n', ['a', 'b', 'c', 'd'], body)
  const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request
  expect(bytes.toString()).toBe(`POST / HTTP/1.1\r\na: b\r\nc: d\r\n\r\n${text}`)
})

test('bytes that are no text come as they are, with the content type of the call', () => {
  const content = Buffer.from([0, 0xff, 0x80, 0x0a])
  const call = callWith({ contentType: 'image/png' })
  const request = requestOf('', headersToSend(call, { content, bytes: 4 }, AROUND), { content, bytes: 4 })
  expect(Buffer.isBuffer(request)).toBe(true)
  expect(Buffer.from(request).subarray(-8)).toEqual(Buffer.concat([Buffer.from('\r\n\r\n'), content]))
  expect(request.toString('latin1')).toContain('content-type: image/png\r\n')
})

const TRACE = { parent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, state: 'a=1' }
const tracesIn = (headers: readonly string[]) => headers.filter((text) => /^trace|^00-|^a=1$/i.test(text))

test('a trace context is sent as the two headers of the standard', () => {
  const { state: _, ...stateless } = TRACE
  expect(tracesIn(headersToSend(callWith({ trace: TRACE }), NO_BODY, AROUND))).toEqual([
    'traceparent',
    TRACE.parent,
    'tracestate',
    'a=1',
  ])
  expect(tracesIn(headersToSend(callWith({ trace: stateless }), NO_BODY, AROUND))).toEqual([
    'traceparent',
    TRACE.parent,
  ])
  expect(tracesIn(headersToSend(callWith({}), NO_BODY, AROUND))).toEqual([])
})

test.each(['Traceparent', 'traceState'])(
  'a job with a header %s of its own is sent no other context',
  (name) => {
    const call = callWith({ trace: TRACE, headers: { [name]: 'own' } })
    expect(tracesIn(headersToSend(call, NO_BODY, AROUND))).toEqual([name])
  },
)
