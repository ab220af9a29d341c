import { at } from './paths.ts'

const KEY = 'punctual.way-back'

/** Remembers the page before the browser goes to the provider. */
export function keepWayBack(): void {
  try {
    sessionStorage.setItem(KEY, window.location.pathname + window.location.search)
  } catch {
    // Without storage, the overview comes first.
  }
}

/** The remembered page; null when there is none, or when the browser has gone elsewhere since. */
export function takeWayBack(): string | null {
  try {
    const way = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return window.location.pathname === at('/') && way?.startsWith(at('/')) === true ? way : null
  } catch {
    return null
  }
}
