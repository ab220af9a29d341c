import { describe, expect, test } from 'vitest'
import {
  changedHeaders,
  headerSecretIn,
  headerSecretsOf,
  isFromSecret,
  secretValueIn,
  secretValueText,
  withHeaderSecrets,
} from '../../../../src/domain/secrets/secret-values.ts'

const ofCron = secretValueText({ cron: 'report', secret: 'partner', key: 'token' })
const headers = withHeaderSecrets({ Accept: '*/*', 'X-Cron': ofCron }, { Authorization: 'partner' })

test('a value of a cron and one of a header secret are told apart, and from ordinary ones', () => {
  const [accept, cron, team] = Object.values(headers) as [string, string, string]
  expect([accept, cron, team].map(isFromSecret)).toEqual([false, true, true])
  expect([accept, cron, team].map(secretValueIn)).toEqual([
    null,
    { cron: 'report', secret: 'partner', key: 'token' },
    null,
  ])
  expect([accept, cron, team].map(headerSecretIn)).toEqual([null, null, 'partner'])
  expect(headerSecretsOf(headers)).toEqual({ Authorization: 'partner' })
})

describe('the headers of a copy', () => {
  const textsOf = (changed: Readonly<Record<string, string>>) => ({
    ...Object.fromEntries(Object.entries(changed).filter(([, text]) => !isFromSecret(text))),
    ...headerSecretsOf(changed),
  })
  const none = { values: undefined, secrets: undefined, contentType: null }

  test('are the same unless something is given', () => expect(changedHeaders(headers, none)).toEqual(headers))

  test('keep those of one kind when the others are given', () => {
    expect(textsOf(changedHeaders(headers, { ...none, values: { 'X-A': '1' } }))).toEqual({
      'X-A': '1',
      Authorization: 'partner',
    })
    expect(textsOf(changedHeaders(headers, { ...none, secrets: { 'X-Key': 'other' } }))).toEqual({
      Accept: '*/*',
      'X-Key': 'other',
    })
    expect(textsOf(changedHeaders(headers, { ...none, secrets: {} }))).toEqual({ Accept: '*/*' })
  })

  test('have the given content type, in place of one of any spelling', () => {
    const change = { ...none, contentType: 'text/xml' }
    expect(changedHeaders({ 'content-TYPE': 'text/csv', A: '1' }, change)).toEqual({
      A: '1',
      'Content-Type': 'text/xml',
    })
  })

  test('have each name once, whatever its case: what is given counts', () => {
    expect(textsOf(changedHeaders(headers, { ...none, values: { authorization: 'plain' } }))).toEqual({
      authorization: 'plain',
    })
    expect(textsOf(changedHeaders(headers, { ...none, secrets: { ACCEPT: 'other' } }))).toEqual({
      ACCEPT: 'other',
    })
  })
})
