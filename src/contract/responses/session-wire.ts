import type { Principal } from '../../domain/access/principal.ts'
import type { Session } from '../../domain/access/session.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type {
  LoginCode as WireLoginCode,
  LoginOffer as WireLoginOffer,
  Session as WireSession,
} from '../../../clients/typescript/src/generated/wire.ts'

export function toWireSession({ subject, openedFor, createdAtMs, idleEndMs, endMs }: Session): WireSession {
  const { kind, name, team } = subject
  return {
    kind,
    subject: name,
    team,
    opened_for: openedFor,
    created_at: formatTimestamp(createdAtMs),
    idle_expires_at: formatTimestamp(Math.min(idleEndMs, endMs)),
    expires_at: formatTimestamp(endMs),
  }
}

export function toWireLoginCode({
  code,
  endMs,
}: {
  readonly code: string
  readonly endMs: number
}): WireLoginCode {
  return { code, expires_at: formatTimestamp(endMs) }
}

export function toWireLoginOffer({
  kind,
  subject,
  team,
}: Pick<Principal, 'kind' | 'subject' | 'team'>): WireLoginOffer {
  return { kind, subject, team }
}
