import { describe, expect, test } from 'vitest'
import { accepted, GOOD, NOW_MS, read, refused } from '../../../support/engine/push-fixture.ts'

describe('every mistake has its field and text', () => {
  const emoji = '\u{1f4e7}'
  test.each<[string, unknown, string, string]>([
    ['queue missing', { url: GOOD.url }, 'queue', 'The queue field is required.'],
    ['queue null', { ...GOOD, queue: null }, 'queue', 'The queue field is required.'],
    ['queue empty', { ...GOOD, queue: '' }, 'queue', 'The queue field is required.'],
    ['queue a number', { ...GOOD, queue: 5 }, 'queue', 'The queue field must be a string.'],
    ['queue a list', { ...GOOD, queue: ['a'] }, 'queue', 'The queue field must be a string.'],
    [
      'queue too long',
      { ...GOOD, queue: 'q'.repeat(256) },
      'queue',
      'The queue field must not be greater than 255 characters.',
    ],
    [
      'queue too long in code points',
      { ...GOOD, queue: emoji.repeat(256) },
      'queue',
      'The queue field must not be greater than 255 characters.',
    ],
    [
      'queue with a lone surrogate',
      `{"queue":"a\\ud800","url":"${GOOD.url}"}`,
      'queue',
      'The queue field must be valid Unicode text.',
    ],
    ['url missing', { queue: 'q' }, 'url', 'The url field is required.'],
    ['url null', { ...GOOD, url: null }, 'url', 'The url field is required.'],
    ['url empty', { ...GOOD, url: '' }, 'url', 'The url field is required.'],
    ['url a number', { ...GOOD, url: 1 }, 'url', 'The url field must be a string.'],
    ['url no url', { ...GOOD, url: 'nonsense' }, 'url', 'The url field must be a valid URL.'],
    ['url ftp', { ...GOOD, url: 'ftp://example.com' }, 'url', 'The url field must be a valid URL.'],
    ['url without host', { ...GOOD, url: 'http://' }, 'url', 'The url field must be a valid URL.'],
    ['url without host 2', { ...GOOD, url: 'http:///path' }, 'url', 'The url field must be a valid URL.'],
    ['url opaque', { ...GOOD, url: 'http:example.com' }, 'url', 'The url field must be a valid URL.'],
    ['url one slash', { ...GOOD, url: 'http:/example.com' }, 'url', 'The url field must be a valid URL.'],
    ['url backslash', { ...GOOD, url: 'http:\\\\example.com' }, 'url', 'The url field must be a valid URL.'],
    ['url port 0', { ...GOOD, url: 'http://example.com:0/' }, 'url', 'The url field must be a valid URL.'],
    ['url of a dot', { ...GOOD, url: 'http://./' }, 'url', 'The url field must be a valid URL.'],
    ['url empty label', { ...GOOD, url: 'http://a%2e%2eb/' }, 'url', 'The url field must be a valid URL.'],
    [
      'url long label',
      { ...GOOD, url: `http://${'ü'.repeat(60)}.test/` },
      'url',
      'The url field must be a valid URL.',
    ],
    ['url blank', { ...GOOD, url: ' https://example.com' }, 'url', 'The url field must be a valid URL.'],
    ['url line feed', { ...GOOD, url: 'https://exa\nmple.com' }, 'url', 'The url field must be a valid URL.'],
    [
      'url bad port',
      { ...GOOD, url: 'https://example.com:70000' },
      'url',
      'The url field must be a valid URL.',
    ],
    [
      'url user',
      { ...GOOD, url: 'https://u:p@example.com' },
      'url',
      'The url field must not contain a user name or password.',
    ],
    [
      'url empty user',
      { ...GOOD, url: 'https://@example.com' },
      'url',
      'The url field must not contain a user name or password.',
    ],
    [
      'url too long',
      { ...GOOD, url: `https://example.com/${'a'.repeat(2029)}` },
      'url',
      'The url field must not be greater than 2048 characters.',
    ],
    [
      'url blocked',
      { ...GOOD, url: 'http://127.0.0.1:6379/' },
      'url',
      'The url field must not point to a blocked address.',
    ],
    [
      'url blocked by another spelling',
      { ...GOOD, url: 'http://0x7f.1/' },
      'url',
      'The url field must not point to a blocked address.',
    ],
    ['method lower case', { ...GOOD, method: 'get' }, 'method', 'The selected method is invalid.'],
    ['method empty', { ...GOOD, method: '' }, 'method', 'The selected method is invalid.'],
    ['method HEAD', { ...GOOD, method: 'HEAD' }, 'method', 'The selected method is invalid.'],
    ['method a number', { ...GOOD, method: 1 }, 'method', 'The selected method is invalid.'],
    ['headers a list', { ...GOOD, headers: [] }, 'headers', 'The headers field must be an object.'],
    ['headers a string', { ...GOOD, headers: 'a: b' }, 'headers', 'The headers field must be an object.'],
    [
      'headers too many',
      { ...GOOD, headers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`X-${i}`, 'v'])) },
      'headers',
      'The headers field must not have more than 64 items.',
    ],
    [
      'header name empty',
      { ...GOOD, headers: { '': 'v' } },
      'headers',
      'The headers field must have names of 1 to 256 characters.',
    ],
    [
      'header name too long',
      { ...GOOD, headers: { ['x'.repeat(257)]: 'v' } },
      'headers',
      'The headers field must have names of 1 to 256 characters.',
    ],
    [
      'header name with a lone surrogate',
      `{"queue":"q","url":"${GOOD.url}","headers":{"\\udc00":"v"}}`,
      'headers',
      'The headers field must be valid Unicode text.',
    ],
    [
      'header value a number',
      { ...GOOD, headers: { 'X-A': 1 } },
      'headers.X-A',
      'The headers.X-A field must be a string.',
    ],
    [
      'header value null',
      { ...GOOD, headers: { X_A: null } },
      'headers.X_A',
      'The headers.X_A field must be a string.',
    ],
    [
      'header value with CRLF',
      { ...GOOD, headers: { 'X-A': 'a\r\nX-B: c' } },
      'headers.X-A',
      'The headers.X-A field must be a valid header value.',
    ],
    [
      'header value outside ASCII',
      { ...GOOD, headers: { 'X-A': '\u010a' } },
      'headers.X-A',
      'The headers.X-A field must be a valid header value.',
    ],
    [
      'header value too long',
      { ...GOOD, headers: { 'X-A': 'a'.repeat(8193) } },
      'headers.X-A',
      'The headers.X-A field must not be greater than 8192 bytes.',
    ],
    [
      'header Host',
      { ...GOOD, headers: { Host: 'x' } },
      'headers.Host',
      'The headers.Host field controls the connection and cannot be set.',
    ],
    [
      'header of ours',
      { ...GOOD, headers: { 'webhook-id': 'x' } },
      'headers.webhook-id',
      'The headers.webhook-id field is set by Punctual and cannot be given.',
    ],
    [
      'header name not a token',
      { ...GOOD, headers: { 'a b': 'x' } },
      'headers.a b',
      'The headers.a b field is not a valid header name.',
    ],
    [
      'header twice',
      { ...GOOD, headers: { 'X-A': '1', 'x-a': '2' } },
      'headers.x-a',
      'The headers.x-a field has a duplicate value.',
    ],
    ['payload a list', { ...GOOD, payload: [1] }, 'payload', 'The payload field must be an object.'],
    ['payload a string', { ...GOOD, payload: '{}' }, 'payload', 'The payload field must be an object.'],
    ['payload empty text', { ...GOOD, payload: '' }, 'payload', 'The payload field must be an object.'],
    ['payload false', { ...GOOD, payload: false }, 'payload', 'The payload field must be an object.'],
    [
      'payload too deep',
      `{"queue":"q","url":"${GOOD.url}","payload":${'{"a":'.repeat(64)}{}${'}'.repeat(64)}}`,
      'payload',
      'The payload field must not be nested deeper than 64 levels.',
    ],
    [
      'headers too deep',
      `{"queue":"q","url":"${GOOD.url}","headers":${'['.repeat(65)}${']'.repeat(65)}}`,
      'headers',
      'The headers field must not be nested deeper than 64 levels.',
    ],
    [
      'callback_url bad',
      { ...GOOD, callback_url: 'x' },
      'callback_url',
      'The callback url field must be a valid URL.',
    ],
    [
      'callback_url empty',
      { ...GOOD, callback_url: '' },
      'callback_url',
      'The callback url field must be a valid URL.',
    ],
    [
      'callback_url too long',
      { ...GOOD, callback_url: `https://e.com/${'a'.repeat(2048)}` },
      'callback_url',
      'The callback url field must not be greater than 2048 characters.',
    ],
    [
      'callback_url blocked',
      { ...GOOD, callback_url: 'http://127.0.0.1' },
      'callback_url',
      'The callback url field must not point to a blocked address.',
    ],
    ['delay a string', { ...GOOD, delay: '300' }, 'delay', 'The delay field must be an integer.'],
    ['delay a fraction', { ...GOOD, delay: 1.5 }, 'delay', 'The delay field must be an integer.'],
    ['delay true', { ...GOOD, delay: true }, 'delay', 'The delay field must be an integer.'],
    [
      'delay infinite',
      `{"queue":"q","url":"${GOOD.url}","delay":1e400}`,
      'delay',
      'The delay field must be an integer.',
    ],
    ['delay below', { ...GOOD, delay: -1 }, 'delay', 'The delay field must be between 0 and 86400.'],
    ['delay above', { ...GOOD, delay: 86_401 }, 'delay', 'The delay field must be between 0 and 86400.'],
    ['run_at a number', { ...GOOD, run_at: 5 }, 'run_at', 'The run at field must be a string.'],
    [
      'run_at without offset',
      { ...GOOD, run_at: '2026-12-01T10:00:00' },
      'run_at',
      'The run at field must be a valid ISO 8601 timestamp with an offset.',
    ],
    [
      'run_at on no day',
      { ...GOOD, run_at: '2027-02-30T10:00:00Z' },
      'run_at',
      'The run at field must be a valid ISO 8601 timestamp with an offset.',
    ],
    [
      'run_at too far',
      { ...GOOD, run_at: '2027-11-22T10:00:00.001Z' },
      'run_at',
      'The run at field must not be more than 366 days ahead.',
    ],
    [
      'run_at with delay',
      { ...GOOD, delay: 0, run_at: '2026-12-01T10:00:00Z' },
      'run_at',
      'The run at field prohibits delay from being present.',
    ],
    [
      'timeout_seconds a string',
      { ...GOOD, timeout_seconds: '30' },
      'timeout_seconds',
      'The timeout seconds field must be an integer.',
    ],
    [
      'timeout_seconds above',
      { ...GOOD, timeout_seconds: 301 },
      'timeout_seconds',
      'The timeout seconds field must be between 1 and 300.',
    ],
    [
      'timeout_seconds zero',
      { ...GOOD, timeout_seconds: 0 },
      'timeout_seconds',
      'The timeout seconds field must be between 1 and 300.',
    ],
    [
      'retry_delays an object',
      { ...GOOD, retry_delays: {} },
      'retry_delays',
      'The retry delays field must be an array.',
    ],
    [
      'retry_delays empty',
      { ...GOOD, retry_delays: [] },
      'retry_delays',
      'The retry delays field must have between 1 and 10 items.',
    ],
    [
      'retry_delays eleven',
      { ...GOOD, retry_delays: Array(11).fill(1) },
      'retry_delays',
      'The retry delays field must have between 1 and 10 items.',
    ],
    [
      'retry_delays with a string',
      { ...GOOD, retry_delays: ['60'] },
      'retry_delays.0',
      'The retry_delays.0 field must be an integer.',
    ],
    [
      'retry_delays with null',
      { ...GOOD, retry_delays: [1, null] },
      'retry_delays.1',
      'The retry_delays.1 field must be an integer.',
    ],
    [
      'retry_delays with zero',
      { ...GOOD, retry_delays: [1, 2, 0] },
      'retry_delays.2',
      'The retry_delays.2 field must be between 1 and 86400.',
    ],
    [
      'retries_enabled a number',
      { ...GOOD, retries_enabled: 1 },
      'retries_enabled',
      'The retries enabled field must be true or false.',
    ],
    ['tags a list', { ...GOOD, tags: ['a'] }, 'tags', 'The tags field must be an object.'],
    [
      'tags too many',
      { ...GOOD, tags: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`t${i}`, 'v'])) },
      'tags',
      'The tags field must not have more than 8 items.',
    ],
    [
      'tag name too long',
      { ...GOOD, tags: { ['t'.repeat(65)]: 'v' } },
      'tags',
      'The tags field must have names of 1 to 64 characters.',
    ],
    ['tag a number', { ...GOOD, tags: { a: 1 } }, 'tags.a', 'The tags.a field must be a string.'],
    ['tag null', { ...GOOD, tags: { a: null } }, 'tags.a', 'The tags.a field must be a string.'],
    [
      'tag too long',
      { ...GOOD, tags: { a: 'v'.repeat(257) } },
      'tags.a',
      'The tags.a field must not be greater than 256 characters.',
    ],
    [
      'callback_events unknown',
      { ...GOOD, callback_events: 'all' },
      'callback_events',
      'The selected callback events is invalid.',
    ],
    ['an unknown field', { ...GOOD, callback_ulr: 1 }, 'callback_ulr', 'The callback_ulr field is unknown.'],
    [
      '__proto__ at the top',
      `{"queue":"q","url":"${GOOD.url}","__proto__":{"delay":5}}`,
      '__proto__',
      'The __proto__ field is unknown.',
    ],
  ])('%s', (_name, body, field, text) => {
    const problem = refused(body)
    expect(Object.entries(problem.errors)).toEqual([[field, [text]]])
    expect(problem.message).toBe(text)
  })
})

describe('the order of errors', () => {
  test('has unknown fields whose name is a whole number first, and the message is of the first', () => {
    const problem = refused('{"zork":1,"10":1,"7":1}')
    expect(Object.keys(problem.errors)).toEqual(['7', '10', 'queue', 'url', 'zork'])
    expect(problem.message).toBe('The 7 field is unknown.')
  })

  test('is the contract’s, whatever the body’s, unknown fields last', () => {
    const problem = refused(
      {
        zork: 1,
        callback_events: 1,
        tags: 1,
        retries_enabled: 1,
        retry_delays: ['x', 0],
        timeout_seconds: 'x',
        run_at: 'x',
        delay: 'x',
        callback_url: 'x',
        payload: 1,
        headers: 1,
        method: 'x',
        url: 'x',
      },
      { idempotencyKey: 'a b' },
    )
    expect(Object.keys(problem.errors)).toEqual([
      'queue',
      'url',
      'method',
      'headers',
      'payload',
      'callback_url',
      'delay',
      'run_at',
      'timeout_seconds',
      'retry_delays.0',
      'retry_delays.1',
      'retries_enabled',
      'tags',
      'callback_events',
      'idempotency_key',
      'zork',
    ])
    expect(problem.message).toBe('The queue field is required.')
  })
})

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
    const startedMs = performance.now()
    const deep = `{"queue":"q","url":"${GOOD.url}","payload":${'['.repeat(500_000)}`
    expect(read(deep)).toMatchObject({ kind: 'malformed' })
    expect(refused(`${deep}${']'.repeat(500_000)}}`).message).toBe(
      'The payload field must not be nested deeper than 64 levels.',
    )
    expect(performance.now() - startedMs).toBeLessThan(2_000)
  })
})
