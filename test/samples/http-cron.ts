import { assertionSamples } from './assertions.ts'
import type { GivenInvalidSample, GivenSample, KindSamples } from './sample.ts'

const LEAST = { url: 'https://a.test/', cronExpression: '0 8 * * *' }

const NOT_A_URL = 'must be an http or https URL with a host'
const EMPTY_PART = 'must not have an empty part in its host'
const CREDENTIALS = 'must not carry a user name or password: put them into a header'
const FIVE_FIELDS =
  'must have five fields: minute, hour, day of month, month, day of week; neither seconds nor macros such as @daily are known'
const NO_VALUE =
  'has an invalid value: allowed are numbers, names of three letters, ranges a-b, steps */n and lists of these'
const NOT_A_HEADER = 'must be a header name'
const CONNECTION = 'controls the connection and cannot be set'
const OURS = 'is set by Punctual and cannot be given'
const NAME_TWICE = 'must not have one name twice; upper and lower case do not count'
const NOT_A_VALUE = 'must hold only visible ASCII characters, spaces and tabs'
const THE_MASK = 'must be the real value, not the text that is shown in its place'

const URLS = [
  'http://a',
  'HTTPS://a.test:8443/b?c=d#e',
  'http://[::1]/',
  'http://ä.test/',
  'http://a/@b',
  'http://a.test./b..c?..',
]

const EXPRESSIONS = ['* * * * *', '*/5 0-23/2 1,15 JAN-dec 0-7', '  0\t8 * * mon-FRI  ', '59 23 31 12 sun']

const URLS_REFUSED: ReadonlyArray<readonly [string, string]> = [
  ['', NOT_A_URL],
  ['a.test', NOT_A_URL],
  ['ftp://a.test', NOT_A_URL],
  ['http:a.test', NOT_A_URL],
  ['http://', NOT_A_URL],
  ['http:///path', NOT_A_URL],
  ['http://?a', NOT_A_URL],
  ['http://a.test/ b', NOT_A_URL],
  ['http://a.test/\tb', NOT_A_URL],
  ['http://a.test\\b', NOT_A_URL],
  ['http://a.test\u007f', NOT_A_URL],
  ['http://.', EMPTY_PART],
  ['http://.a.test/', EMPTY_PART],
  ['http://a..test/', EMPTY_PART],
  ['http://a.test..:80', EMPTY_PART],
  ['http://user@a.test/', CREDENTIALS],
  ['http://user:secret@a.test', CREDENTIALS],
  ['http://@a.test', CREDENTIALS],
]

const EXPRESSIONS_REFUSED: ReadonlyArray<readonly [string, string]> = [
  ['', FIVE_FIELDS],
  ['* * * *', FIVE_FIELDS],
  ['0 * * * * *', FIVE_FIELDS],
  ['@daily', FIVE_FIELDS],
  ['@every 1 2 3 4', FIVE_FIELDS],
  ['H H * * *', NO_VALUE],
  ['* * * * 1#2', NO_VALUE],
  ['* * * * ?', NO_VALUE],
  ['0 8 * * *\n', NO_VALUE],
]

const HEADER_NAMES = ['Authorization', 'x', "!#$%&'*+-.^_`|~09Az", 'TE-x', 'Hosts', 'X-Punctuality']

const HEADER_NAMES_REFUSED: ReadonlyArray<readonly [string, string]> = [
  ['', NOT_A_HEADER],
  ['a b', NOT_A_HEADER],
  ['a:', NOT_A_HEADER],
  ['ä', NOT_A_HEADER],
  ['Host', CONNECTION],
  ['content-LENGTH', CONNECTION],
  ['Proxy-Authorization', CONNECTION],
  ['te', CONNECTION],
  ['Webhook-Id', OURS],
  ['x-punctual-Signature', OURS],
]

const HEADER_VALUES = ['', ' a\tb ', '~!"']
const HEADER_VALUES_REFUSED = ['ä', 'a\r\nb', 'a\u0000', '\u007f']

const sample = (what: string, value: string, field: object): GivenSample => ({
  title: `${what} ${JSON.stringify(value)}`,
  spec: { ...LEAST, ...field },
})

const refused = (
  what: string,
  value: string,
  spec: object,
  { field, rule }: { readonly field: string; readonly rule: string },
): GivenInvalidSample => ({ ...sample(what, value, spec), field, rule })

const ASSERTIONS = assertionSamples(LEAST)

export const HTTP_CRON: KindSamples = {
  kind: 'HttpCron',
  crd: 'httpcrons.punctual.dev.yaml',
  name: 'daily',
  full: [
    {
      displayName: 'Daily report',
      ...LEAST,
      method: 'PUT',
      headers: [{ name: 'X-Key', value: 'v' }],
      payload: '{"a": 1}',
      callbackUrl: 'http://b.test',
      timeZone: 'Europe/Berlin',
      active: false,
      concurrencyPolicy: 'Forbid',
      recordResponses: 'None',
      missedRunPolicy: 'All',
      startingDeadlineSeconds: 60,
      jitterSeconds: 5,
      queue: 'Reports',
      timeoutSeconds: 7,
      successAssertions: [{ type: 'BodyContains', value: '200' }],
      alertThreshold: 2,
      signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
    },
    {
      ...LEAST,
      headers: [{ name: 'X-Key', valueFrom: { secretKeyRef: { name: 'partner', key: 'token' } } }],
    },
  ],
  padding: { 'spec.cronExpression': ' ', 'spec.timeZone': null },
  strictFields: ['spec.cronExpression', 'spec.timeZone'],
  valid: [
    { title: 'nothing but what is required', spec: LEAST },
    {
      title: 'empty fields',
      spec: { ...LEAST, payload: null, headers: null, startingDeadlineSeconds: null },
    },
    { title: 'a zone with an offset', spec: { ...LEAST, timeZone: 'Etc/GMT+5' } },
    ...URLS.map((url) => sample('url', url, { url })),
    ...URLS.map((url) => sample('callbackUrl', url, { callbackUrl: url })),
    ...EXPRESSIONS.map((cronExpression) => sample('expression', cronExpression, { cronExpression })),
    ...HEADER_NAMES.map((name) => sample('header', name, { headers: [{ name, value: 'v' }] })),
    ...HEADER_VALUES.map((value) => sample('header value', value, { headers: [{ name: 'a', value }] })),
    ...ASSERTIONS.valid,
  ],
  invalid: [
    ...URLS_REFUSED.map(([url, rule]) => refused('url', url, { url }, { field: 'spec.url', rule })),
    ...URLS_REFUSED.map(([url, rule]) =>
      refused('callbackUrl', url, { callbackUrl: url }, { field: 'spec.callbackUrl', rule }),
    ),
    ...EXPRESSIONS_REFUSED.map(([cronExpression, rule]) =>
      refused('expression', cronExpression, { cronExpression }, { field: 'spec.cronExpression', rule }),
    ),
    ...HEADER_NAMES_REFUSED.map(([name, rule]) =>
      refused('header', name, { headers: [{ name, value: '' }] }, { field: 'spec.headers[0].name', rule }),
    ),
    ...HEADER_VALUES_REFUSED.map((value) =>
      refused(
        'header value',
        value,
        { headers: [{ name: 'a', value }] },
        { field: 'spec.headers[0].value', rule: NOT_A_VALUE },
      ),
    ),
    refused(
      'header value',
      'as it is shown',
      { headers: [{ name: 'a', value: '(hidden)' }] },
      { field: 'spec.headers[0].value', rule: THE_MASK },
    ),
    ...[{ name: 'a' }, { name: 'a', value: '', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }].map(
      (header) => ({
        title: `header ${JSON.stringify(header)}`,
        spec: { ...LEAST, headers: [header] },
        field: 'spec.headers[0]',
        rule: 'must have either value or valueFrom',
      }),
    ),
    {
      title: 'one header twice',
      spec: {
        ...LEAST,
        headers: [
          { name: 'a', value: '1' },
          { name: 'a', value: '2' },
        ],
      },
      field: 'spec.headers[1]',
    },
    {
      title: 'one header in two spellings',
      spec: {
        ...LEAST,
        headers: [
          { name: 'Authorization', value: '1' },
          { name: 'x', value: '2' },
          { name: 'authorization', value: '3' },
        ],
      },
      field: 'spec.headers',
      rule: NAME_TWICE,
    },
    { title: 'a payload that is no text', spec: { ...LEAST, payload: { a: 1 } }, field: 'spec.payload' },
    { title: 'headers as a map', spec: { ...LEAST, headers: { a: 'b' } }, field: 'spec.headers' },
    { title: 'a zone with a space', spec: { ...LEAST, timeZone: 'Europe/ Berlin' }, field: 'spec.timeZone' },
    { title: 'an empty zone', spec: { ...LEAST, timeZone: '' }, field: 'spec.timeZone' },
    ...ASSERTIONS.invalid,
  ],
}
