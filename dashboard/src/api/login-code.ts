import { createClient } from '../../../clients/typescript/src/client.ts'
import { BASE, requestHeaders } from './client.ts'
import { team } from './team.ts'

/**
 * What the address of the first page says of a login: the code of a link that logs in once, or why a login at a provider
 * did not succeed. It does not stay there, nor in the history of the browser.
 */
function takeFromAddress(): { readonly code: string | null; readonly trouble: string | null } {
  const { pathname, search, hash } = window.location
  // Servers, proxies and their logs never see what stands behind `#`.
  const code = new URLSearchParams(hash.slice(1)).get('code')
  const trouble = new URLSearchParams(search).get('login')
  if (pathname !== new URL('.', document.baseURI).pathname) return { code: null, trouble: null }
  if (code !== null || trouble !== null) window.history.replaceState(null, '', pathname)
  return { code, trouble }
}

const taken = takeFromAddress()
let { code } = taken

/** Why the login that led here did not succeed, in a word of the API; null = none did not. */
export const LOGIN_TROUBLE = taken.trouble

export function hasLoginCode(): boolean {
  return code !== null
}

/** Opens a session by the code, which is used up by this. */
export async function openByCode(): Promise<void> {
  const headers = { ...requestHeaders(''), 'x-punctual-code': code ?? '' }
  code = null
  await createClient({ server: BASE, headers, retriesMax: 0 }).openSession()
  // Of somebody who was here before.
  team.set('')
}
