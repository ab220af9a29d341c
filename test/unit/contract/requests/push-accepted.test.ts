import { describe, expect, test } from 'vitest'
import { accepted, GOOD, NOW_MS, read, refused } from '../../../support/engine/push-fixture.ts'
import { cpuMsOf } from '../../../support/cpu-ms.ts'

describe('what is accepted', () => {
  test('the smallest push gets the defaults', () => {
    expect(accepted(GOOD)).toEqual({
      queue: 'emails',
      request: {
        url: 'https://example.com/hook',
        method: 'POST',
        headers: {},
        payload: null,
        callbackUrl: null,
        callbackEvents: null,
        tags: {},
        timeoutSeconds: null,
        retryDelays: null,
        retriesEnabled: null,
        successAssertions: null,
        cron: null,
      },
      start: { delaySeconds: 0 },
      idempotency: null,
    })
  })

  test('everything at its bounds', () => {
    const emoji = '\u{1f4e7}'
    const headers = Object.fromEntries(
      Array.from({ length: 64 }, (_, i) => [`X-${i}`, 'v'.repeat(8192 / 64)]),
    )
    headers['X-0'] = 'a'.repeat(8192)
    const push = accepted({
      queue: emoji.repeat(255),
      url: `https://example.com/${'a'.repeat(2028)}`,
      method: 'DELETE',
      headers,
      payload: {},
      callback_url: 'http://bücher.example/x?y=1#z',
      delay: 86_400,
      timeout_seconds: 300,
      retry_delays: [1, 86_400, 3, 4, 5, 6, 7, 8, 9, 10],
      retries_enabled: false,
      tags: Object.fromEntries(
        Array.from({ length: 8 }, (_, i) => [`${i}${'t'.repeat(63)}`, 'v'.repeat(256)]),
      ),
      callback_events: 'every_attempt',
    })
    expect(push.request.headers).toEqual(headers)
    expect(push.request.payload).toBe('{}')
    expect(push.start).toEqual({ delaySeconds: 86_400 })
    expect(push.request).toMatchObject({
      retriesEnabled: false,
      callbackEvents: 'every_attempt',
      callbackUrl: 'http://bücher.example/x?y=1#z',
      timeoutSeconds: 300,
    })
    expect(push.request.retryDelays).toHaveLength(10)
  })

  test('null in an optional field is absent', () => {
    const nulls = `"method":null,"headers":null,"payload":null,"callback_url":null,"delay":null,"run_at":null,
      "timeout_seconds":null,"retry_delays":null,"retries_enabled":null,"tags":null,"callback_events":null`
    expect(accepted(`{"queue":"emails","url":"${GOOD.url}",${nulls}}`)).toEqual(accepted(GOOD))
  })

  test('any text is a queue name', () => {
    for (const queue of [' ', 'a:b', '{a}', '\u0000', 'a\nb', '__proto__', '日本', 'q'.repeat(255)]) {
      expect(accepted({ ...GOOD, queue }).queue).toBe(queue)
    }
  })

  test.each([
    ['5.0', 5],
    ['1e2', 100],
    ['-0', 0],
    ['-0.0', 0],
  ])('%s is an integer', (source, delaySeconds) => {
    const push = accepted(`{"queue":"q","url":"${GOOD.url}","delay":${source}}`)
    expect(Object.is((push.start as { delaySeconds: number }).delaySeconds, delaySeconds)).toBe(true)
  })

  test.each([
    ['2026-11-21T10:00:00Z', NOW_MS],
    ['2026-11-21T12:30:00+02:30', NOW_MS],
    ['2026-11-21T05:00-0500', NOW_MS],
    ['2026-11-21T11:00:00.250+01', NOW_MS + 250],
    ['2026-11-21t10:00:00,123456789z', NOW_MS + 123],
    ['1970-01-01T00:00:00Z', 0],
    ['0050-01-01T00:00:00Z', Date.parse('0050-01-01T00:00:00Z')],
    ['2027-11-22T10:00:00Z', NOW_MS + 366 * 86_400_000],
  ])('run_at %s', (run_at, runAtMs) => {
    expect(accepted({ ...GOOD, run_at }).start).toEqual({ runAtMs })
  })

  test.each(['24:00:00Z', '10:60:00Z', '10:00:60Z', '10:00:00+24:00', '10:00:00+01:60', '10Z', '10:00:00 Z'])(
    'the time %s is none',
    (time) => {
      expect(Object.keys(refused({ ...GOOD, run_at: `2026-12-01T${time}` }).errors)).toEqual(['run_at'])
    },
  )

  test('names from Object.prototype are entries like any other', () => {
    const push = accepted(
      `{"queue":"q","url":"${GOOD.url}","headers":{"__proto__":"a","constructor":"b"},"tags":{"__proto__":"c"}}`,
    )
    expect(Object.entries(push.request.headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
    expect(Object.entries(push.request.tags)).toEqual([['__proto__', 'c']])
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
  })
})

describe('the payload is its exact source text', () => {
  test.each([
    '{"n":12345678901234567890.100,"z":1,"a":2,"2":0,"1":0}',
    '{ "a" : [ 1 , 2.0e5 ] }',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{"s":"\\u0041\\/ü\\ud800"}',
    '{"payload":{"payload":{}}}',
    '{"a":"}{][\\"\\\\"}',
    `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`,
  ])('%s', (source) => {
    const text = `{"queue":"q","payload" : \n${source}\t,"url":"${GOOD.url}"}`
    expect(accepted(text).request.payload).toBe(source)
  })

  test('of two payloads the later counts, as with JSON.parse', () => {
    const text = `{"payload":{"a":1},"queue":"q","url":"${GOOD.url}","pay\\u006coad":{"b":2}}`
    expect(accepted(text).request.payload).toBe('{"b":2}')
    expect(accepted(`{"queue":1,"queue":"q","url":"${GOOD.url}"}`).queue).toBe('q')
  })

  test('a later payload of the wrong kind counts too', () => {
    const text = `{"payload":{"a":1},"queue":"q","url":"${GOOD.url}","payload":[]}`
    expect(refused(text).message).toBe('The payload field must be an object.')
    expect(accepted(text.replace('[]', 'null')).request.payload).toBeNull()
  })
})

describe('malformed bodies', () => {
  test.each([
    ['', 'Malformed JSON at position 0 (line 1, column 1): the body ends early.'],
    ['{', 'Malformed JSON at position 1 (line 1, column 2): the body ends early.'],
    ['{"a":1,}', 'Malformed JSON at position 7 (line 1, column 8).'],
    ['{"a":1\n,\n"b" 2}', 'Malformed JSON at position 13 (line 3, column 5).'],
    ["{'a':1}", 'Malformed JSON at position 1 (line 1, column 2).'],
    ['{"a":01}', 'Malformed JSON at position 6 (line 1, column 7).'],
    ['{"a":NaN}', 'Malformed JSON at position 5 (line 1, column 6).'],
    ['{"a":Infinity}', 'Malformed JSON at position 5 (line 1, column 6).'],
    ['{"a":"\t"}', 'Malformed JSON at position 6 (line 1, column 7).'],
    ['{} {}', 'Malformed JSON at position 3 (line 1, column 4).'],
    ['\ufeff{}', 'Malformed JSON at position 0 (line 1, column 1).'],
    ['[1]', 'The body must be a JSON object, at position 0 (line 1, column 1).'],
    [' "x"', 'The body must be a JSON object, at position 1 (line 1, column 2).'],
    ['null', 'The body must be a JSON object, at position 0 (line 1, column 1).'],
  ])('%j', (text, error) => {
    expect(read(text)).toEqual({ kind: 'malformed', error })
  })

  test('bytes that are no UTF-8', () => {
    expect(read(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({
      kind: 'malformed',
      error: 'Malformed UTF-8 at position 1 (line 1, column 2).',
    })
  })

  test('half a million levels are refused in time and without a stack overflow', () => {
    const deep = `{"queue":"q","url":"${GOOD.url}","payload":${'['.repeat(500_000)}`
    const spentMs = cpuMsOf(() => {
      expect(read(deep)).toMatchObject({ kind: 'malformed' })
      expect(refused(`${deep}${']'.repeat(500_000)}}`).message).toBe(
        'The payload field must not be nested deeper than 64 levels.',
      )
    })
    expect(spentMs).toBeLessThan(1_000)
  })
})
