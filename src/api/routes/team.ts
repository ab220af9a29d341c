import type { Router } from 'express'
import { toWireTeam } from '../../contract/responses/team-wire.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { TeamUsageReader } from '../../ports/quotas.ts'
import { answerJson } from '../answers.ts'
import { createTeamRouter } from '../team-routes.ts'

export interface TeamRouteParts {
  readonly usage: TeamUsageReader
  quotasOf(team: string): TeamQuotas
}

export function createTeamRoutes({ usage, quotasOf }: TeamRouteParts): Router {
  return createTeamRouter({
    '/api/team': {
      GET: async ({ team, response }) => {
        const body = toWireTeam(team, quotasOf(team), await usage.read(team))
        answerJson(response, 200, JSON.stringify(body))
      },
    },
  })
}
