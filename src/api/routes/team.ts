import { Router } from 'express'
import { toWireTeam } from '../../contract/responses/team-wire.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { TeamUsageReader } from '../../ports/quotas.ts'
import { answerJson } from '../answers.ts'
import { forTeam, methodNotAllowed } from '../route-handler.ts'

export interface TeamRouteParts {
  readonly usage: TeamUsageReader
  quotasOf(team: string): TeamQuotas
}

export function createTeamRoutes({ usage, quotasOf }: TeamRouteParts): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes
    .route('/api/team')
    .get(
      forTeam(async ({ team, response }) => {
        const body = toWireTeam(team, quotasOf(team), await usage.read(team))
        answerJson(response, 200, JSON.stringify(body))
      }),
    )
    .all(methodNotAllowed('GET', 'HEAD'))
  return routes
}
