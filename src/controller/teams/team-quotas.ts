import { effectiveQuotas, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { Informer } from '../../ports/kubernetes.ts'
import { TEAM_SETTINGS_NAME, type TeamSettings } from '../kinds.ts'

export interface QuotaSources {
  readonly teams: Pick<Informer<TeamSettings>, 'get'>
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
}

/** Works out a team's quotas from the present resources. */
export function teamQuotas(team: string, { teams, quotas }: QuotaSources): TeamQuotas {
  const own = teams.get(`${team}/${TEAM_SETTINGS_NAME}`)?.spec.quotas
  return effectiveQuotas(quotasOf(own ?? {}), quotas)
}
