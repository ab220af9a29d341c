import type { Router } from 'express'
import { OPENAPI_DOCUMENT } from '../../contract/generated/openapi-document.ts'
import { answerJson } from '../answers.ts'
import { createTeamRouter, needs } from '../team-routes.ts'

export function createContractRoutes(): Router {
  return createTeamRouter({
    '/api/openapi.json': { GET: needs(null, ({ response }) => answerJson(response, 200, OPENAPI_DOCUMENT)) },
  })
}
