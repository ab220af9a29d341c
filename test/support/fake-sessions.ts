import type {
  ListedSession,
  Session,
  SessionOrigin,
  SessionSubject,
} from '../../src/domain/access/session.ts'
import type { LoginCodes, LoginGrant } from '../../src/ports/access/login-codes.ts'
import type { SessionStore } from '../../src/ports/access/session-store.ts'

/** The session that a fake store begins with, for a request over plain HTTP on this machine. */
export const FIRST_SESSION = { host: 'localhost', cookie: 'theme=dark; punctual-80=first' }
const NOW_MS = Date.UTC(2026, 10, 21, 10)

export interface FakeSessions extends SessionStore {
  readonly open: SessionStore['open']
  readonly all: Map<string, Session>
  /** Where each was opened. */
  readonly origins: Map<string, SessionOrigin>
}

/** Sessions in memory, without time. @param token of the session `first` */
export function createFakeSessions(token: string): FakeSessions {
  const all = new Map<string, Session>()
  const origins = new Map<string, SessionOrigin>()
  const listed = ({ kind, team, name }: SessionSubject): ListedSession[] =>
    [...all].flatMap(([id, { subject, createdAtMs, idleEndMs, endMs, openedFor }]) =>
      subject.kind === kind && subject.team === team && subject.name === name
        ? [
            {
              id: `listed-${id}`,
              ...(origins.get(id) ?? { device: null, address: null }),
              openedFor: origins.has(id) ? openedFor : null,
              createdAtMs,
              usedAtMs: createdAtMs,
              idleEndMs,
              endMs,
            },
          ]
        : [],
    )
  const add = (id: string, login: Parameters<SessionStore['open']>[0]): Session => {
    const times = { createdAtMs: NOW_MS, idleEndMs: NOW_MS + 1_000, endMs: NOW_MS + 2_000 }
    const session = { ...login, ...times }
    all.set(id, session)
    return session
  }
  const subject = { kind: 'token', team: 'default', name: 'test' } as const
  add('first', { subject, credential: { kind: 'token', token }, openedFor: 'default' })
  let opened = 0
  return {
    all,
    origins,
    open: async (login, origin) => {
      opened += 1
      const id = `session-${opened}`
      origins.set(id, origin)
      return { id, session: add(id, login) }
    },
    use: async (id) => all.get(id) ?? null,
    end: async (id) => void all.delete(id),
    endAll: async (id) => {
      const name = all.get(id)?.subject.name
      for (const [other, { subject }] of all) if (subject.name === name) all.delete(other)
    },
    list: async (subject) => listed(subject),
    endListed: async (subject, listedId) => {
      if (listed(subject).some(({ id }) => id === listedId)) all.delete(listedId.slice('listed-'.length))
    },
    listedIdOf: (id) => `listed-${id}`,
  }
}

export function failingSessions(fault: Error): SessionStore {
  const fail = () => Promise.reject(fault)
  return {
    open: fail,
    use: fail,
    end: fail,
    endAll: fail,
    list: fail,
    endListed: fail,
    listedIdOf: () => null,
  }
}

/** Codes in memory, without time. */
export function createFakeCodes(): LoginCodes {
  const all = new Map<string, LoginGrant>()
  return {
    create: async (grant) => {
      const code = `code-${all.size}`
      all.set(code, grant)
      return { code, endMs: NOW_MS + 600_000 }
    },
    find: async (code) => all.get(code) ?? null,
    take: async (code) => all.delete(code),
  }
}

export function failingCodes(fault: Error): LoginCodes {
  const fail = () => Promise.reject(fault)
  return { create: fail, find: fail, take: fail }
}
