const BASE_PATH = new URL('.', document.baseURI).pathname.replace(/\/$/, '')

/** A path of the dashboard, below the path that it is served under. @param path begins with a slash */
export function at(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value))
  }
  return `${BASE_PATH}${path}${search.size === 0 ? '' : `?${search.toString()}`}`
}
