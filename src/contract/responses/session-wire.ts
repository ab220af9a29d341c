import type { Principal } from '../../domain/access/principal.ts'
import type { ListedSession, Session, SessionSubject } from '../../domain/access/session.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type {
  ListedSession as WireListedSession,
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

/** @param currentId the session that asks, as lists name it; null = a token does */
export function toWireListedSession(
  { kind, name }: SessionSubject,
  session: ListedSession,
  currentId: string | null,
): WireListedSession {
  return {
    id: session.id,
    is_current: session.id === currentId,
    kind,
    subject: name,
    device: session.device,
    address: session.address,
    opened_for: session.openedFor,
    created_at: formatTimestamp(session.createdAtMs),
    last_used_at: formatTimestamp(session.usedAtMs),
    idle_expires_at: formatTimestamp(Math.min(session.idleEndMs, session.endMs)),
    expires_at: formatTimestamp(session.endMs),
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
