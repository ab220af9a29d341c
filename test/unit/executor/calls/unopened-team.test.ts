import { expect, test } from 'vitest'
import { secretPartOf } from '../../../../src/executor/calls/own-settings.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { claimedJob } from '../executor-fixture.ts'

test('a queue with signing secrets of its own goes on while those of its team cannot be opened', () => {
  const team = { ...NO_TEAM_SETTINGS, isSigningUnreadable: true }
  const own = { signingSecrets: ['whsec_c2VjcmV0'], signingSecretRefs: [], headerValues: {} }
  const teams = { of: () => team, ownSecretsOf: (): typeof own | null => own }
  const settingsOf = (): unknown => {
    const part = secretPartOf(claimedJob({ queueName: 'mail' }), teams)
    return part.kind === 'found' && part.settings
  }
  expect(settingsOf()).toMatchObject({ signingSecrets: own.signingSecrets, isSigningUnreadable: false })
  teams.ownSecretsOf = () => null
  expect(settingsOf()).toBe(team)
})
