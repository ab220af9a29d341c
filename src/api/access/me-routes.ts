import type { Router } from 'express'
import { toWireMe } from '../../contract/responses/me-wire.ts'
import { answerJson } from '../answers.ts'
import { createTeamRouter, needsInQueues } from '../team-routes.ts'

export function createMeRoutes(): Router {
  return createTeamRouter({
    '/api/me': {
      GET: needsInQueues(null, ({ principal, response }) =>
        answerJson(response, 200, JSON.stringify(toWireMe(principal))),
      ),
    },
  })
}
