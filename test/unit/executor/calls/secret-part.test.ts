import { expect, test } from 'vitest'
import { secretValueText } from '../../../../src/domain/secrets/secret-values.ts'
import { secretPartOf } from '../../../../src/executor/calls/own-settings.ts'
import type { OwnSecrets } from '../../../../src/ports/access/own-secrets.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { claimedJob } from '../executor-fixture.ts'

const OF_TEAM = 'the-secret-of-the-whole-team'
const OWN = 'the-secret-of-one-receiver-alone'
const REFS = [{ name: 'partner', key: 'signing' }]
const UNREAD: OwnSecrets = { signingSecrets: [], signingSecretRefs: REFS, headerValues: {} }

/** By kind and name. */
function teamsWith(own: Readonly<Record<string, OwnSecrets | 'unreadable'>>) {
  return {
    of: () => ({ ...NO_TEAM_SETTINGS, signingSecrets: [OF_TEAM] }),
    ownSecretsOf: ({ kind, name }: { kind: string; name: string }) => own[`${kind} ${name}`] ?? null,
  }
}

const cron = { cronId: 1, tickMs: 0, isManual: false }
const UNSIGNED = { kind: 'missing', message: 'The signing secrets of this job cannot be read.' }

test.each([
  ['a queue with its own', { 'queue q': { ...UNREAD, signingSecrets: [OWN] } }, null, [OWN]],
  ['a queue without', {}, null, [OF_TEAM]],
  ['a queue whose own were never read', { 'queue q': UNREAD }, null, null],
  ['a queue whose own cannot be opened', { 'queue q': 'unreadable' as const }, null, null],
  ['a cron whose own were never read', { 'cron c': UNREAD }, { ...cron, signer: 'c' }, null],
  [
    'a cron of which headers alone were read',
    { 'cron c': { signingSecrets: [], signingSecretRefs: [], headerValues: { 'x-key': 'v' } } },
    { ...cron, signer: 'c' },
    null,
  ],
  ['a cron without, in a queue whose own were never read', { 'queue q': UNREAD }, cron, null],
])('a job of %s is signed by no other', (_name, own, origin, signing) => {
  const work = claimedJob({ team: 'shop', queueName: 'q', request: { cron: origin } })
  const part = secretPartOf(work, teamsWith(own))
  if (signing === null) expect(part).toEqual(UNSIGNED)
  else expect(part).toMatchObject({ kind: 'found', settings: { signingSecrets: signing } })
})

test('a value of a Secret is found by its header, and sent to the origin of its cron alone', () => {
  const headers = { 'X-Key': secretValueText({ cron: 'c', secret: 'former', key: 'token' }) }
  // The run was made while the cron named another Secret.
  const own = {
    signingSecrets: [],
    signingSecretRefs: [],
    headerValues: { 'x-key': 'v' },
    headerOrigin: 'https://a.test',
  }
  const partOf = (url: string, secrets: OwnSecrets) =>
    secretPartOf(claimedJob({ request: { url, headers } }), teamsWith({ 'cron c': secrets }))
  expect(partOf('https://a.test/other?x=1', own)).toMatchObject({ headers: { 'X-Key': 'v' } })
  for (const url of ['https://b.test/', 'http://a.test/', 'https://a.test:8443/', 'https://a.test.b.test/']) {
    expect(partOf(url, own), url).toEqual({
      kind: 'missing',
      message: 'The value of header X-Key is not sent: cron c calls another origin.',
    })
  }
  const { headerOrigin: _, ...unbound } = own
  expect(partOf('https://a.test/', unbound)).toMatchObject({ kind: 'missing' })
  expect(partOf('https://a.test/', { ...own, headerValues: { 'x-other': 'v' } })).toEqual({
    kind: 'missing',
    message: 'The value of header X-Key is not there: key token of Secret former.',
  })
})
