import type { RequestBody } from '../../contract/fields/json-body.ts'
import { hash } from 'node:crypto'
import type { Router } from 'express'
import { singleProblem } from '../../contract/fields/field-errors.ts'
import { refusedAs } from '../../contract/fields/validation-texts.ts'
import { readPageQuery } from '../../contract/requests/list-query.ts'
import { readNewToken } from '../../contract/requests/token-request.ts'
import { toWireToken } from '../../contract/responses/access/token-wire.ts'
import type { AuditedResource } from '../../domain/access/audit-record.ts'
import type { Principal } from '../../domain/access/principal.ts'
import { excessOf, mayLastUntil } from '../../domain/access/token-principal.ts'
import { SHARED_RATES_MAX, TOKEN_DAYS_BY_USER_MAX } from '../../domain/access/token-terms.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ListedToken, TokenStore, TokenUses } from '../../ports/access/tokens.ts'
import { answerError, answerJson, answerNotFound, answerProblem } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import type { BodyReader } from '../body-reader.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needsInQueues,
  type TeamRequest,
  withBody,
} from '../team-routes.ts'
import { type CursorBox, sealedPage } from './sealed-cursors.ts'
import { prefixOf, TOKEN_BYTES, tokenTextOf } from './token-text.ts'

const SHARED_TOO_OFTEN = `Your token shares the rate limits of ${SHARED_RATES_MAX} others, so tokens that it creates cannot share its own as well`

export interface TokenRouteParts {
  readonly cursorBox: CursorBox
  readonly tokenStore: TokenStore
  readonly tokenUses: TokenUses
  readonly auditLog: AuditLog
  /** Random bytes fit for secrets. */
  readonly newSecret: (bytes: number) => Uint8Array
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
}

/** Whoever is limited to queues sees and makes only tokens that are limited to these. */
export function createTokenRoutes(parts: TokenRouteParts): Router {
  return createTeamRouter({
    '/api/tokens': {
      GET: needsInQueues('admin', (context) => list(context, parts)),
      POST: needsInQueues('admin', (context) =>
        withBody(context, parts, (body) => create(context, parts, body)),
      ),
    },
    '/api/tokens/:token_id': { DELETE: needsInQueues('admin', (context) => remove(context, parts)) },
  })
}

function list(context: TeamRequest, parts: TokenRouteParts): Promise<void> {
  const { tokenStore, tokenUses, cursorBox: box } = parts
  const { team, principal, search } = context
  return answerPage(
    context,
    readPageQuery(search),
    async (query) => {
      const page = await sealedPage({ principal, box }, query, (opened) =>
        tokenStore.list({ team, ...opened }),
      )
      if (page === 'bad_cursor') return page
      const tokens = page.tokens.filter((token) => isWithin(principal, token))
      const used = await tokenUses.lastUsed(
        team,
        tokens.map(({ name }) => name),
      )
      const rows = tokens.map((token, index) => ({ token, usedAtMs: used[index] ?? null }))
      return { rows, next_cursor: page.nextCursor }
    },
    ({ rows, ...rest }) => ({
      field: 'tokens',
      rows,
      toWire: ({ token, usedAtMs }) => toWireToken(token, usedAtMs),
      rest,
    }),
  )
}

async function create(context: TeamRequest, parts: TokenRouteParts, body: RequestBody): Promise<void> {
  const { team, principal, response } = context
  const nowMs = parts.clock.wallMs()
  const given = acceptedBody(context, readNewToken(body, nowMs))
  if (given === null) return
  if (!mayLastUntil(principal, given.terms.expiresAtMs, nowMs)) {
    return answerProblem(response, singleProblem('expires_at', mustEndSoon('expires_at')))
  }
  const excess = excessOf(principal, given.terms)
  if (excess !== null) {
    return answerError(response, 403, `A token cannot be given more than you have yourself: ${excess}`)
  }
  const { rates: sharedWith = [] } = principal
  if (sharedWith.length > SHARED_RATES_MAX) return answerError(response, 403, SHARED_TOO_OFTEN)
  const { rateLimit } = given.terms
  // Otherwise a token could make others to send more than it may.
  const terms =
    rateLimit === null || sharedWith.length === 0
      ? given.terms
      : { ...given.terms, rateLimit: { ...rateLimit, sharedWith } }
  const text = tokenTextOf(parts.newSecret(TOKEN_BYTES))
  const token = { team, ...given, terms, prefix: prefixOf(text), sha256Hex: hash('sha256', text, 'hex') }
  const shown = toWireToken(token, null)
  await withAudit(parts.auditLog, context, {
    action: 'create',
    resource: resourceOf(token),
    before: null,
    change: () => parts.tokenStore.create(token),
    endOf: () => ({ after: shown }),
  })
  answerJson(response, 201, JSON.stringify({ ...shown, token: text }))
}

async function remove(context: TeamRequest, { tokenStore, auditLog }: TokenRouteParts): Promise<void> {
  const { team, principal, parameter, response } = context
  const token = await tokenStore.get(team, parameter('token_id'))
  if (token === null || !isWithin(principal, token)) return answerNotFound(response)
  const end = await withAudit(auditLog, context, {
    action: 'delete',
    resource: resourceOf(token),
    before: toWireToken(token, null),
    change: () => tokenStore.remove(team, token.name),
    endOf: (removal) => (removal === 'removed' ? { after: null } : null),
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

function mustEndSoon(field: string): string {
  return refusedAs(
    field,
    `is required when a user creates a token, at most ${TOKEN_DAYS_BY_USER_MAX} days ahead: the token outlives the rights of its creator.`,
  )
}

function resourceOf({ name }: ListedToken): AuditedResource {
  return { kind: 'token', id: name, name }
}

function isWithin({ queues }: Principal, { terms }: ListedToken): boolean {
  return queues === null || (terms.queues?.every((name) => queues.has(name)) ?? false)
}
