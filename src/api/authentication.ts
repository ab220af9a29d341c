import type { TokenVerifier } from '../ports/settings.ts'
import type { Exchange, Refuser } from './refuser.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

/** Knows the teams of requests, and hangs up on whoever has no token: a connection is kept for users only. */
export interface Authenticator {
  /** null when the request was refused: then 401 has been answered. */
  teamOf(exchange: Exchange): string | null
}

export function createAuthenticator(tokens: TokenVerifier, refuser: Refuser): Authenticator {
  const refuse = (exchange: Exchange, error: string): null => {
    refuser.hangUp(exchange, { status: 401, error, headers: CHALLENGE })
    return null
  }
  return {
    teamOf: (exchange) => {
      const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1]
      if (token === undefined) return refuse(exchange, 'Missing authorization token')
      return tokens.teamOf(token) ?? refuse(exchange, 'Invalid authorization token')
    },
  }
}
