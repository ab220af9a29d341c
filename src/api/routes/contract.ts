import { Router } from 'express'
import { OPENAPI_DOCUMENT } from '../../contract/generated/openapi-document.ts'
import { answerJson } from '../answers.ts'
import { forTeam, methodNotAllowed } from '../route-handler.ts'

export function createContractRoutes(): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes
    .route('/api/openapi.json')
    .get(forTeam(({ response }) => answerJson(response, 200, OPENAPI_DOCUMENT)))
    .all(methodNotAllowed('GET', 'HEAD'))
  return routes
}
