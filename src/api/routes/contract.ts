import type { Router } from 'express'
import { OPENAPI_DOCUMENT } from '../../contract/generated/openapi-document.ts'
import { answerJson } from '../answers.ts'
import { createTeamRouter, needsInQueues } from '../team-routes.ts'

export function createContractRoutes(): Router {
  return createTeamRouter({
    '/api/openapi.json': {
      GET: needsInQueues(null, ({ response }) => answerJson(response, 200, OPENAPI_DOCUMENT)),
    },
  })
}
