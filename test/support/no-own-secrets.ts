import type { OwnSecretsSource } from '../../src/ports/access/own-secrets.ts'
import type { TeamSettings, TeamSettingsSource } from '../../src/ports/settings.ts'

/** Teams whose queues and crons have no secrets of their own. */
export function teamsOf(of: (team: string) => TeamSettings): TeamSettingsSource & OwnSecretsSource {
  return { of, ownSecretsOf: () => null }
}
