import type { Router } from 'express'
import { readTeamSessionsEnd } from '../../contract/requests/session-query.ts'
import { toWireListedSession } from '../../contract/responses/session-wire.ts'
import type { AuditedResource } from '../../domain/access/audit-record.ts'
import {
  type ListedSession,
  SESSION_MAX_MS,
  type SessionSubject,
  subjectOf,
} from '../../domain/access/session.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { SessionStore } from '../../ports/access/session-store.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ListedSession as WireListedSession } from '../../../clients/typescript/src/generated/wire.ts'
import { answerJson, answerNotFound, answerProblem } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import { bearerOf } from '../authenticator.ts'
import { createTeamRouter, needs, needsInQueues, type TeamRequest } from '../team-routes.ts'
import { sessionCookie, sessionIdOf } from './session-cookie.ts'

/** Tokens and users whose sessions one answer lists: those who logged in last. */
const SUBJECTS_LISTED_MAX = 200
/** Of these, so many are read together. */
const SUBJECTS_READ_TOGETHER = 20

export interface SessionListParts {
  readonly sessions: SessionStore
  readonly auditLog: AuditLog
  readonly clock: Pick<Clock, 'wallMs'>
}

/** Routes that list sessions and end them one by one: one's own, and for admins those that were opened for the team. */
export function createSessionListRoutes(parts: SessionListParts): Router {
  return createTeamRouter({
    '/api/sessions': { GET: needsInQueues(null, (context) => listOwn(context, parts)) },
    '/api/sessions/:session_id': { DELETE: needsInQueues(null, (context) => endOwn(context, parts)) },
    '/api/team/sessions': {
      GET: needs('admin', (context) => listOfTeam(context, parts)),
      DELETE: needs('admin', (context) => endOfTeam(context, parts)),
    },
  })
}

async function listOwn(context: TeamRequest, { sessions }: SessionListParts): Promise<void> {
  const subject = subjectOf(context.principal)
  const rows = await sessions.list(subject)
  const current = currentOf(context, sessions)
  const wire = rows.map((session) => toWireListedSession(subject, session, current))
  answerJson(context.response, 200, JSON.stringify({ sessions: wire }))
}

async function endOwn(context: TeamRequest, parts: SessionListParts): Promise<void> {
  const { parameter, principal, request, response } = context
  const subject = subjectOf(principal)
  const id = parameter('session_id')
  const session = (await parts.sessions.list(subject)).find((one) => one.id === id)
  if (session === undefined) return answerNotFound(response)
  await endAudited(context, parts, { subject, session })
  const isCurrent = id === currentOf(context, parts.sessions)
  response.writeHead(204, isCurrent ? { 'Set-Cookie': sessionCookie(request, null, 0) } : {}).end()
}

async function listOfTeam(context: TeamRequest, parts: SessionListParts): Promise<void> {
  const { team, response } = context
  const { sessions, auditLog, clock } = parts
  // No session is older than its login, and the audit log has every login of the team.
  const all = await auditLog.loggedIn(team, clock.wallMs() - SESSION_MAX_MS)
  const subjects = all
    .slice(0, SUBJECTS_LISTED_MAX)
    .flatMap(({ kind, name }) => sessionSubjectOf(kind, name, team) ?? [])
  const current = currentOf(context, sessions)
  const wire: WireListedSession[] = []
  for (let at = 0; at < subjects.length; at += SUBJECTS_READ_TOGETHER) {
    const some = subjects.slice(at, at + SUBJECTS_READ_TOGETHER)
    const found = await Promise.all(some.map((subject) => sessionsIn(team, subject, sessions)))
    some.forEach((subject, i) =>
      wire.push(...(found[i] ?? []).map((session) => toWireListedSession(subject, session, current))),
    )
  }
  const isComplete = all.length <= SUBJECTS_LISTED_MAX
  answerJson(response, 200, JSON.stringify({ sessions: wire, is_complete: isComplete }))
}

async function endOfTeam(context: TeamRequest, parts: SessionListParts): Promise<void> {
  const { team, response, search } = context
  const query = readTeamSessionsEnd(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const { kind, subject: name, id } = query.value
  const subject: SessionSubject = { kind, team: kind === 'token' ? team : null, name }
  const open = await sessionsIn(team, subject, parts.sessions)
  const ending = id === null ? open : open.filter((session) => session.id === id)
  for (const session of ending) await endAudited(context, parts, { subject, session })
  answerJson(response, 200, JSON.stringify({ ended: ending.length }))
}

/** Each has a record of its own: it says which device was logged out. */
async function endAudited(
  context: TeamRequest,
  { sessions, auditLog }: SessionListParts,
  { subject, session }: { readonly subject: SessionSubject; readonly session: ListedSession },
): Promise<void> {
  const { id, device, address } = session
  const resource: AuditedResource = { kind: 'session', id, name: subject.name }
  await withAudit(auditLog, context, {
    action: 'logout',
    resource,
    before: { device, address },
    change: () => sessions.endListed(subject, id),
    endOf: () => ({ after: null }),
  })
}

/** A token belongs to the team; of a user, the sessions that were opened for the team. Those of other teams are theirs. */
async function sessionsIn(
  team: string,
  subject: SessionSubject,
  sessions: SessionStore,
): Promise<readonly ListedSession[]> {
  const open = await sessions.list(subject)
  return subject.kind === 'token' ? open : open.filter(({ openedFor }) => openedFor === team)
}

function sessionSubjectOf(
  kind: 'token' | 'user' | 'system',
  name: string,
  team: string,
): SessionSubject | null {
  return kind === 'system' ? null : { kind, team: kind === 'token' ? team : null, name }
}

/** The session of the request, as lists name it; null = it came with a token. */
function currentOf({ request }: TeamRequest, sessions: SessionStore): string | null {
  const id = bearerOf(request) === null ? sessionIdOf(request) : null
  return id === null ? null : sessions.listedIdOf(id)
}
