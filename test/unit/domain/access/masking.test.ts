import { describe, expect, test } from 'vitest'
import type { Job } from '../../../../clients/typescript/src/generated/wire.ts'
import { writeJob } from '../../../../src/contract/responses/job-wire.ts'
import {
  keptHeaders,
  missingHeader,
  redirectedHeaders,
  shownChain,
  shownCronSettings,
  withKeptHeaders,
} from '../../../../src/domain/access/masking.ts'
import { DEFAULT_CRON_SETTINGS } from '../../../../src/domain/crons/cron.ts'
import type { JobChain } from '../../../../src/domain/jobs/job.ts'
import { secretValueText } from '../../../../src/domain/secrets/secret-values.ts'
import { aChain, JOB_IDS, ROOT_ID } from '../../api/api-fixture.ts'

const NONE: ReadonlySet<string> = new Set()
const MASKED = new Set(['x-customer'])
const CURRENT = { Authorization: 'Bearer one', Accept: 'text/plain' }

test.each([null, 'text', 'json', 'base64'] as const)(
  'a body of the encoding %j is hidden as such',
  (encoding) => {
    const chain = aChain()
    const request = { ...chain.request, payload: '{"a":1}', bodyEncoding: encoding }
    const text = writeJob(
      shownChain({ ...chain, request }, { seesPayloads: false, masked: new Set() }),
      ROOT_ID,
      JOB_IDS,
    )
    const { payload, body } = JSON.parse(text ?? '') as Job
    expect([payload, body]).toEqual(encoding === null ? ['(hidden)', null] : [null, '(hidden)'])
    expect(text).not.toContain('"a"')
  },
)

test.each(['text', 'base64'] as const)('a body of the encoding %j is shown as a string', (bodyEncoding) => {
  const chain = aChain()
  const request = { ...chain.request, payload: 'AP8=', bodyEncoding }
  const text = writeJob(
    shownChain({ ...chain, request }, { seesPayloads: true, masked: new Set() }),
    ROOT_ID,
    JOB_IDS,
  )
  expect(JSON.parse(text ?? '')).toMatchObject({ payload: null, body: 'AP8=', body_encoding: bodyEncoding })
})

describe('an edit', () => {
  test('keeps the value of a header that is given as the mask, by name in any case', () => {
    expect(keptHeaders({ authorization: '(hidden)', Accept: '*/*', 'X-New': 'n' }, CURRENT)).toEqual({
      authorization: 'Bearer one',
      Accept: '*/*',
      'X-New': 'n',
    })
    expect(missingHeader({ authorization: '(hidden)' }, CURRENT)).toBeNull()
  })

  test('that would keep what is not there is named by its first such header', () => {
    expect(missingHeader({ Accept: '(hidden)', 'X-New': '(hidden)' }, CURRENT)).toBe('headers.X-New')
    expect(keptHeaders({ 'X-New': '(hidden)' }, CURRENT)).toEqual({})
  })

  const fromSecret = secretValueText({ cron: 'c', secret: 's', key: 'k' })
  const url = 'https://example.com/hook'
  const current = { url, headers: { ...CURRENT, 'X-Partner': fromSecret } }

  test.each([
    ['the headers that are there', undefined, ['Authorization', 'X-Partner']],
    ['the mask', { 'x-partner': '(hidden)', Accept: '(hidden)' }, ['x-partner']],
    ['values of its own', { Authorization: 'Bearer two', 'X-New': 'n' }, []],
    ['no headers', {}, []],
  ])('that goes to another origin with %s redirects %s', (_name, headers, names) => {
    for (const other of ['https://example.org/hook', 'http://example.com/hook', 'https://example.com:444/']) {
      expect(redirectedHeaders(current, { url: other, headers }, NONE), other).toEqual(names)
    }
    const same = { url: 'https://EXAMPLE.com:443/other?x=1', headers }
    expect(redirectedHeaders(current, same, NONE)).toEqual([])
  })

  test('of a cron to another origin must give secret headers anew', () => {
    const cron = {
      ...DEFAULT_CRON_SETTINGS,
      displayName: 'n',
      cronExpression: '* * * * *',
      ...current,
    }
    const other = 'https://example.org/'
    expect(() => withKeptHeaders({ url: other }, cron, NONE)).toThrow(/Authorization, X-Partner/)
    expect(withKeptHeaders({ headers: { 'X-Partner': '(hidden)' } }, cron, NONE)).toEqual({
      headers: { 'X-Partner': fromSecret },
    })
    expect(withKeptHeaders({ url: other, headers: {} }, cron, NONE)).toEqual({ url: other, headers: {} })
    const plain = { ...cron, headers: { 'X-Customer': '7' } }
    expect(withKeptHeaders({ url: other }, plain, NONE)).toEqual({ url: other })
    expect(() => withKeptHeaders({ url: other }, plain, MASKED)).toThrow(/X-Customer/)
  })
})

describe('of a cron is shown', () => {
  const settings = {
    ...DEFAULT_CRON_SETTINGS,
    displayName: 'n',
    cronExpression: '* * * * *',
    headers: CURRENT,
    payload: 'p',
    url: 'https://hooks.slack.com/services/T0/B0/c?x=1',
    callbackUrl: 'https://example.com/d41d8cd98f00b204e9800998ecf8427e',
  }

  test('everything but secret headers to who sees payloads', () => {
    const headers = { ...CURRENT, Authorization: '(hidden)' }
    expect(shownCronSettings(settings, { seesPayloads: true, masked: NONE })).toEqual({
      ...settings,
      headers,
    })
  })

  test('no header of a name that the team masks', () => {
    const shown = shownCronSettings(
      { ...settings, headers: { 'X-CUSTOMER': '7', 'X-Order': '8' } },
      { seesPayloads: true, masked: MASKED },
    )
    expect(shown.headers).toEqual({ 'X-CUSTOMER': '(hidden)', 'X-Order': '8' })
  })

  test('no value, no payload and no token in a URL to others', () => {
    expect(shownCronSettings(settings, { seesPayloads: false, masked: NONE })).toEqual({
      ...settings,
      headers: { Authorization: '(hidden)', Accept: '(hidden)' },
      payload: '(hidden)',
      url: 'https://hooks.slack.com/(hidden)?(hidden)',
      callbackUrl: 'https://example.com/(hidden)',
    })
  })
})

test('of a job neither its headers nor those of its calls show a name that the team masks', () => {
  const lines = [
    ['X-Customer', '7'],
    ['X-Order', '8'],
  ] as const
  const chain = {
    request: { url: 'https://example.com/', headers: Object.fromEntries(lines), payload: null, cron: null },
    calls: [
      { request: { headers: lines }, response: { headers: lines } },
      { request: { headers: lines }, response: null },
    ],
  } as unknown as JobChain
  const shown = shownChain(chain, { seesPayloads: true, masked: MASKED })
  const masked = [
    ['X-Customer', '(hidden)'],
    ['X-Order', '8'],
  ]
  expect(shown.request.headers).toEqual(Object.fromEntries(masked))
  expect(shown.calls).toEqual([
    { request: { headers: masked }, response: { headers: masked } },
    { request: { headers: masked }, response: null },
  ])
  expect(shownChain(chain, { seesPayloads: true, masked: NONE }).calls).toEqual(chain.calls)
})
