import { at } from '../../app/paths.ts'

const KEY = 'punctual.way-back'

/** Where one is now, for when one comes back from the provider. */
export function keepWayBack(): void {
  try {
    sessionStorage.setItem(KEY, window.location.pathname + window.location.search)
  } catch {
    // Without storage, the overview comes first.
  }
}

/** Where one was before; null where that is not known, or one has gone elsewhere since. */
export function takeWayBack(): string | null {
  try {
    const way = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return window.location.pathname === at('/') && way?.startsWith(at('/')) === true ? way : null
  } catch {
    return null
  }
}
