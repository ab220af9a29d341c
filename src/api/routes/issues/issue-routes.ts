import type { Router } from 'express'
import type { RequestBody } from '../../../contract/fields/json-body.ts'
import { readIssueMute, readIssueQuery } from '../../../contract/requests/issue-request.ts'
import { toWireIssue } from '../../../contract/responses/issue-wire.ts'
import type { Issue, IssueChange } from '../../../domain/issues/issue.ts'
import type { IssueStore } from '../../../ports/issues/issue-store.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import { maySeeResource } from '../../access/queue-guard.ts'
import { answerJson, answerNotFound } from '../../answers.ts'
import type { BodyReader } from '../../body-reader.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needsInQueues,
  type TeamRequest,
  withBody,
} from '../../team-routes.ts'

export interface IssueRouteParts {
  readonly issues: IssueStore
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
}

/** Longer than any id. */
const ID_CHARACTERS_MAX = 32

export function createIssueRoutes(parts: IssueRouteParts): Router {
  const changes = ['acknowledge', 'resolve', 'reopen'] as const
  return createTeamRouter({
    '/api/issues': { GET: needsInQueues('read', (context) => list(context, parts)) },
    '/api/issues/:issue_id': {
      GET: needsInQueues('read', async (context) => {
        const id = idOf(context)
        answerIssue(context, id === null ? null : await parts.issues.get(context.team, id))
      }),
    },
    '/api/issues/:issue_id/mute': {
      POST: needsInQueues('operate', (context) =>
        withBody(context, parts, (body) => mute(context, parts, body)),
      ),
    },
    ...Object.fromEntries(
      changes.map((name) => [
        `/api/issues/:issue_id/${name}`,
        { POST: needsInQueues('operate', (context) => change(context, parts, { name, mutedUntilMs: null })) },
      ]),
    ),
  })
}

function list(context: TeamRequest, { issues }: IssueRouteParts): Promise<void> {
  const { team, principal, search } = context
  return answerPage(
    context,
    readIssueQuery(search),
    async (query) => {
      const page = await issues.list({ team, ...query })
      if (page === 'bad_cursor') return page
      return { ...page, issues: page.issues.filter(({ resource }) => maySeeResource(principal, resource)) }
    },
    (page) => ({
      field: 'issues',
      rows: page.issues,
      toWire: toWireIssue,
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

async function mute(context: TeamRequest, parts: IssueRouteParts, body: RequestBody): Promise<void> {
  const wanted = acceptedBody(context, readIssueMute(body, parts.clock.wallMs()))
  if (wanted !== null) await change(context, parts, { name: 'mute', mutedUntilMs: wanted.untilMs })
}

async function change(
  context: TeamRequest,
  { issues }: IssueRouteParts,
  { name, mutedUntilMs }: { readonly name: IssueChange; readonly mutedUntilMs: number | null },
): Promise<void> {
  const { team, actor } = context
  const issueId = idOf(context)
  if (issueId === null) return answerNotFound(context.response)
  answerIssue(context, await issues.change({ team, issueId, change: name, mutedUntilMs, actor }))
}

function idOf({ parameter }: TeamRequest): string | null {
  const id = parameter('issue_id')
  return id.length > ID_CHARACTERS_MAX ? null : id
}

function answerIssue({ principal, response }: TeamRequest, issue: Issue | null): void {
  if (issue === null || !maySeeResource(principal, issue.resource)) return answerNotFound(response)
  answerJson(response, 200, JSON.stringify(toWireIssue(issue)))
}
