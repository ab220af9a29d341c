import { ApiError } from '../../../../clients/typescript/src/client.ts'
import { faultText } from '../../format/faults.ts'

const TEXTS: ReadonlyMap<string, string> = new Map([
  ['late', 'The login took too long, or began in another browser. Try again.'],
  ['refused', 'The provider refused the login; the log of Punctual says why.'],
  ['team', 'You are in several teams. Name one, and log in again.'],
  ['role', 'You have no role in this team. Ask somebody who administers it.'],
  ['away', 'The login cannot be checked now. Try again in a moment.'],
])

/** Why a login at a provider did not succeed. What the address says is looked up, never shown. */
export function troubleText(trouble: string | null): string | null {
  return trouble === null ? null : (TEXTS.get(trouble) ?? 'The login did not succeed. Try again.')
}

/** Why a token, or the code of a link, opens no session. */
export function refusalText(fault: unknown, by: 'token' | 'link'): string {
  switch (fault instanceof ApiError ? fault.status : 0) {
    case 400:
      return 'You are in several teams. Name one.'
    case 401:
      return by === 'token'
        ? 'Nobody has this token: it is mistyped, expired or deleted.'
        : 'This link has been used, or is too old. Ask for another one, or log in with a token.'
    case 404:
      return 'There is no team of this name in which you have a role.'
    case 429:
      return 'Too many logins from here. Try again in a few seconds.'
    default:
      return faultText(fault)
  }
}
