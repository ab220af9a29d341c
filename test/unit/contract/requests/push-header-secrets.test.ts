import { describe, expect, test } from 'vitest'
import { MASK } from '../../../../src/domain/access/masking.ts'
import { headerSecretsOf } from '../../../../src/domain/secrets/secret-values.ts'
import { readJobChange, readPush } from '../../../../src/contract/requests/pushes/push-request.ts'

const context = {
  idempotencyKey: undefined,
  nowMs: 0,
  isBlocked: () => false,
  headerSecrets: [
    { name: 'partner', hosts: ['api.test'], value: null },
    { name: 'other', hosts: ['*.other.test'], value: null },
  ],
}
const PUSH = { queue: 'q', url: 'https://api.test/orders' }
const push = (fields: object) => readPush(Buffer.from(JSON.stringify({ ...PUSH, ...fields })), context)
const errorsOf = (fields: object) => {
  const read = push(fields)
  return read.kind === 'invalid' ? read.problem.errors : read.kind
}

test('a push names header secrets beside the headers that it gives', () => {
  const read = push({ headers: { Accept: '*/*' }, header_secrets: { Authorization: 'partner' } })
  if (read.kind !== 'valid') throw new Error(JSON.stringify(read))
  const { headers } = read.value.request
  expect(Object.keys(headers)).toEqual(['Accept', 'Authorization'])
  expect(headerSecretsOf(headers)).toEqual({ Authorization: 'partner' })
})

describe('every mistake has its field and text', () => {
  const field = 'header_secrets.Authorization'
  test.each<[string, object, Record<string, readonly string[]>]>([
    [
      'unknown',
      { header_secrets: { Authorization: 'patner' } },
      { [field]: [`The ${field} field must be the name of a header secret of the team.`] },
    ],
    [
      'for another host',
      { header_secrets: { Authorization: 'other' } },
      { [field]: [`The ${field} field names a header secret that may not go to the host of the URL.`] },
    ],
    [
      'for another scheme',
      { url: 'http://api.test/', header_secrets: { Authorization: 'partner' } },
      { [field]: [`The ${field} field names a header secret that may not go to the host of the URL.`] },
    ],
    [
      'no string',
      { header_secrets: { Authorization: 7 } },
      { [field]: [`The ${field} field must be a string.`] },
    ],
    [
      'too long',
      { header_secrets: { Authorization: 'x'.repeat(64) } },
      { [field]: [`The ${field} field must not be greater than 63 characters.`] },
    ],
    [
      'a header that is given as well',
      { headers: { AUTHORIZATION: 'x' }, header_secrets: { Authorization: 'partner' } },
      { [field]: [`The ${field} field has a duplicate value.`] },
    ],
    [
      'a header of ours',
      { header_secrets: { 'webhook-id': 'partner' } },
      {
        'header_secrets.webhook-id': [
          'The header_secrets.webhook-id field is set by Punctual and cannot be given.',
        ],
      },
    ],
    [
      'a list',
      { header_secrets: ['partner'] },
      { header_secrets: ['The header secrets field must be an object.'] },
    ],
    [
      'too many',
      { header_secrets: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`X-${at}`, 'partner'])) },
      { header_secrets: ['The header secrets field must not have more than 8 items.'] },
    ],
  ])('%s', (_title, fields, errors) => expect(errorsOf(fields)).toEqual(errors))

  test('of a URL that is wrong, nothing is said of where the secret may go', () => {
    expect(Object.keys(errorsOf({ url: 'nonsense', header_secrets: { Authorization: 'partner' } }))).toEqual([
      'url',
    ])
  })
})

test('a change of a job takes both as they were shown, and null as none', () => {
  const read = (fields: object) => {
    const change = readJobChange(Buffer.from(JSON.stringify(fields)), 'replay', context)
    if (change.kind !== 'valid') throw new Error(JSON.stringify(change))
    return change.value
  }
  const shown = {
    headers: { Cookie: MASK, authorization: MASK },
    header_secrets: { Authorization: 'partner' },
  }
  expect(read(shown)).toEqual({
    request: {},
    headers: { values: shown.headers, secrets: shown.header_secrets, contentType: null },
  })
  expect(read({ header_secrets: null })).toEqual({
    request: {},
    headers: { values: undefined, secrets: {}, contentType: null },
  })
  // Whether it may go where the copy goes is known once the job is.
  expect(read({ header_secrets: { 'X-Key': 'other' } }).headers.secrets).toEqual({ 'X-Key': 'other' })
})
