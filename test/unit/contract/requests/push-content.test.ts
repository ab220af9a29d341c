import { describe, expect, test } from 'vitest'
import { accepted, GOOD, refused } from '../../../support/engine/push-fixture.ts'

const KEYED = { idempotencyKey: 'a' }

/** The content of a push whose further fields are this source text. */
function contentOf(fields: string) {
  const { request } = accepted(`${JSON.stringify(GOOD).slice(0, -1)},${fields}}`)
  const { payload, bodyEncoding, headers } = request
  return { payload, bodyEncoding, headers }
}

describe('a body', () => {
  test.each([
    ['a text', '"body": "<a/>\\n"', '<a/>\n', 'text'],
    ['an empty text', '"body": ""', '', 'text'],
    ['an array as written', '"body": [1.50,\n 2]', '[1.50,\n 2]', 'json'],
    ['a number with its digits', '"body": 12345678901234567890', '12345678901234567890', 'json'],
    ['an object', '"body": {"a":1}', '{"a":1}', 'json'],
    ['a string that is to be JSON', '"body": "a\\u0062", "body_encoding": "json"', '"a\\u0062"', 'json'],
    ['bytes', '"body": "AP8=", "body_encoding": "base64"', 'AP8=', 'base64'],
    ['a text that is named so', '"body": "AP8=", "body_encoding": "text"', 'AP8=', 'text'],
  ])('is %s', (_what, fields, payload, bodyEncoding) => {
    expect(contentOf(fields)).toEqual({ payload, bodyEncoding, headers: {} })
  })

  test('is not there when it is null', () => {
    expect(contentOf('"body": null, "body_encoding": null, "content_type": null')).toEqual({
      payload: null,
      bodyEncoding: undefined,
      headers: {},
    })
  })

  test.each<[object, string, string]>([
    [{ body: 'a', payload: {} }, 'body', 'The body field prohibits payload from being present.'],
    [{ body_encoding: 'text' }, 'body', 'The body field must have a value.'],
    [{ body: [], body_encoding: 'text' }, 'body', 'The body field must be a string.'],
    [{ body: 1, body_encoding: 'base64' }, 'body', 'The body field must be a string.'],
    [{ body: 'a', body_encoding: 'hex' }, 'body_encoding', 'The selected body encoding is invalid.'],
  ])('%j is refused', (fields, field, text) => {
    expect(refused({ ...GOOD, ...fields }).errors).toEqual({ [field]: [text] })
  })

  test.each(['AP8', 'AP9=', 'AP8=\n', 'A-_=', '====', 'AP8=AP8='])('is not the base64 %j', (body) => {
    expect(refused({ ...GOOD, body, body_encoding: 'base64' }).errors).toEqual({
      body: ['The body field must be base64 with its padding.'],
    })
  })

  test('has no lone surrogates, which have no UTF-8', () => {
    const body = `${JSON.stringify(GOOD).slice(0, -1)},"body":"\\ud800"}`
    expect(refused(body).errors).toEqual({ body: ['The body field must be valid Unicode text.'] })
  })
})

describe('a content type', () => {
  test('is a header of the request, with a payload too', () => {
    const type = 'application/cloudevents+json; charset=utf-8'
    const { request } = accepted({ ...GOOD, payload: {}, headers: { 'X-A': '1' }, content_type: type })
    expect(Object.entries(request.headers)).toEqual([
      ['X-A', '1'],
      ['Content-Type', type],
    ])
  })

  test.each([
    [{ content_type: 'text' }, 'must be a media type such as text/xml; charset=utf-8.'],
    [{ content_type: '' }, 'must be a media type such as text/xml; charset=utf-8.'],
    [{ content_type: 'text/xml\r\nX-B: 1' }, 'must be a media type such as text/xml; charset=utf-8.'],
    [{ content_type: `text/${'x'.repeat(252)}` }, 'must be a media type such as text/xml; charset=utf-8.'],
    [{ content_type: 1 }, 'must be a string.'],
    [
      { content_type: 'text/xml', headers: { 'content-TYPE': 'a/b' } },
      'prohibits headers.content-TYPE from being present.',
    ],
  ])('%j is refused', (fields, predicate) => {
    expect(refused({ ...GOOD, ...fields }).errors).toEqual({
      content_type: [`The content type field ${predicate}`],
    })
  })

  test('of 256 characters is the longest', () => {
    const type = `text/${'x'.repeat(251)}`
    expect(accepted({ ...GOOD, content_type: type }).request.headers).toEqual({ 'Content-Type': type })
  })
})

test('a text, the same as JSON and the same as base64 are different requests for an idempotency key', () => {
  const fingerprints = [
    { body: '[1]' },
    { body: [1] },
    { body: 'WzFd', body_encoding: 'base64' },
    { body: 'WzFd' },
  ].map((fields) => accepted({ ...GOOD, ...fields }, KEYED).idempotency?.fingerprint)
  expect(new Set(fingerprints).size).toBe(4)
})
