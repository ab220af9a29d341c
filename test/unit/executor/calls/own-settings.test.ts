import { expect, test } from 'vitest'
import { withHeaderSecrets } from '../../../../src/domain/secrets/secret-values.ts'
import { secretPartOf } from '../../../../src/executor/calls/own-settings.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { teamsOf } from '../../../support/no-own-secrets.ts'

const partner = { name: 'partner', hosts: ['api.test'], value: 'Bearer canary' }
const headers = withHeaderSecrets({ Accept: '*/*' }, { Authorization: 'partner' })

function headersOf(
  secret: { hosts: readonly string[]; value: string | null } | null,
  url = 'https://api.test/',
) {
  const headerSecrets = secret === null ? [] : [{ ...partner, ...secret }]
  const teams = teamsOf(() => ({ ...NO_TEAM_SETTINGS, headerSecrets }))
  const work = {
    team: 'shop',
    queueName: 'q',
    request: { url, headers, cron: null },
  } as unknown as ClaimedJob
  const part = secretPartOf(work, teams)
  return part.kind === 'found' ? part.headers : part.message
}

test('a header secret is in place of its name at the call', () => {
  expect(headersOf(partner)).toEqual({ Accept: '*/*', Authorization: 'Bearer canary' })
})

test.each([
  ['unknown', null, 'The value of header Authorization is not there: the team has no header secret partner.'],
  [
    'for other hosts by now',
    { hosts: ['other.test'], value: 'Bearer canary' },
    'The value of header Authorization is not sent: header secret partner may not go to the host of this job.',
  ],
  [
    'without a usable Secret',
    { hosts: ['api.test'], value: null },
    'The value of header Authorization is not there: the Secret of header secret partner cannot be used.',
  ],
])('one that is %s is not sent, and says so', (_title, secret, message) => {
  expect(headersOf(secret)).toBe(message)
})

test('one is not sent to where a replay has taken the job', () => {
  expect(headersOf(partner, 'https://evil.test/')).toContain('may not go to the host')
  expect(headersOf(partner, 'http://api.test/')).toContain('may not go to the host')
})
