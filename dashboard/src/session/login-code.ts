import { createClient, type LoginOffer, type PunctualClient } from '../../../clients/typescript/src/client.ts'
import { BASE, enterTeam, requestHeaders } from './client.ts'
import { isLoggedOut } from '../format/faults.ts'

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

const listeners = new Set<() => void>()
// A link that is opened where the dashboard is open already changes nothing but what stands behind `#`.
window.addEventListener('hashchange', () => {
  const { code: next } = takeFromAddress()
  if (next === null) return
  code = next
  for (const listener of listeners) listener()
})

/** @returns stops the calls of `listener` when a further link is opened on this page */
export function onLoginCode(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Forgets the code: it stays unused. */
export function dropLoginCode(): void {
  code = null
}

/** For whom the code would log in. */
export async function readOffer(): Promise<LoginOffer> {
  try {
    return await clientOfCode().readLoginCode()
  } catch (fault) {
    if (isLoggedOut(fault)) code = null
    throw fault
  }
}

function clientOfCode(): PunctualClient {
  const headers = { ...requestHeaders(''), 'x-punctual-code': code ?? '' }
  return createClient({ server: BASE, headers, retriesMax: 0 })
}

/** Why the login that led here did not succeed, in a word of the API; null = none did not. */
export const LOGIN_TROUBLE = taken.trouble

export function hasLoginCode(): boolean {
  return code !== null
}

let isEntered = false

/** Whether a link has logged in on this page, which says then who that is; true once. */
export function takeEntered(): boolean {
  const was = isEntered
  isEntered = false
  return was
}

/** Opens a session by the code. It is kept for another try, unless it opens nothing any more. */
export async function openByCode(): Promise<void> {
  try {
    const session = await clientOfCode().openSession()
    // It replaces the session of whoever used this browser before.
    enterTeam(session.team === null ? session.opened_for : '')
    isEntered = true
    code = null
  } catch (fault) {
    if (isLoggedOut(fault)) code = null
    throw fault
  }
}
