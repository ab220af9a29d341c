const TEXTS: ReadonlyMap<string, string> = new Map([
  ['late', 'The login took too long, or began in another browser. Try again.'],
  ['refused', 'The provider refused the login; the log of Punctual says why.'],
  ['team', 'You are in several teams. Name one, and log in again.'],
  ['role', 'You have no role in this team. Ask somebody who administers it.'],
  ['away', 'The login cannot be checked now. Try again in a moment.'],
  ['often', 'Too many logins. Try again in a few minutes.'],
])

/** Why a login at a provider did not succeed. What the address says is looked up, never shown. */
export function troubleText(trouble: string | null): string | null {
  return trouble === null ? null : (TEXTS.get(trouble) ?? 'The login did not succeed. Try again.')
}
