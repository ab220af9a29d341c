import { effectiveQuotas, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { Informer } from '../../ports/kubernetes.ts'
import type { TeamSettings } from '../kinds.ts'
import { TEAM_SETTINGS_NAME } from './team-reconciler.ts'

export interface QuotaSources {
  readonly teams: Pick<Informer<TeamSettings>, 'get'>
  /** The installation's. */
  readonly quotas: TeamQuotas
}

/** As the resources say them now. */
export function quotasInForce(team: string, { teams, quotas }: QuotaSources): TeamQuotas {
  const own = teams.get(`${team}/${TEAM_SETTINGS_NAME}`)?.spec.quotas
  return effectiveQuotas(quotasOf(own ?? {}), quotas)
}
