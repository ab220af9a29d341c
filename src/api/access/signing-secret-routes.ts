import type { Router } from 'express'
import { toWireSigningSecret } from '../../contract/responses/access/signing-secret-wire.ts'
import type { AuditedResource } from '../../domain/access/audit-record.ts'
import {
  nameOfNewSecret,
  SECRET_NAME_BYTES,
  type SecretKeyRef,
  SIGNING_SECRET_BYTES,
  SIGNING_SECRET_KEY,
  signingSecretId,
  textOfSigningSecret,
} from '../../domain/access/signing-secret.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import { answerJson, answerNotFound } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import { createTeamRouter, needs, type TeamRequest } from '../team-routes.ts'

export interface SigningSecretRouteParts {
  readonly signingSecrets: SigningSecretStore
  readonly auditLog: AuditLog
  /** Random bytes fit for secrets. */
  readonly newSecret: (bytes: number) => Uint8Array
}

export function createSigningSecretRoutes(parts: SigningSecretRouteParts): Router {
  return createTeamRouter({
    '/api/signing-secrets': {
      GET: needs('admin', (context) => list(context, parts)),
      POST: needs('admin', (context) => create(context, parts)),
    },
    '/api/signing-secrets/:signing_secret_id': {
      DELETE: needs('admin', (context) => remove(context, parts)),
    },
  })
}

async function list({ team, response }: TeamRequest, parts: SigningSecretRouteParts): Promise<void> {
  const secrets = await parts.signingSecrets.list(team)
  const shown = secrets.map((secret, index) => toWireSigningSecret(secret, index === 0))
  answerJson(response, 200, JSON.stringify({ signing_secrets: shown, next_cursor: null }))
}

async function create(context: TeamRequest, parts: SigningSecretRouteParts): Promise<void> {
  const { team, response } = context
  const name = nameOfNewSecret(parts.newSecret(SECRET_NAME_BYTES))
  const text = textOfSigningSecret(parts.newSecret(SIGNING_SECRET_BYTES))
  const secret = await withAudit(parts.auditLog, context, {
    action: 'create',
    before: null,
    resource: resourceOf({ name, key: SIGNING_SECRET_KEY }),
    change: () => parts.signingSecrets.create(team, { name, text }),
    endOf: (made) => ({ after: toWireSigningSecret(made, true) }),
  })
  answerJson(response, 201, JSON.stringify({ ...toWireSigningSecret(secret, true), secret: text }))
}

async function remove(context: TeamRequest, parts: SigningSecretRouteParts): Promise<void> {
  const { team, parameter, response } = context
  const id = parameter('signing_secret_id')
  const secrets = await parts.signingSecrets.list(team)
  const index = secrets.findIndex((secret) => secret.id === id)
  const secret = secrets[index]
  if (secret === undefined) return answerNotFound(response)
  const end = await withAudit(parts.auditLog, context, {
    action: 'delete',
    resource: resourceOf(secret.secretRef),
    before: toWireSigningSecret(secret, index === 0),
    change: () => parts.signingSecrets.remove(team, id),
    endOf: (removal) => (removal === 'removed' ? { after: null } : null),
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

function resourceOf(place: SecretKeyRef): AuditedResource {
  return { kind: 'secret', id: signingSecretId(place), name: place.name }
}
