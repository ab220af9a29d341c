import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import type { AuditedAction } from '../../domain/access/audit-record.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import { withAudit } from '../audit-trail.ts'
import {
  readAlertDeletion,
  readAlertQuery,
  readAlertSelection,
  type WantedAlerts,
} from '../../contract/requests/alert-query.ts'
import { toWireAlert, toWireUnread } from '../../contract/responses/alert-wire.ts'
import type { Alert } from '../../domain/alerts/alert.ts'
import type { AlertStore } from '../../ports/alerts.ts'
import type { DeliveryReader } from '../../ports/notifications.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { maySeeResource } from '../access/queue-guard.ts'
import { answerJson, answerNotFound, answerProblem } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needs,
  needsInQueues,
  type TeamRequest,
  withBody,
  withId,
} from '../team-routes.ts'

export interface AlertRouteParts {
  readonly auditLog: AuditLog
  readonly alerts: AlertStore
  readonly deliveries: DeliveryReader
  readonly bodies: BodyReader
  readonly logger: Logger
  readonly clock: Pick<Clock, 'wallMs'>
}

export function createAlertRoutes(parts: AlertRouteParts): Router {
  const { alerts } = parts
  return createTeamRouter({
    '/api/alerts': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      DELETE: needs('operate', (context) => removeAll(context, parts)),
    },
    '/api/alerts/counts': {
      GET: needs('read', async ({ team, response }) =>
        answerJson(response, 200, JSON.stringify(toWireUnread(await alerts.counts(team)))),
      ),
    },
    '/api/alerts/read': {
      POST: needs('operate', (context) =>
        withBody(context, parts, (body) => markAllRead(context, parts, body)),
      ),
    },
    '/api/alerts/:alert_id': {
      GET: needsInQueues('read', async (context) =>
        answerAlert(context, parts, await withId(context, 'alert_id', (id) => alerts.get(context.team, id))),
      ),
      DELETE: needsInQueues('operate', (context) => remove(context, alerts)),
    },
    '/api/alerts/:alert_id/read': {
      POST: needsInQueues('operate', async (context) =>
        answerAlert(
          context,
          parts,
          await withId(context, 'alert_id', (id) => alerts.markRead(context.team, id, context.actor)),
        ),
      ),
    },
  })
}

function list(context: TeamRequest, { alerts, deliveries, clock }: AlertRouteParts): Promise<void> {
  const { team, principal, search } = context
  return answerPage(
    context,
    readAlertQuery(search, clock.wallMs()),
    async (query) => {
      const page = await alerts.list({ team, ...query })
      if (page === 'bad_cursor') return page
      const shown = page.alerts.filter(({ resource }) => maySeeResource(principal, resource))
      return { ...page, alerts: shown, deliveries: await deliveries.deliveriesOf(team, shown) }
    },
    (page) => ({
      field: 'alerts',
      rows: page.alerts,
      toWire: (alert: Alert) => toWireAlert(alert, page.deliveries.get(alert.id) ?? []),
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

async function markAllRead(context: TeamRequest, parts: AlertRouteParts, body: RequestBody): Promise<void> {
  const filter = acceptedBody(context, readAlertSelection(body))
  if (filter === null) return
  const change = () => parts.alerts.markAllRead(context.team, filter)
  const updated = await changedMany(context, parts, { action: 'read', filter, change })
  answerJson(context.response, 200, JSON.stringify({ updated }))
}

async function removeAll(context: TeamRequest, parts: AlertRouteParts): Promise<void> {
  const { team, search, response } = context
  const query = readAlertDeletion(search, parts.clock.wallMs())
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const filter = query.value
  const change = () => parts.alerts.removeAll(team, filter)
  const deleted = await changedMany(context, parts, { action: 'delete', filter, change })
  answerJson(response, 200, JSON.stringify({ deleted }))
}

/** The entry has the filter, and how many alerts were changed. */
function changedMany(
  context: TeamRequest,
  { auditLog }: AlertRouteParts,
  { action, filter, change }: { action: AuditedAction; filter: WantedAlerts; change: () => Promise<number> },
): Promise<number> {
  const wanted = Object.entries(filter).filter(([, value]) => value !== null)
  return withAudit(auditLog, context, {
    action,
    resource: { kind: 'alert', id: null, name: null },
    before: null,
    change,
    endOf: (count) => (count === 0 ? null : { after: { count, filter: Object.fromEntries(wanted) } }),
  })
}

async function remove(context: TeamRequest, alerts: AlertStore): Promise<void> {
  const isRemoved = await withId(context, 'alert_id', (id) => alerts.remove(context.team, id, context.actor))
  if (isRemoved === true) context.response.writeHead(204).end()
  else answerNotFound(context.response)
}

async function answerAlert(
  { team, response }: TeamRequest,
  { deliveries }: AlertRouteParts,
  alert: Alert | null,
): Promise<void> {
  if (alert === null) return answerNotFound(response)
  const found = await deliveries.deliveriesOf(team, [alert])
  answerJson(response, 200, JSON.stringify(toWireAlert(alert, found.get(alert.id) ?? [])))
}
