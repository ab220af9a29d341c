import { createClient } from '../../../clients/typescript/src/client.ts'
import { BASE, requestHeaders } from './client.ts'

/** The code of a link that logs in once; it does not stay in the address, nor in the history of the browser. */
function takeCode(): string | null {
  const { pathname, search } = window.location
  if (pathname !== new URL('.', document.baseURI).pathname) return null
  const code = new URLSearchParams(search).get('code')
  if (code !== null) window.history.replaceState(null, '', pathname)
  return code
}

let code = takeCode()

export function hasLoginCode(): boolean {
  return code !== null
}

/** Opens a session by the code, which is used up by this. */
export async function openByCode(): Promise<void> {
  const headers = { ...requestHeaders(''), 'x-punctual-code': code ?? '' }
  code = null
  await createClient({ server: BASE, headers, retriesMax: 0 }).openSession()
}
