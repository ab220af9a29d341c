import type { Router } from 'express'
import { readAuditQuery } from '../../contract/requests/audit-query.ts'
import { toWireAuditRecord } from '../../contract/responses/audit-wire.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Clock } from '../../ports/runtime.ts'
import { answerPage, createTeamRouter, needs } from '../team-routes.ts'

export interface AuditRouteParts {
  readonly auditLog: AuditLog
  readonly clock: Pick<Clock, 'wallMs'>
}

export function createAuditRoutes({ auditLog, clock }: AuditRouteParts): Router {
  return createTeamRouter({
    '/api/audit': {
      GET: needs('operate', (context) =>
        answerPage(
          context,
          readAuditQuery(context.search, clock.wallMs()),
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
