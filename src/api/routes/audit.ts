import type { Router } from 'express'
import { readAuditQuery } from '../../contract/requests/audit-query.ts'
import { toWireAuditRecord } from '../../contract/responses/audit-wire.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import { answerPage, createTeamRouter, needs } from '../team-routes.ts'

export interface AuditRouteParts {
  readonly auditLog: AuditLog
}

export function createAuditRoutes({ auditLog }: AuditRouteParts): Router {
  return createTeamRouter({
    '/api/audit': {
      GET: needs('operate', (context) =>
        answerPage(
          context,
          readAuditQuery(context.search),
          (query) => auditLog.list({ team: context.team, ...query }),
          ({ records, nextCursor }) => ({
            field: 'records',
            rows: records,
            toWire: toWireAuditRecord,
            rest: { next_cursor: nextCursor },
          }),
        ),
      ),
    },
  })
}
