import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaOf } from '../../../support/rules/contract-document.ts'
import { read } from '../../../support/engine/push-fixture.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\ud800', 'x'.repeat(3000)),
)
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: -2, max: 400 }),
  fc.constantFrom(null, '', 0, 1e308, 86_400, 86_401, true, [], {}),
  text,
)
const url = fc.oneof(
  { weight: 30, arbitrary: fc.webUrl({ withQueryParameters: true, withFragments: true }) },
  fc.webUrl().map((value) => value.replace('//', '//user@')),
  text,
  fc.constantFrom('http://127.0.0.1/', 'http://[::1]', 'HTTPS://EXAMPLE.COM', 'http:/x', 'http://x:99999'),
)
const nameOrNot = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^[A-Za-z-]{1,20}$/) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'Host', 'X-A', 'x-a', '') },
  { weight: 1, arbitrary: fc.string() },
)
const stringMap = fc.dictionary(nameOrNot, fc.stringMatching(/^[ -~]{0,20}$/), { maxKeys: 4 })
const mostly = <T>(good: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 25, arbitrary: good }, { weight: 1, arbitrary: anything })
const soon = fc.date({ min: new Date('2020-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })

/** A body whose fields are mostly right, each sometimes anything at all. */
const fields = fc.record(
  {
    queue: mostly(fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' })),
    url: mostly(url),
    method: mostly(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
    headers: mostly(stringMap),
    payload: mostly(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })),
    callback_url: mostly(url),
    timeout_seconds: mostly(fc.integer({ min: 1, max: 300 })),
    retry_delays: mostly(fc.array(fc.integer({ min: 1, max: 86_400 }), { minLength: 1, maxLength: 10 })),
    retries_enabled: mostly(fc.boolean()),
    tags: mostly(stringMap),
    callback_events: mostly(fc.constantFrom('terminal', 'every_attempt')),
  },
  { requiredKeys: ['queue', 'url'] },
)
const start = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.record({ delay: mostly(fc.integer({ min: 0, max: 86_400 })) }) },
  { weight: 4, arbitrary: fc.record({ run_at: mostly(soon.map((date) => date.toISOString())) }) },
  { weight: 1, arbitrary: fc.record({ delay: anything, run_at: anything, zork: anything }) },
)
const body = fc.tuple(fields, start).map(([given, when]) => ({ ...given, ...when }))

const schema = schemaOf('JobPush')

/** What the schema cannot say, by the texts of the refusals. */
const BEYOND_THE_SCHEMA =
  /valid URL|user name|blocked|valid Unicode|valid header|duplicate|controls the connection|set by Punctual|not a valid header name|8192 bytes|ISO 8601|days ahead|prohibits delay|required/

test('a push is a value, 400 or 422, and agrees with the schema of the contract', () => {
  const seen = { valid: 0, invalid: 0, malformed: 0 }
  fc.assert(
    fc.property(body, (value) => {
      const result = read(value)
      seen[result.kind] += 1
      if (result.kind === 'valid') {
        expect([schema(value), schema.errors]).toEqual([true, null])
      } else if (result.kind === 'invalid') {
        const { message, errors } = result.problem
        const texts = Object.values(errors).flat()
        expect(message).toBe(texts[0])
        if (schema(value)) expect(texts.filter((each) => !BEYOND_THE_SCHEMA.test(each))).toEqual([])
      }
    }),
    { numRuns: 2_000 },
  )
  expect(seen.valid).toBeGreaterThan(150)
  expect(seen.invalid).toBeGreaterThan(150)
})

test('whatever the bytes are, nothing is thrown', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.tuple(body, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([value, seat, put]) => {
      const source = Buffer.from(JSON.stringify(value))
      const at = seat % (source.length + 1)
      return Buffer.concat([source.subarray(0, at), put, source.subarray(at + put.length)])
    }),
  )
  fc.assert(
    fc.property(bytes, text, (given, key) => {
      const result = read(given, { idempotencyKey: key })
      expect(['valid', 'invalid', 'malformed']).toContain(result.kind)
    }),
    { numRuns: 2_000 },
  )
})

test('the payload kept is the source text given, and parses to the same value', () => {
  const space = fc.constantFrom('', ' ', '\n', '\t\r\n ')
  const payload = fc
    .tuple(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), fc.constantFrom(0, 1, 2))
    .map(([value, indent]) => JSON.stringify(value, null, indent))
  // Neighbours that talk about a payload without being one.
  const neighbours = fc.constantFrom(
    '',
    '"delay":5,',
    '"tags":{"payload":"{}"},',
    '"headers":{"payload":"\\"payload\\":{}"},',
    '"payload":{"earlier":[1]},',
    '"payload":null,',
  )
  fc.assert(
    fc.property(payload, neighbours, neighbours, space, space, (source, one, two, a, b) => {
      const twice = one === two ? '' : two
      const result = read(
        `{"queue":"q",${a}${one}${twice}"url":"https://example.com","payload"${a}:${b}${source}${a}}${b}`,
      )
      if (result.kind !== 'valid') throw new Error(JSON.stringify(result))
      const kept = result.value.request.payload
      expect(kept).toBe(source)
      expect(JSON.parse(kept ?? '')).toEqual(JSON.parse(source))
    }),
    { numRuns: 1_000 },
  )
})
