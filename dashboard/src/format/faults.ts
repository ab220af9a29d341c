import { ApiError, UnreachableError } from '../../../clients/typescript/src/client.ts'

/** What went wrong, in a sentence that says what can be done. */
export function faultText(fault: unknown): string {
  if (fault instanceof UnreachableError) return `Punctual does not answer: ${fault.message}.`
  if (!(fault instanceof ApiError)) return fault instanceof Error ? fault.message : String(fault)
  if (fault.status === 404) return 'It does not exist, or no longer does.'
  return fault.message.endsWith('.') ? fault.message : `${fault.message}.`
}

export function isLoggedOut(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 401
}

export function isAbsent(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 404
}

/** Whether `GET /api/me` was refused because the user has to name a team, or another one. */
export function isTeamRefused(fault: unknown): boolean {
  return fault instanceof ApiError && (fault.status === 400 || fault.status === 404)
}
