import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TokenVerifier } from '../ports/team-settings.ts'
import { answerError } from './answers.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

/** The team of a request; null when it was refused, then 401 has been answered. */
export function authenticate(
  request: IncomingMessage,
  response: ServerResponse,
  tokens: TokenVerifier,
): string | null {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined) {
    answerError(response, 401, 'Missing authorization token', CHALLENGE)
    return null
  }
  const team = tokens.teamOf(token)
  if (team === null) answerError(response, 401, 'Invalid authorization token', CHALLENGE)
  return team
}
