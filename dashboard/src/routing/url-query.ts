import { useLocation } from 'preact-iso'

export interface UrlQuery {
  /** Absent and empty ones are not there. */
  readonly values: Readonly<Record<string, string>>
  /** null and '' take a value out. A place in a list does not outlive a change of its filter. */
  set(changes: Readonly<Record<string, string | null>>): void
  /** Takes out all but those named. */
  clear(kept?: readonly string[]): void
}

/** Filters and the like, kept in the address, so that a link shows the same. */
export function useUrlQuery(): UrlQuery {
  const { query, path, route } = useLocation()
  const values = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
  const go = (next: Readonly<Record<string, string | null>>): void => {
    const given = Object.entries(next).filter(
      (one): one is [string, string] => one[1] !== null && one[1] !== '',
    )
    const search = new URLSearchParams(given)
    // Replaced, so that Back leaves the list and does not walk through its filters.
    route(search.size === 0 ? path : `${path}?${search.toString()}`, true)
  }
  return {
    values,
    set: (changes) => go({ ...values, ...changes }),
    clear: (kept = []) =>
      go(Object.fromEntries(Object.entries(values).filter(([name]) => kept.includes(name)))),
  }
}
