import { describe, expect, test } from 'vitest'
import { readCronEdit, readCronPreview, readNewCron } from '../../../../src/contract/requests/cron-request.ts'
import { toCreatedCron, toWireCron } from '../../../../src/contract/responses/cron-wire.ts'
import { DEFAULT_CRON_SETTINGS } from '../../../../src/domain/crons/cron.ts'

const context = { isBlocked: (url: URL) => url.hostname === '169.254.169.254' }
const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
const createUnder = (idempotencyKey: string | undefined, body: unknown) =>
  readNewCron(bytes(body), { ...context, idempotencyKey })
const create = (body: unknown) => {
  const read = createUnder(undefined, body)
  return read.kind === 'valid' ? { ...read, value: read.value.settings } : read
}
const edit = (body: unknown) => readCronEdit(bytes(body), context)
const preview = (body: unknown) => readCronPreview(bytes(body))

const NEEDED = { name: 'Nightly', url: 'https://example.com/report', cron_expression: '0 3 * * *' }
const SETTINGS = {
  ...DEFAULT_CRON_SETTINGS,
  displayName: 'Nightly',
  url: 'https://example.com/report',
  cronExpression: '0 3 * * *',
}
const ZONE_TEXT = 'must be the IANA name of a time zone, such as Europe/Berlin or UTC;'

describe('every mistake has its field and text', () => {
  test.each<[Record<string, unknown>, string, string]>([
    [{ name: undefined }, 'name', 'The name field is required.'],
    [{ name: '' }, 'name', 'The name field is required.'],
    [{ name: 5 }, 'name', 'The name field must be a string.'],
    [{ name: '𝄞'.repeat(256) }, 'name', 'The name field must not be greater than 255 characters.'],
    [{ url: undefined }, 'url', 'The url field is required.'],
    [{ url: 'ftp://example.com' }, 'url', 'The url field must be a valid URL.'],
    [{ url: 'http://169.254.169.254/' }, 'url', 'The url field must not point to a blocked address.'],
    [{ method: 'HEAD' }, 'method', 'The selected method is invalid.'],
    [{ headers: [] }, 'headers', 'The headers field must be an object.'],
    [{ payload: 5 }, 'payload', 'The payload field must be a string or an object.'],
    [{ payload: [] }, 'payload', 'The payload field must be a string or an object.'],
    [
      { payload: 'x'.repeat(262_145) },
      'payload',
      'The payload field must not be greater than 262144 characters.',
    ],
    [{ callback_url: 'x' }, 'callback_url', 'The callback url field must be a valid URL.'],
    [{ cron_expression: undefined }, 'cron_expression', 'A cron expression is required.'],
    [{ cron_expression: null }, 'cron_expression', 'A cron expression is required.'],
    [{ cron_expression: '' }, 'cron_expression', 'A cron expression is required.'],
    [{ cron_expression: 5 }, 'cron_expression', 'The cron expression field must be a string.'],
    [
      { cron_expression: '0 0 3 * * *' },
      'cron_expression',
      'The cron expression field must have five fields: minute, hour, day of month, month, day of week; this one has 6.',
    ],
    [
      { cron_expression: '@daily' },
      'cron_expression',
      'The cron expression field must have five fields: minute, hour, day of month, month, day of week; names such as "@daily" are not allowed.',
    ],
    [
      { cron_expression: '*/0 * * * *' },
      'cron_expression',
      'The cron expression field has "*/0" as minute: a step is 1 to 59.',
    ],
    [
      { cron_expression: '0 0 31 2 *' },
      'cron_expression',
      'The cron expression field never comes: none of its months has a day 31.',
    ],
    [
      { cron_expression: '0'.repeat(256) },
      'cron_expression',
      'The cron expression field must not be greater than 255 characters.',
    ],
    [{ timeout_seconds: 0 }, 'timeout_seconds', 'The timeout seconds field must be between 1 and 300.'],
    [{ alert_threshold: 4 }, 'alert_threshold', 'The alert threshold field must be between 1 and 3.'],
    [{ alert_threshold: '2' }, 'alert_threshold', 'The alert threshold field must be an integer.'],
    [{ success_assertions: {} }, 'success_assertions', 'The success assertions field must be an array.'],
    [{ is_active: 1 }, 'is_active', 'The is active field must be true or false.'],
    [{ time_zone: 2 }, 'time_zone', 'The time zone field must be a string.'],
    [{ time_zone: 'Mars/Base' }, 'time_zone', `The time zone field ${ZONE_TEXT} "Mars/Base" is none.`],
    [
      { time_zone: '+02:00' },
      'time_zone',
      `The time zone field ${ZONE_TEXT} "+02:00" is none. Use Etc/GMT-2.`,
    ],
    [
      { time_zone: 'CST' },
      'time_zone',
      `The time zone field ${ZONE_TEXT} "CST" is none. Use America/Chicago or Asia/Shanghai.`,
    ],
    [
      { time_zone: 'x'.repeat(300) },
      'time_zone',
      `The time zone field ${ZONE_TEXT} "${'x'.repeat(63)}…" is none.`,
    ],
    [{ record_responses: true }, 'record_responses', 'The selected record responses is invalid.'],
    [{ concurrency_policy: 'Forbid' }, 'concurrency_policy', 'The selected concurrency policy is invalid.'],
    [{ missed_run_policy: 'none' }, 'missed_run_policy', 'The selected missed run policy is invalid.'],
    [
      { starting_deadline_seconds: 0 },
      'starting_deadline_seconds',
      'The starting deadline seconds field must be between 1 and 86400.',
    ],
    [{ jitter_seconds: 3601 }, 'jitter_seconds', 'The jitter seconds field must be between 0 and 3600.'],
    [{ queue: '' }, 'queue', 'The queue field is required.'],
    [{ queue: 'q'.repeat(256) }, 'queue', 'The queue field must not be greater than 255 characters.'],
    [{ retries: 3 }, 'retries', 'The retries field is unknown.'],
  ])('%j', (change, field, text) => {
    expect(create({ ...NEEDED, ...change })).toEqual({
      kind: 'invalid',
      problem: { message: text, errors: { [field]: [text] } },
    })
    // What a new cron lacks, an edit leaves as it is.
    const [value] = Object.values(change)
    if (value === undefined || value === null) return
    expect(edit(change)).toMatchObject({ kind: 'invalid', problem: { message: text } })
  })

  test('all at once, in the order of the contract, unknown fields last', () => {
    const result = create({ extra: 1, time_zone: 'x', alert_threshold: 0, cron_expression: 'x', method: 'x' })
    expect(result.kind === 'invalid' && Object.keys(result.problem.errors)).toEqual([
      'name',
      'url',
      'method',
      'cron_expression',
      'alert_threshold',
      'time_zone',
      'extra',
    ])
  })

  test('what is too deep is said once', () => {
    const deep = `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`
    const text = `{"name":"n","url":"https://example.com","cron_expression":"0 3 * * *","payload":${deep}}`
    const said = 'The payload field must not be nested deeper than 64 levels.'
    expect(create(text)).toEqual({
      kind: 'invalid',
      problem: { message: said, errors: { payload: [said] } },
    })
  })
})

describe('what is accepted', () => {
  test('the least, with all defaults', () => {
    expect(create(NEEDED)).toEqual({ kind: 'valid', value: SETTINGS })
  })

  test('null is absent', () => {
    const optional = ['method', 'headers', 'payload', 'callback_url', 'timeout_seconds', 'alert_threshold']
    const more = ['success_assertions', 'is_active', 'time_zone', 'concurrency_policy', 'missed_run_policy']
    const rest = ['starting_deadline_seconds', 'jitter_seconds', 'queue', 'record_responses']
    const nulls = Object.fromEntries([...optional, ...more, ...rest].map((field) => [field, null]))
    expect(create({ ...NEEDED, ...nulls })).toEqual({ kind: 'valid', value: SETTINGS })
  })

  test.each([
    ['"as it is"', 'as it is'],
    ['""', ''],
    ['{ "n": 12345678901234567890.10, "n2":1.0 }', '{ "n": 12345678901234567890.10, "n2":1.0 }'],
  ])('the payload %s is sent as %s', (source, payload) => {
    const text = `${JSON.stringify(NEEDED).slice(0, -1)},"payload":${source}}`
    expect(create(text)).toMatchObject({ kind: 'valid', value: { payload } })
  })

  test('every field, and it is shown as it was given', () => {
    const body = {
      ...NEEDED,
      method: 'PUT',
      headers: { 'X-A': '1' },
      payload: '<a/>',
      callback_url: 'https://example.com/done',
      timeout_seconds: 60,
      alert_threshold: 3,
      success_assertions: [{ type: 'status_code_equals', value: 404 }],
      is_active: false,
      time_zone: 'Europe/Berlin',
      concurrency_policy: 'forbid',
      missed_run_policy: 'all',
      starting_deadline_seconds: 600,
      jitter_seconds: 30,
      queue: 'reports',
      record_responses: 'none',
    }
    const result = create(body)
    if (result.kind !== 'valid') throw new Error(JSON.stringify(result))
    const state = { nextRunAtMs: null, lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 2 }
    const cron = { cronId: 3, settings: result.value, ...state }
    expect(toWireCron(cron)).toEqual({
      ...body,
      id: 3,
      description: 'At 03:00',
      next_run_at: null,
      last_run: null,
      last_success_at: null,
      consecutive_failures: 2,
      managed_by: null,
      warnings: ['success_assertions.0: only a 2xx response is a success, so status 404 can never pass.'],
    })
    expect(toCreatedCron(cron)).toEqual({
      id: 3,
      name: 'Nightly',
      cron_expression: '0 3 * * *',
      next_run_at: null,
      is_active: false,
    })
  })
})

describe('an edit', () => {
  test('changes what is given; null takes away what a cron can be without', () => {
    expect(edit({})).toEqual({ kind: 'valid', value: {} })
    expect(edit({ name: null, url: null, cron_expression: null, time_zone: null, headers: null })).toEqual({
      kind: 'valid',
      value: {},
    })
    expect(edit({ payload: null, callback_url: null, starting_deadline_seconds: null, queue: null })).toEqual(
      {
        kind: 'valid',
        value: { payload: null, callbackUrl: null, startingDeadlineSeconds: null, queue: null },
      },
    )
    expect(edit({ name: 'Other', headers: {}, jitter_seconds: 0, payload: '' })).toEqual({
      kind: 'valid',
      value: { displayName: 'Other', headers: {}, jitterSeconds: 0, payload: '' },
    })
  })
})

describe('a preview', () => {
  test.each<[unknown, string, string]>([
    [{}, 'cron_expression', 'A cron expression is required.'],
    [{ cron_expression: '0 3 * * *', count: 101 }, 'count', 'The count field must be between 1 and 100.'],
    [
      { cron_expression: '0 3 * * *', after: 'tomorrow' },
      'after',
      'The after field must be a valid ISO 8601 timestamp with an offset.',
    ],
    [{ cron_expression: '0 3 * * *', name: 'x' }, 'name', 'The name field is unknown.'],
  ])('of %j is refused', (body, field, text) => {
    expect(preview(body)).toEqual({
      kind: 'invalid',
      problem: { message: text, errors: { [field]: [text] } },
    })
  })

  test('has defaults', () => {
    expect(preview({ cron_expression: '0 3 * * *' })).toEqual({
      kind: 'valid',
      value: { cronExpression: '0 3 * * *', timeZone: 'UTC', count: 5, afterMs: null },
    })
  })

  test('begins after a moment', () => {
    const after = '2027-03-28T00:00:00+01:00'
    expect(preview({ cron_expression: '0 3 * * *', after })).toMatchObject({
      value: { afterMs: Date.parse(after) },
    })
  })
})

test.each([
  [undefined, null],
  ['order-1', 'order-1'],
  ['"order 1"', undefined],
  ['"order-1"', 'order-1'],
  ['', undefined],
])('the key %j', (header, key) => {
  const read = createUnder(header, NEEDED)
  expect(read.kind === 'valid' ? read.value : read).toMatchObject(
    key === undefined
      ? { kind: 'invalid', problem: { errors: { idempotency_key: [expect.any(String) as string] } } }
      : { key, settings: SETTINGS },
  )
})
