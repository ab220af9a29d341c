import type { Sight } from '../../domain/access/masking.ts'
import { maskedHeadersOf, type TeamSettingsSource } from '../../ports/settings.ts'
import type { TeamRequest } from '../team-routes.ts'

/** What the sender of a request may see of the team's jobs and crons. */
export function sightOf(
  { team, principal }: Pick<TeamRequest, 'team' | 'principal'>,
  teamSettings: TeamSettingsSource,
): Sight {
  return {
    seesPayloads: principal.permissions.has('payloads'),
    masked: maskedHeadersOf(teamSettings.of(team)),
  }
}
