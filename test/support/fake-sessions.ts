import type { Session } from '../../src/domain/access/session.ts'
import type { LoginCodes, LoginGrant } from '../../src/ports/access/login-codes.ts'
import type { SessionStore } from '../../src/ports/access/session-store.ts'

/** The session that a fake store begins with, for a request over plain HTTP on this machine. */
export const FIRST_SESSION = { host: 'localhost', cookie: 'theme=dark; punctual-80=first' }
const NOW_MS = Date.UTC(2026, 10, 21, 10)

export interface FakeSessions extends SessionStore {
  readonly open: SessionStore['open']
  readonly all: Map<string, Session>
}

/** Sessions in memory, without time. @param token of the session `first` */
export function createFakeSessions(token: string): FakeSessions {
  const all = new Map<string, Session>()
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
    open: async (login) => {
      opened += 1
      const id = `session-${opened}`
      return { id, session: add(id, login) }
    },
    use: async (id) => all.get(id) ?? null,
    end: async (id) => void all.delete(id),
    endAll: async (id) => {
      const name = all.get(id)?.subject.name
      for (const [other, { subject }] of all) if (subject.name === name) all.delete(other)
    },
  }
}

export function failingSessions(fault: Error): SessionStore {
  const fail = () => Promise.reject(fault)
  return { open: fail, use: fail, end: fail, endAll: fail }
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
