import { createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto'
import {
  type ListedSession,
  type Session,
  type SessionCredential,
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
  SESSIONS_PER_SUBJECT_MAX,
  type SessionOrigin,
  type SessionSubject,
} from '../../../domain/access/session.ts'
import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { SessionStore } from '../../../ports/access/session-store.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { SecretBox } from '../../base/secret-box.ts'
import { sessionsKey } from '../../base/layout/keys.ts'

export const OPEN_SESSION = step('open_session', import.meta.url, {
  keys: ['sessions'],
  args: ['session', 'sealed', 'origin', 'idleMs', 'lifeMs', 'sessionsMax'],
})
export const USE_SESSION = step('use_session', import.meta.url, {
  keys: ['sessions'],
  args: ['session', 'idleMs', 'noteMs'],
})
export const LIST_SESSIONS = step('list_sessions', import.meta.url, { keys: ['sessions'], args: ['idleMs'] })
export const END_SESSION = step('end_session', import.meta.url, { keys: ['sessions'], args: ['session'] })

/** How often a use is noted: an idle session may end this much earlier. */
const NOTE_MS = 60_000
const SECRET_BYTES = 32
/** Of the hash of a secret, as lists name a session: 16 hexadecimal digits, which need no quotes anywhere. */
const LISTED_BYTES = 8
/** The hash of the subject and the secret, 43 characters of base64url each. */
const ID = /^(?<subject>[\w-]{43})\.(?<secret>[\w-]{43})$/

/**
 * The sessions of a subject are fields of one hash, so that their number is bounded and all end in one step. Redis holds
 * hashes of secrets, and what a session stands for is sealed under a key that is made of the secret: who reads Redis can
 * neither use a session nor learn the token behind it.
 */
export function createSessionStore({ runner }: Pick<Engine, 'runner'>): SessionStore {
  const endSession = async ({ sessions, session }: { sessions: string; session: string }): Promise<void> => {
    await runner.run(END_SESSION.with({ sessions, session }), STORE_DEADLINE_MS)
  }
  const stored = async (sessions: string): Promise<readonly StoredRow[]> => {
    const call = LIST_SESSIONS.with({ sessions, idleMs: SESSION_IDLE_MS })
    return (await runner.run(call, STORE_DEADLINE_MS)) as readonly StoredRow[]
  }
  return {
    open: async (login, { device, address }) => {
      const { subject, credential, openedFor } = login
      const origin: StoredOrigin = [device, address, openedFor]
      const id = `${subjectHash(subject)}.${randomBytes(SECRET_BYTES).toString('base64url')}`
      const place = placeOf(id)
      if (place === null) throw new Error('a new session has a valid id')
      const sealed = place.box.seal(JSON.stringify([subject, credential, openedFor]), 'session')
      const bounds = {
        idleMs: SESSION_IDLE_MS,
        lifeMs: SESSION_MAX_MS,
        sessionsMax: SESSIONS_PER_SUBJECT_MAX,
      }
      const call = OPEN_SESSION.with({ ...place, sealed, origin: JSON.stringify(origin), ...bounds })
      const answer = await runner.run(call, STORE_DEADLINE_MS)
      const [created, ends] = (answer as readonly string[]).map(Number) as [number, number]
      const times = { createdAtMs: created, idleEndMs: created + SESSION_IDLE_MS, endMs: ends }
      return { id, session: { ...login, ...times } }
    },
    use: async (id) => {
      const place = placeOf(id)
      if (place === null) return null
      const { sessions, session } = place
      const call = USE_SESSION.with({ sessions, session, idleMs: SESSION_IDLE_MS, noteMs: NOTE_MS })
      const answer = (await runner.run(call, STORE_DEADLINE_MS)) as readonly string[] | null
      return answer === null ? null : sessionOf(answer, place.box)
    },
    end: async (id) => {
      const place = placeOf(id)
      if (place !== null) await endSession(place)
    },
    endAll: async (id) => {
      const place = placeOf(id)
      if (place !== null) await endSession({ ...place, session: '' })
    },
    list: async (subject) => {
      const rows = await stored(sessionsKey(subjectHash(subject)))
      return rows
        .map(listedSession)
        .toSorted((a, b) => b.usedAtMs - a.usedAtMs || b.createdAtMs - a.createdAtMs)
    },
    endListed: async (subject, listedId) => {
      const sessions = sessionsKey(subjectHash(subject))
      const row = (await stored(sessions)).find(([session]) => listedIdOf(session) === listedId)
      if (row !== undefined) await endSession({ sessions, session: row[0] })
    },
    listedIdOf: (id) => {
      const place = placeOf(id)
      return place === null ? null : listedIdOf(place.session)
    },
  }
}

type Sealed = [subject: SessionSubject, credential: SessionCredential, openedFor: string]

type StoredOrigin = [device: string | null, address: string | null, openedFor: string]
type StoredRow = readonly [session: string, created: string, used: string, ends: string, origin: string]

function listedIdOf(session: string): string {
  return Buffer.from(session, 'base64url').toString('hex', 0, LISTED_BYTES)
}

function listedSession([session, created, used, ends, origin]: StoredRow): ListedSession {
  const usedAtMs = Number(used)
  return {
    id: listedIdOf(session),
    ...originOf(origin),
    createdAtMs: Number(created),
    usedAtMs,
    idleEndMs: usedAtMs + SESSION_IDLE_MS,
    endMs: Number(ends),
  }
}

/** Nothing is known where an earlier version opened the session, or where the field is damaged. */
function originOf(text: string): SessionOrigin & Pick<ListedSession, 'openedFor'> {
  try {
    const [device, address, openedFor] = JSON.parse(text) as StoredOrigin
    return { device, address, openedFor }
  } catch {
    return { device: null, address: null, openedFor: null }
  }
}

function subjectHash({ kind, team, name }: SessionSubject): string {
  return hash('sha256', JSON.stringify([kind, team, name]), 'base64url')
}

/** Keys of a session, and the box that opens it; null = the id is none. */
function placeOf(id: string): { sessions: string; session: string; box: SecretBox } | null {
  const { subject = '', secret = '' } = ID.exec(id)?.groups ?? {}
  if (secret === '') return null
  const key = hkdfSync('sha256', secret, subject, 'punctual session', SECRET_BYTES)
  return {
    sessions: sessionsKey(subject),
    session: hash('sha256', secret, 'base64url'),
    box: new SecretBox(createSecretKey(Buffer.from(key))),
  }
}

function sessionOf([created, idleEnd, ends, sealed = '']: readonly string[], box: SecretBox): Session | null {
  const opened = open(box, sealed)
  if (opened === null) return null
  const [subject, credential, openedFor] = opened
  const times = { createdAtMs: Number(created), idleEndMs: Number(idleEnd), endMs: Number(ends) }
  return { subject, credential, openedFor, ...times }
}

/** null = damaged. */
function open(box: SecretBox, sealed: string): Sealed | null {
  try {
    return JSON.parse(box.open(sealed, 'session')) as Sealed
  } catch {
    return null
  }
}
