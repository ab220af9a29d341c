import type { Router } from 'express'
import type { Authenticator } from '../authenticator.ts'
import { createTeamRouter, needs } from '../team-routes.ts'
import type { EventStreams } from './event-streams.ts'

export interface EventRouteParts {
  readonly events: Pick<EventStreams, 'open'>
  readonly authenticator: Authenticator
}

export function createEventRoutes({ events, authenticator }: EventRouteParts): Router {
  return createTeamRouter({
    '/api/events': {
      GET: needs('read', ({ principal, request, response }) =>
        events.open({
          principal,
          response,
          isHead: request.method === 'HEAD',
          isStillAllowed: async () => {
            const now = await authenticator.principalNow({ request, response })
            return (
              now === 'unknown' ||
              (now?.team === principal.team && now.permissions.has('read') && now.queues === null)
            )
          },
        }),
      ),
    },
  })
}
