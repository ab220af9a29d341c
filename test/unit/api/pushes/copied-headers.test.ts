import { describe, expect, test } from 'vitest'
import { copyChangeOf } from '../../../../src/api/pushes/copied-headers.ts'
import { MASK } from '../../../../src/domain/access/masking.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../../src/ports/settings.ts'
import type { JobChain } from '../../../../src/domain/jobs/job.ts'
import {
  headerSecretsOf,
  secretValueText,
  withHeaderSecrets,
} from '../../../../src/domain/secrets/secret-values.ts'

const SETTINGS: TeamSettings = {
  ...NO_TEAM_SETTINGS,
  headerSecrets: [{ name: 'partner', hosts: ['api.test', 'new.test'], value: null }],
  maskedHeaders: ['x-customer'],
}
const OF_CRON = secretValueText({ cron: 'report', secret: 'partner', key: 'token' })

const copy = (
  headers: Readonly<Record<string, string>> | null,
  {
    url,
    values,
    secrets,
    contentType = null,
  }: {
    url?: string
    values?: Record<string, string>
    secrets?: Record<string, string>
    contentType?: string | null
  },
  lost: JobChain['lost'] = [],
) =>
  copyChangeOf(
    { request: { url: 'https://api.test/v1', headers }, lost } as JobChain,
    { request: url === undefined ? {} : { url }, headers: { values, secrets, contentType } },
    SETTINGS,
  )
const problemOf = (made: ReturnType<typeof copy>) => (made.kind === 'invalid' ? made.problem.message : made)

describe('a copy that goes to another host', () => {
  const url = 'https://evil.test/v1'
  const anew = (name: string) =>
    `The headers.${name} field must be given again: a hidden value is not sent to another origin.`

  test.each([
    ['a header that is hidden', { Authorization: 'Bearer x' }, 'Authorization'],
    ['a header of a name that the team masks', { 'X-Customer': '7' }, 'X-Customer'],
    ['a value of a Secret of a cron', { 'X-Partner': OF_CRON }, 'X-Partner'],
  ])('does not take along %s', (_title, headers, name) => {
    expect(problemOf(copy(headers, { url }))).toBe(anew(name))
    expect(problemOf(copy(headers, { url, values: { [name.toLowerCase()]: MASK } }))).toBe(
      anew(name.toLowerCase()),
    )
    expect(problemOf(copy(headers, { url: 'http://api.test/v1' }))).toBe(anew(name))
    expect(copy(headers, { url, values: { [name]: 'mine' } })).toEqual({
      kind: 'change',
      change: { url, headers: { [name]: 'mine' } },
    })
    expect(copy(headers, { url, values: {} })).toEqual({ kind: 'change', change: { url, headers: {} } })
    expect(copy(headers, { url: 'https://api.test/v2' }).kind).toBe('change')
  })

  test('takes a header secret along where that may go, and only there', () => {
    const headers = withHeaderSecrets({ Accept: '*/*' }, { Authorization: 'partner' })
    expect(copy(headers, { url: 'https://new.test/' })).toEqual({
      kind: 'change',
      change: { url: 'https://new.test/' },
    })
    const asShown = { Accept: '*/*', Authorization: MASK }
    expect(copy(headers, { url: 'https://new.test/', values: asShown }).kind).toBe('change')
    expect(problemOf(copy(headers, { url }))).toMatch(
      /^The header_secrets\.Authorization .* host of the URL\.$/,
    )
    expect(copy(headers, { url, secrets: {} })).toEqual({
      kind: 'change',
      change: { url, headers: { Accept: '*/*' } },
    })
  })
})

test('a copy may not name a header secret that the team has no more', () => {
  const headers = withHeaderSecrets({}, { Authorization: 'former' })
  expect(problemOf(copy(headers, {}))).toMatch(/must be the name of a header secret of the team/)
})

test('what was shown keeps what is there, of both kinds', () => {
  const headers = withHeaderSecrets({ Cookie: 'id=1' }, { Authorization: 'partner' })
  for (const values of [{ Cookie: MASK }, { cookie: MASK, authorization: MASK }]) {
    const made = copy(headers, { values })
    if (made.kind !== 'change') throw new Error(JSON.stringify(made))
    const sent = made.change.headers ?? {}
    expect(Object.values(sent)).toContain('id=1')
    expect(Object.values(headerSecretsOf(sent))).toEqual(['partner'])
  }
  expect(problemOf(copy(headers, { values: { 'X-Other': MASK } }))).toMatch(/cannot be kept/)
})

test('a content type alone takes the place of the one that is there', () => {
  expect(copy({ 'content-type': 'a/b', A: '1' }, { contentType: 'text/xml' })).toMatchObject({
    change: { headers: { A: '1', 'Content-Type': 'text/xml' } },
  })
})

test('headers that are no longer kept are needed to keep some of them', () => {
  expect(copy(null, { contentType: 'text/xml' }, ['headers'])).toEqual({ kind: 'not_kept' })
  expect(copy(null, { secrets: { Authorization: 'partner' } }, ['headers'])).toEqual({ kind: 'not_kept' })
  expect(copy(null, { values: { Cookie: MASK } }, ['headers'])).toEqual({ kind: 'not_kept' })
  expect(copy(null, { values: { Cookie: 'id=2' } }, ['headers'])).toMatchObject({
    change: { headers: { Cookie: 'id=2' } },
  })
})
